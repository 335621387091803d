/* ---
action: departed_sailings
version: 1.0.0
step: clean
description: Sailings that really left, with how late each was.
synonyms: [departed sailing]
inputs:
  sailings: {sailing_no: bigint, route_code: string, ship_id: string, departs_at: timestamp, left_at: timestamp, captain: string}
output: {primary_key: [sailing_no], event_time: departs_at}
columns:
  sailing_no: {references: ods.sailings.sailing_no}
  route_code: {description: route that it sailed, references: ods.routes.route_code}
  ship_id: {description: ship that sailed, references: ods.ships.ship_id}
  departs_at: {description: departure by the timetable, synonyms: [planned departure, scheduled departure]}
  delay_minutes: {description: how many minutes after the timetable it left, synonyms: [delay, lateness], unit: minutes}
  captain: {description: name of the captain, synonyms: [skipper, master]}
measures:
  average_delay: {sql: AVG(delay_minutes), unit: minutes, description: mean delay at departure, synonyms: [mean delay, average lateness]}
  longest_delay: {sql: MAX(delay_minutes), unit: minutes, description: longest delay at departure, synonyms: [worst delay]}
dimensions:
  departs_at: [year, quarter, month, week, day, hour]
--- */
SELECT
  sailing_no,
  route_code,
  ship_id,
  departs_at,
  CAST(UNIX_TIMESTAMP(left_at) - UNIX_TIMESTAMP(departs_at) AS DOUBLE) / 60 AS delay_minutes,
  captain
FROM sailings
WHERE left_at IS NOT NULL
