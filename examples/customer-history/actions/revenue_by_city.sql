/* ---
action: revenue_by_city
step: aggregate
description: Orders and revenue of each city and day.
inputs: {orders: {city: string, cents: bigint, day: date}}
output: {primary_key: [city, day]}
examples:
  - given:
      orders:
        - {city: Lyon, cents: 500, day: "2026-03-02"}
        - {city: Lyon, cents: 200, day: "2026-03-02"}
        - {city: null, cents: 100, day: "2026-03-02"}
    expect:
      - {city: Lyon, day: "2026-03-02", orders: 2, cents: 700}
      - {city: unknown, day: "2026-03-02", orders: 1, cents: 100}
--- */
SELECT COALESCE(city, 'unknown') AS city, day, COUNT(*) AS orders, SUM(cents) AS cents
FROM orders
GROUP BY COALESCE(city, 'unknown'), day
