/* ---
action: sensor_days
version: 1.0.0
step: aggregate
description: Lowest, highest and number of values of each sensor on each day.
inputs:
  readings: {sensor_id: bigint, machine_id: string, read_at: timestamp, value: double, out_of_limits: boolean}
output: {primary_key: [sensor_id, day], event_time: day}
columns:
  sensor_id: {references: ods.sensors.sensor_id}
  day: {description: day of the readings}
  lowest: {description: lowest value of the day, synonyms: [daily minimum]}
  highest: {description: highest value of the day, synonyms: [daily maximum, peak]}
  readings: {description: good readings of that day}
  alarms: {description: readings out of limits on that day}
--- */
SELECT
  sensor_id,
  DATE_TRUNC('DAY', read_at) AS day,
  MIN(value) AS lowest,
  MAX(value) AS highest,
  COUNT(*) AS readings,
  SUM(CASE WHEN out_of_limits THEN 1 ELSE 0 END) AS alarms
FROM readings
GROUP BY sensor_id, DATE_TRUNC('DAY', read_at)
