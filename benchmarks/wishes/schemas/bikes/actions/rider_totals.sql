/* ---
action: rider_totals
version: 1.0.0
step: aggregate
description: What each registered rider has done so far.
inputs:
  rides: {rider_id: bigint, fare_cents: bigint, distance_m: bigint, started_at: timestamp}
output: {primary_key: [rider_id]}
columns:
  rider_id: {references: ods.riders.rider_id}
  rides: {description: how many rides so far, synonyms: [lifetime rides]}
  paid_cents: {description: what the rider has paid so far, synonyms: [lifetime spend], unit: cents}
  distance_m: {description: how far the rider has ridden so far, synonyms: [total distance], unit: m}
  last_ride_at: {description: when the last ride began, synonyms: [last seen]}
--- */
SELECT
  rider_id,
  COUNT(*) AS rides,
  SUM(fare_cents) AS paid_cents,
  SUM(distance_m) AS distance_m,
  MAX(started_at) AS last_ride_at
FROM rides
WHERE rider_id IS NOT NULL
GROUP BY rider_id
