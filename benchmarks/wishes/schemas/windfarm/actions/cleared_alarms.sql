/* ---
action: cleared_alarms
version: 1.0.0
step: clean
description: Alarms that were cleared, with how long each was open.
synonyms: [cleared alarm]
inputs:
  alarms: {alarm_no: bigint, turbine_no: string, raised_at: timestamp, cleared_at: timestamp, fault: string, severity: int}
output: {primary_key: [alarm_no], event_time: raised_at}
columns:
  alarm_no: {references: ods.alarms.alarm_no}
  turbine_no: {description: turbine that sent the alarm, references: ods.turbines.turbine_no}
  raised_at: {description: when the alarm came, synonyms: [raised]}
  open_minutes: {description: how long the alarm was open, synonyms: [time to clear, open time], unit: minutes}
measures:
  average_open_minutes: {sql: AVG(open_minutes), unit: minutes, description: mean time until an alarm was cleared, synonyms: [mean time to clear, average time to clear]}
dimensions:
  raised_at: [year, quarter, month, week, day, hour]
--- */
SELECT
  alarm_no,
  turbine_no,
  raised_at,
  CAST(UNIX_TIMESTAMP(cleared_at) - UNIX_TIMESTAMP(raised_at) AS DOUBLE) / 60 AS open_minutes,
  fault,
  severity
FROM alarms
WHERE cleared_at IS NOT NULL
