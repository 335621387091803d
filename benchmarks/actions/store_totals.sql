/* ---
action: store_totals
version: 1.0.0
step: aggregate
description: The sums of each of 500 stores.
inputs:
  sales: {event_id: bigint, store_id: bigint, quantity: bigint, cents: bigint}
output: {primary_key: [store_id]}
--- */
SELECT
  store_id,
  SUM(cents) AS cents,
  SUM(quantity) AS units,
  COUNT(*) AS lines,
  MAX(event_id) AS last_event_id
FROM sales
GROUP BY store_id
