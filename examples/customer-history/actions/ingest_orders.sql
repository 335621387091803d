/* ---
action: ingest_orders
step: ingest
description: Orders as the shop exports them.
inputs: {orders: {order_id: bigint, customer_id: int, cents: bigint, ordered_at: timestamp}}
--- */
SELECT order_id, customer_id, cents, ordered_at FROM orders
