/* ---
action: clean_events
version: 1.0.0
step: clean
description: Drop events of no quantity, express money in cents, find the store.
inputs:
  events: {event_id: bigint, customer_id: bigint, product: string, quantity: bigint, price: double, sold_at: timestamp}
output: {event_time: sold_at}
--- */
SELECT
  event_id,
  customer_id % 500 AS store_id,
  product,
  quantity,
  quantity * CAST(ROUND(price * 100) AS BIGINT) AS cents,
  sold_at
FROM events
WHERE quantity > 0
