/* ---
action: site_days
version: 1.0.0
step: aggregate
description: What each site took on each day.
inputs:
  gifts: {site_id: bigint, taken_at: timestamp, outcome: string, volume_ml: int}
output: {primary_key: [site_id, day], event_time: day}
columns:
  site_id: {description: site at which it was taken, references: ods.sites.site_id}
  day: {description: day on which it was taken}
  visits: {description: how many donors came on the day, synonyms: [visitors, donor visits]}
  completed: {description: gifts of the day that were complete, synonyms: [complete gifts]}
  volume_ml: {description: what was taken on the day, synonyms: [daily volume], unit: ml}
--- */
SELECT
  site_id,
  DATE_TRUNC('DAY', taken_at) AS day,
  COUNT(*) AS visits,
  COUNT_IF(outcome = 'OK') AS completed,
  COALESCE(SUM(volume_ml), 0) AS volume_ml
FROM gifts
GROUP BY site_id, DATE_TRUNC('DAY', taken_at)
