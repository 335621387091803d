/* ---
action: revenue_by_department
version: 1.0.0
step: aggregate                     # dwd → dws
description: What each department has sold so far; products that nobody described count as UNKNOWN.
columns:
  department: {description: department of the store}
  revenue_cents: {description: revenue of the department so far, unit: cents}
  units: {description: pieces sold so far}
inputs:
  sales: {product_id: bigint, sales_cents: bigint, discount_cents: bigint, quantity: bigint}
  products: {product_id: bigint, department: string}
output: {primary_key: [department]}
expect:
  revenue_is_not_negative: {check: revenue_cents >= 0, on_violation: warn}
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
