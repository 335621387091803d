/* ---
action: visits
version: 1.0.0
step: clean
description: Parkings that have ended, with how long the vehicle stood; a visit counts on the day of entry.
synonyms: [visit, finished parking, completed parking]
inputs:
  parkings:
    parking_id: bigint
    garage_code: string
    customer_id: bigint
    vehicle: string
    tariff_code: string
    entry_method: string
    entered_at: timestamp
    left_at: timestamp
output: {primary_key: [parking_id], event_time: entered_at}
columns:
  parking_id: {references: ods.parkings.parking_id}
  minutes: {description: minutes from entry to exit, synonyms: [parking time, dwell time, length of stay, duration], unit: min}
  is_overnight: {description: whether the vehicle was still there after midnight, synonyms: [overnight, stayed the night]}
measures:
  visits: {sql: COUNT(*), description: number of visits}
  average_stay: {sql: AVG(minutes), unit: min, description: mean parking time, synonyms: [average parking time, average dwell time, average duration]}
  parked_hours: {sql: SUM(minutes) / 60, unit: h, description: hours that vehicles stood in all, synonyms: [hours parked]}
dimensions:
  entered_at: [month, week, day, hour]
--- */
SELECT
  parking_id,
  garage_code,
  customer_id,
  vehicle,
  tariff_code,
  entry_method,
  entered_at,
  left_at,
  (UNIX_TIMESTAMP(left_at) - UNIX_TIMESTAMP(entered_at)) / 60 AS minutes,
  CAST(left_at AS DATE) > CAST(entered_at AS DATE) AS is_overnight
FROM parkings
WHERE left_at IS NOT NULL
