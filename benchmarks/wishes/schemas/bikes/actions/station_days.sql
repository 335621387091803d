/* ---
action: station_days
version: 1.0.0
step: aggregate
description: What left each station on each day.
inputs:
  rides: {start_station: string, started_at: timestamp, fare_cents: bigint}
output: {primary_key: [start_station, day], event_time: day}
columns:
  start_station: {references: ods.stations.station_id}
  day: {description: day on which the rides began}
  departures: {description: rides that began there, synonyms: [departing rides, bikes taken]}
  revenue_cents: {description: fares of these rides, unit: cents}
--- */
SELECT
  start_station,
  DATE_TRUNC('DAY', started_at) AS day,
  COUNT(*) AS departures,
  SUM(fare_cents) AS revenue_cents
FROM rides
GROUP BY start_station, DATE_TRUNC('DAY', started_at)
