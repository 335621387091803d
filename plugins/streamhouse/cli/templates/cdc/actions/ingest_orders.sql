/* ---
action: ingest_orders
step: ingest                      # source -> ods
description: The orders as the database has them.
inputs:
  events: {order_id: bigint, customer_id: bigint, amount_cents: bigint, state: string}
output: {primary_key: [order_id]}
--- */
SELECT order_id, customer_id, amount_cents, state
FROM events
