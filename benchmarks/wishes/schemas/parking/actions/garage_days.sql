/* ---
action: garage_days
version: 1.0.0
step: aggregate
description: How busy each garage was on each day of entry.
inputs:
  visits: {garage_code: string, entered_at: timestamp, minutes: double}
output: {primary_key: [garage_code, day], event_time: day}
columns:
  garage_code: {references: ods.garages.garage_code}
  day: {description: day of entry}
  visits: {description: visits that began on the day, synonyms: [daily visits]}
  minutes: {description: minutes of these visits together, synonyms: [daily parking minutes], unit: min}
--- */
SELECT
  garage_code,
  DATE_TRUNC('DAY', entered_at) AS day,
  COUNT(*) AS visits,
  SUM(minutes) AS minutes
FROM visits
GROUP BY garage_code, DATE_TRUNC('DAY', entered_at)
