/* ---
action: ingest_orders
step: ingest                      # source -> ods
description: Keep every order line as it arrived.
inputs:
  lines: {order_id: bigint, product: string, quantity: int, price: "decimal(10,2)", ordered_at: timestamp}
--- */
SELECT order_id, product, quantity, price, ordered_at
FROM lines
