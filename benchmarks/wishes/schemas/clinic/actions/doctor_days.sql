/* ---
action: doctor_days
version: 1.0.0
step: aggregate
description: How many patients each doctor saw on each day, and for how long.
inputs:
  visits: {doctor_id: bigint, starts_at: timestamp, minutes: int}
output: {primary_key: [doctor_id, day], event_time: day}
columns:
  doctor_id: {references: ods.doctors.doctor_id}
  day: {description: day of the visits}
  visits: {description: visits on that day, synonyms: [daily visits]}
  busy_minutes: {description: time spent with patients, synonyms: [busy time, workload], unit: minutes}
--- */
SELECT
  doctor_id,
  DATE_TRUNC('DAY', starts_at) AS day,
  COUNT(*) AS visits,
  SUM(minutes) AS busy_minutes
FROM visits
GROUP BY doctor_id, DATE_TRUNC('DAY', starts_at)
