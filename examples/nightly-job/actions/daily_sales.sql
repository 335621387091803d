/* ---
action: daily_sales
step: aggregate
description: Number and value of the sales of each category and day.
inputs:
  sales: {product_id: int, quantity: int, cents: bigint, sold_at: timestamp_ntz}
  products: {product_id: int, category: string}
output: {primary_key: [day, category]}
examples:
  - given:
      sales:
        - {product_id: 1, quantity: 2, cents: 350, sold_at: "2026-03-02 08:12:00"}
        - {product_id: 1, quantity: 1, cents: 350, sold_at: "2026-03-02 19:40:00"}
        - {product_id: 1, quantity: -1, cents: 350, sold_at: "2026-03-02 19:41:00"}
        - {product_id: 9, quantity: 1, cents: 100, sold_at: "2026-03-02 19:42:00"}
      products:
        - {product_id: 1, category: tea}
    expect:
      - {day: "2026-03-02", category: tea, sales: 2, cents: 1050}
--- */
SELECT CAST(s.sold_at AS DATE) AS day, p.category, COUNT(*) AS sales, SUM(s.quantity * s.cents) AS cents
FROM sales s JOIN products p ON p.product_id = s.product_id
WHERE s.quantity > 0
GROUP BY CAST(s.sold_at AS DATE), p.category
