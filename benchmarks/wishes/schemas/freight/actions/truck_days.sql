/* ---
action: truck_days
version: 1.0.0
step: aggregate
description: What each truck drove on each day of departure.
inputs:
  legs: {truck_no: string, departed_at: timestamp, km: bigint}
output: {primary_key: [truck_no, day], event_time: day}
columns:
  truck_no: {references: ods.trucks.truck_no}
  day: {description: day of departure}
  legs: {description: legs that began on the day, synonyms: [daily legs]}
  km: {description: kilometres of these legs, synonyms: [daily mileage, daily distance], unit: km}
--- */
SELECT
  truck_no,
  DATE_TRUNC('DAY', departed_at) AS day,
  COUNT(*) AS legs,
  SUM(km) AS km
FROM legs
GROUP BY truck_no, DATE_TRUNC('DAY', departed_at)
