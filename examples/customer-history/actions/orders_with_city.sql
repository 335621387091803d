/* ---
action: orders_with_city
step: clean
description: Each order with the city that its customer had then; NULL where the customer is not known at that time.
inputs:
  orders: {order_id: bigint, customer_id: int, cents: bigint, ordered_at: timestamp}
  history: {customer_id: int, city: string, valid_from: timestamp, valid_to: timestamp}
output: {primary_key: [order_id]}
examples:
  - given:
      orders:
        - {order_id: 1, customer_id: 7, cents: 500, ordered_at: "2026-03-02 09:00:00"}
        - {order_id: 2, customer_id: 7, cents: 700, ordered_at: "2026-03-03 12:00:00"}
        - {order_id: 3, customer_id: 8, cents: 100, ordered_at: "2026-03-03 12:00:00"}
      history:
        - {customer_id: 7, city: Lyon, valid_from: "2026-03-01 00:00:00", valid_to: "2026-03-03 12:00:00"}
        - {customer_id: 7, city: Metz, valid_from: "2026-03-03 12:00:00"}
    expect:
      - {order_id: 1, city: Lyon, cents: 500, day: "2026-03-02"}
      - {order_id: 2, city: Metz, cents: 700, day: "2026-03-03"}
      - {order_id: 3, city: null, cents: 100, day: "2026-03-03"}
--- */
SELECT o.order_id, h.city, o.cents, CAST(o.ordered_at AS DATE) AS day
FROM orders o LEFT JOIN history h
  ON h.customer_id = o.customer_id AND o.ordered_at >= h.valid_from
 AND (h.valid_to IS NULL OR o.ordered_at < h.valid_to)
