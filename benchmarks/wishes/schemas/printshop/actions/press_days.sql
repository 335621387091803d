/* ---
action: press_days
version: 1.0.0
step: aggregate
description: What each press did on each day.
inputs:
  runs: {press_id: string, started_at: timestamp, minutes: int, sheets: int, wasted_sheets: int}
output: {primary_key: [press_id, day], event_time: day}
columns:
  press_id: {description: press that ran, references: ods.presses.press_id}
  day: {description: day on which it ran}
  runs: {description: runs of the press on the day, synonyms: [daily runs]}
  busy_minutes: {description: minutes that the press ran on the day, synonyms: [busy time], unit: minutes}
  sheets: {description: good sheets of the day, synonyms: [daily sheets]}
  wasted_sheets: {description: spoilt sheets of the day, synonyms: [daily waste]}
--- */
SELECT
  press_id,
  DATE_TRUNC('DAY', started_at) AS day,
  COUNT(*) AS runs,
  SUM(minutes) AS busy_minutes,
  SUM(sheets) AS sheets,
  SUM(wasted_sheets) AS wasted_sheets
FROM runs
GROUP BY press_id, DATE_TRUNC('DAY', started_at)
