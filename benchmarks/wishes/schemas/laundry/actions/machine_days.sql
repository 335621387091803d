/* ---
action: machine_days
version: 1.0.0
step: aggregate
description: What each machine did on each day.
inputs:
  loads: {machine_id: bigint, started_at: timestamp, weight_kg: double, minutes: int, result: string}
output: {primary_key: [machine_id, day], event_time: day}
columns:
  machine_id: {description: machine that ran, references: ods.machines.machine_id}
  day: {description: day on which the loads began}
  loads: {description: loads of the day, synonyms: [runs, cycles]}
  washed_kg: {description: weight of all loads of the day, synonyms: [daily weight], unit: kg}
  busy_minutes: {description: minutes in which it ran on the day, synonyms: [busy time, minutes in use], unit: minutes}
  rewashed: {description: loads of the day that had to be washed again, synonyms: [rewashes]}
--- */
SELECT
  machine_id,
  DATE_TRUNC('DAY', started_at) AS day,
  COUNT(*) AS loads,
  SUM(weight_kg) AS washed_kg,
  SUM(minutes) AS busy_minutes,
  COUNT_IF(result = 'RW') AS rewashed
FROM loads
GROUP BY machine_id, DATE_TRUNC('DAY', started_at)
