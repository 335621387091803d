/* ---
action: clean_orders
step: clean                       # ods -> dwd
description: Drop returns and lines without a price, express money in whole cents.
inputs:
  orders: {order_id: bigint, product: string, quantity: int, price: "decimal(10,2)", ordered_at: timestamp}
params:
  min_quantity: {type: int, default: 1, description: lines with fewer pieces are dropped}
output: {event_time: ordered_at}
measures:                         # what `streamhouse ask` computes for these words
  revenue: {sql: SUM(amount_cents) / 100, unit: USD, synonyms: [sales, turnover]}
  pieces: {sql: SUM(quantity), synonyms: [items, quantity sold]}
examples:
  - given:
      orders:
        - {order_id: 1, product: tea, quantity: 2, price: 3.50, ordered_at: "2026-01-05 08:12:00"}
        - {order_id: 2, product: tea, quantity: -1, price: 3.50, ordered_at: "2026-01-05 08:13:00"}
        - {order_id: 3, product: tea, quantity: 1, ordered_at: "2026-01-05 08:14:00"}
    expect:
      - {order_id: 1, product: tea, quantity: 2, amount_cents: 700, ordered_at: "2026-01-05 08:12:00"}
--- */
SELECT order_id, product, quantity, CAST(quantity * price * 100 AS BIGINT) AS amount_cents, ordered_at
FROM orders
WHERE quantity >= :min_quantity AND price IS NOT NULL
