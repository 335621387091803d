/* ---
action: ingest_purchases
step: ingest                      # source -> ods
description: Each purchase as it arrived.
inputs:
  purchases: {order_id: bigint, visitor_id: bigint, amount_cents: bigint, bought_at: timestamp}
--- */
SELECT order_id, visitor_id, amount_cents, bought_at
FROM purchases
