/* ---
action: orders_with_city
step: clean                       # ods -> dwd
description: Orders that were not cancelled, with the city of their customer as it is now.
inputs:
  orders: {order_id: bigint, customer_id: bigint, amount_cents: bigint, state: string}
  customers: {customer_id: bigint, city: string}
output: {primary_key: [order_id]}
examples:
  - given:
      orders:
        - {order_id: 1, customer_id: 7, amount_cents: 900, state: paid}
        - {order_id: 2, customer_id: 7, amount_cents: 100, state: cancelled}
        - {order_id: 3, customer_id: 8, amount_cents: 50, state: open}
      customers:
        - {customer_id: 7, city: Lyon}
    expect:
      - {order_id: 1, customer_id: 7, city: Lyon, amount_cents: 900, is_paid: true}
      - {order_id: 3, customer_id: 8, city: unknown, amount_cents: 50, is_paid: false}
--- */
SELECT
  orders.order_id,
  orders.customer_id,
  COALESCE(customers.city, 'unknown') AS city,
  orders.amount_cents,
  orders.state = 'paid' AS is_paid
FROM orders
LEFT JOIN customers ON customers.customer_id = orders.customer_id
WHERE orders.state <> 'cancelled'
