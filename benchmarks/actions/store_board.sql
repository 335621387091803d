/* ---
action: store_board
version: 1.0.0
step: customize
description: What a dashboard shows of each store.
inputs:
  totals: {store_id: bigint, cents: bigint, units: bigint, lines: bigint, last_event_id: bigint}
output: {primary_key: [store_id]}
--- */
SELECT
  store_id,
  cents,
  units,
  lines,
  CAST(cents AS DOUBLE) / lines / 100 AS mean_line,
  last_event_id
FROM totals
