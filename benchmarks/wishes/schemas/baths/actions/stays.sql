/* ---
action: stays
version: 1.0.0
step: clean
description: Visits of which the end is known, with how long the person stayed.
synonyms: [stay]
inputs:
  visits: {visit_no: bigint, pool_code: string, ticket: string, entered_at: timestamp, left_at: timestamp}
output: {primary_key: [visit_no], event_time: entered_at}
columns:
  visit_no: {references: ods.visits.visit_no}
  pool_code: {description: pool that was visited, references: ods.pools.pool_code}
  ticket: {description: how the person got in, synonyms: [ticket type]}
  entered_at: {description: when the person went in}
  stay_minutes: {description: how long the person stayed, synonyms: [length of stay, stay], unit: minutes}
dimensions:
  entered_at: [month, week, day, hour]
--- */
SELECT
  visit_no,
  pool_code,
  ticket,
  entered_at,
  CAST(UNIX_TIMESTAMP(left_at) - UNIX_TIMESTAMP(entered_at) AS DOUBLE) / 60 AS stay_minutes
FROM visits
WHERE left_at IS NOT NULL
