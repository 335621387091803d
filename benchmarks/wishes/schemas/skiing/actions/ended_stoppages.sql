/* ---
action: ended_stoppages
version: 1.0.0
step: clean
description: Stoppages after which the lift ran again, with how long it stood still.
synonyms: [downtime, ended stoppage]
inputs:
  stoppages: {stop_id: bigint, lift_id: bigint, stopped_at: timestamp, restarted_at: timestamp, cause: string}
output: {primary_key: [stop_id], event_time: stopped_at}
columns:
  stop_id: {references: ods.stoppages.stop_id}
  lift_id: {description: lift that stood still, references: ods.lifts.lift_id}
  stopped_at: {description: when the lift stopped, synonyms: [stopped]}
  minutes: {description: how long the lift stood still, synonyms: [length, duration, standstill], unit: minutes}
measures:
  downtime_minutes: {sql: SUM(minutes), unit: minutes, description: minutes that lifts stood still, synonyms: [downtime, time lost]}
dimensions:
  stopped_at: [month, week, day, hour]
--- */
SELECT
  stop_id,
  lift_id,
  stopped_at,
  CAST(UNIX_TIMESTAMP(restarted_at) - UNIX_TIMESTAMP(stopped_at) AS DOUBLE) / 60 AS minutes,
  cause
FROM stoppages
WHERE restarted_at IS NOT NULL
