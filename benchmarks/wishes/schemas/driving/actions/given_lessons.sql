/* ---
action: given_lessons
version: 1.0.0
step: clean
description: Lessons that took place, with the branch of the instructor.
synonyms: [driven lesson, completed lesson]
inputs:
  lessons:
    lesson_id: bigint
    learner_id: bigint
    instructor_id: bigint
    plate: string
    starts_at: timestamp
    minutes: int
    kind: string
    status: string
    fee_cents: bigint
  instructors: {instructor_id: bigint, branch_code: string}
output: {primary_key: [lesson_id], event_time: starts_at}
columns:
  lesson_id: {references: ods.lessons.lesson_id}
  learner_id: {references: ods.learners.learner_id}
  instructor_id: {references: ods.instructors.instructor_id}
  branch_code: {description: branch that gave the lesson, references: ods.branches.branch_code}
  starts_at: {description: when the lesson began, synonyms: [start, began]}
  minutes: {description: length of the lesson, unit: minutes}
  fee_cents: {description: what the lesson cost the learner, unit: cents}
measures:
  lessons_given: {sql: COUNT(*), description: number of lessons that took place, synonyms: [lessons driven, completed lessons]}
  hours_driven: {sql: SUM(minutes) / 60, unit: hours, description: hours of lessons that took place, synonyms: [driving hours]}
  lesson_revenue: {sql: SUM(fee_cents) / 100, unit: EUR, description: fees of the lessons that took place, synonyms: [revenue, turnover]}
dimensions:
  starts_at: [month, week, day, hour]
--- */
SELECT
  lessons.lesson_id,
  lessons.learner_id,
  lessons.instructor_id,
  instructors.branch_code,
  lessons.plate,
  lessons.starts_at,
  lessons.minutes,
  lessons.kind,
  lessons.fee_cents
FROM lessons
JOIN instructors ON instructors.instructor_id = lessons.instructor_id
WHERE lessons.status = 'D'
