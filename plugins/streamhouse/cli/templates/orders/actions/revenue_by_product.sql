/* ---
action: revenue_by_product
step: aggregate                   # dwd -> dws
description: Order lines, pieces and revenue of each product.
inputs:
  orders: {product: string, quantity: int, amount_cents: bigint}
output: {primary_key: [product]}
examples:
  - given:
      orders:
        - {product: tea, quantity: 2, amount_cents: 700}
        - {product: tea, quantity: 1, amount_cents: 350}
        - {product: cups, quantity: 4, amount_cents: 2000}
    expect:
      - {product: tea, order_lines: 2, pieces: 3, revenue_cents: 1050}
      - {product: cups, order_lines: 1, pieces: 4, revenue_cents: 2000}
--- */
SELECT product, COUNT(*) AS order_lines, SUM(quantity) AS pieces, SUM(amount_cents) AS revenue_cents
FROM orders
GROUP BY product
