/* ---
action: line_days
version: 1.0.0
step: aggregate
description: What each line made on each day.
inputs:
  production: {line: string, begun_at: timestamp, made_units: bigint, scrapped_units: bigint, run_minutes: bigint}
output: {primary_key: [line, day], event_time: day}
columns:
  day: {description: day on which the orders began}
  made_units: {description: pieces made on that day, synonyms: [daily output], unit: pieces}
  scrapped_units: {description: pieces thrown away, unit: pieces}
  run_minutes: {description: run time of all its machines together, unit: minutes}
  orders: {description: orders that ended}
--- */
SELECT
  line,
  DATE_TRUNC('DAY', begun_at) AS day,
  SUM(made_units) AS made_units,
  SUM(scrapped_units) AS scrapped_units,
  SUM(run_minutes) AS run_minutes,
  COUNT(*) AS orders
FROM production
GROUP BY line, DATE_TRUNC('DAY', begun_at)
