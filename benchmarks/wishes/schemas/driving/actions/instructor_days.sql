/* ---
action: instructor_days
version: 1.0.0
step: aggregate
description: Lessons and minutes of each instructor and day.
inputs:
  given: {instructor_id: bigint, starts_at: timestamp, minutes: int}
output: {primary_key: [instructor_id, day], event_time: day}
columns:
  instructor_id: {references: ods.instructors.instructor_id}
  day: {description: day of the lessons}
  lessons: {description: lessons that took place}
  minutes: {description: how long they were together, unit: minutes}
--- */
SELECT
  instructor_id,
  DATE_TRUNC('DAY', starts_at) AS day,
  COUNT(*) AS lessons,
  SUM(minutes) AS minutes
FROM given
GROUP BY instructor_id, DATE_TRUNC('DAY', starts_at)
