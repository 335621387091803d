/* ---
action: orders_by_city
step: aggregate                   # dwd -> dws
description: Orders of each city, and what is paid of them.
inputs:
  orders: {city: string, amount_cents: bigint, is_paid: boolean}
output: {primary_key: [city]}
examples:
  - given:
      orders:
        - {city: Lyon, amount_cents: 900, is_paid: true}
        - {city: Lyon, amount_cents: 50, is_paid: false}
    expect:
      - {city: Lyon, orders: 2, paid_cents: 900, open_cents: 50}
--- */
SELECT
  city,
  COUNT(*) AS orders,
  SUM(CASE WHEN is_paid THEN amount_cents ELSE 0 END) AS paid_cents,
  SUM(CASE WHEN is_paid THEN 0 ELSE amount_cents END) AS open_cents
FROM orders
GROUP BY city
