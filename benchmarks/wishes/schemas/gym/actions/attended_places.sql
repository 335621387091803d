/* ---
action: attended_places
version: 1.0.0
step: clean
description: Places in classes that a member really took, with the class.
synonyms: [attendance, class attended]
inputs:
  reservations: {reservation_id: bigint, class_id: bigint, member_no: bigint, state: string, source: string}
  classes: {class_id: bigint, title: string, kind: string, trainer_id: string, studio_id: string, starts_at: timestamp, minutes: int}
output: {primary_key: [reservation_id], event_time: starts_at}
columns:
  reservation_id: {references: ods.reservations.reservation_id}
  member_no: {references: ods.members.member_no}
  class_id: {references: ods.classes.class_id}
  trainer_id: {references: ods.trainers.trainer_id}
  studio_id: {description: studio of the class, references: ods.studios.studio_id}
  title: {description: title of the class}
  starts_at: {description: when the class began}
  minutes: {description: length of the class, unit: minutes}
measures:
  attendances: {sql: COUNT(*), description: places in classes that were taken, synonyms: [attendance, participants]}
  trained_hours: {sql: SUM(minutes) / 60, unit: hours, description: hours that members spent in classes, synonyms: [training hours]}
dimensions:
  starts_at: [month, week, day, hour]
--- */
SELECT
  reservations.reservation_id,
  reservations.member_no,
  reservations.class_id,
  reservations.source,
  classes.title,
  classes.kind,
  classes.trainer_id,
  classes.studio_id,
  classes.starts_at,
  classes.minutes
FROM reservations
JOIN classes ON classes.class_id = reservations.class_id
WHERE reservations.state = 'A'
