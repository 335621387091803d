/* ---
action: revenue_by_department
version: 1.0.0
step: aggregate                     # dwd → dws
description: What each department has sold so far; products that nobody described count as UNKNOWN.
inputs:
  sales: {product_id: bigint, sales_cents: bigint, discount_cents: bigint, quantity: bigint}
  products: {product_id: bigint, department: string}
output: {primary_key: [department]}
columns:
  department:
    description: "department of the products, UNKNOWN where nobody described the product"
    synonyms: [section, division]
  revenue_cents: {description: what the stores receive, synonyms: [revenue, sales, turnover], unit: cents}
  discount_cents: {description: all discounts together, synonyms: [discount, savings], unit: cents}
  units: {description: how many pieces were sold, synonyms: [units sold, pieces, volume], unit: pieces}
  lines: {description: how many lines of receipts it is the sum of, synonyms: [number of lines], unit: lines}
measures:
  revenue:
    sql: SUM(revenue_cents) / 100
    unit: USD
    description: what the stores receive
    synonyms: [turnover, sales, income]
  discount:
    sql: SUM(discount_cents) / 100
    unit: USD
    description: all that was given away
    synonyms: [discounts, savings]
  units_sold: {sql: SUM(units), unit: pieces, description: how many pieces were sold, synonyms: [pieces, volume]}
dimensions:
  department: {description: the department of a product, synonyms: [section, division]}
expect:
  revenue_is_not_negative: {check: revenue_cents >= 0, on_violation: warn}
examples:
  - given:
      sales:
        - {product_id: 1, sales_cents: 100, discount_cents: 10, quantity: 1}
        - {product_id: 2, sales_cents: 250, discount_cents: 0, quantity: 3}
        - {product_id: 3, sales_cents: 7, discount_cents: 1, quantity: 1}
        - {product_id: 4, sales_cents: 1, discount_cents: 0, quantity: 1}
      products:
        - {product_id: 1, department: GROCERY}
        - {product_id: 2, department: GROCERY}
        - {product_id: 3}
    expect:
      - {department: GROCERY, revenue_cents: 350, discount_cents: 10, units: 4, lines: 2}
      - {department: UNKNOWN, revenue_cents: 8, discount_cents: 1, units: 2, lines: 2}
--- */
SELECT
  COALESCE(products.department, 'UNKNOWN') AS department,
  SUM(sales.sales_cents) AS revenue_cents,
  SUM(sales.discount_cents) AS discount_cents,
  SUM(sales.quantity) AS units,
  COUNT(*) AS lines
FROM sales
LEFT JOIN products ON products.product_id = sales.product_id
GROUP BY COALESCE(products.department, 'UNKNOWN')
