/* ---
action: top_departments
version: 1.0.0
step: customize                     # dws → ads
description: The departments with the highest revenue, and their share of it all.
interval: 10s
inputs:
  revenue: {department: string, revenue_cents: bigint, discount_cents: bigint, lines: bigint}
params:
  departments: {type: int, default: 10, description: how many are shown}
output: {primary_key: [place]}
columns:
  place: {description: "place in the ranking, 1 has the highest revenue", synonyms: [rank, position]}
  revenue_share:
    description: "part of the revenue of all departments, 0 to 1"
    synonyms: [share of revenue]
    unit: ratio
dimensions:
  department: {description: the department of a product, synonyms: [section, division]}
expect:
  share_is_a_share: {check: revenue_share BETWEEN 0 AND 1, on_violation: warn}
examples:
  # Equal revenue: the name decides, so that every run gives the same order.
  - given:
      revenue:
        - {department: PRODUCE, revenue_cents: 200, discount_cents: 0, lines: 4}
        - {department: GROCERY, revenue_cents: 600, discount_cents: 60, lines: 9}
        - {department: DELI, revenue_cents: 200, discount_cents: 5, lines: 2}
    params: {departments: 2}
    expect:
      - {place: 1, department: GROCERY, revenue_cents: 600, discount_cents: 60, lines: 9, revenue_share: 0.6}
      - {place: 2, department: DELI, revenue_cents: 200, discount_cents: 5, lines: 2, revenue_share: 0.2}
--- */
WITH ranked AS (
  SELECT
    ROW_NUMBER() OVER (ORDER BY revenue_cents DESC, department) AS place,
    department,
    revenue_cents,
    discount_cents,
    lines,
    SUM(revenue_cents) OVER () AS all_revenue_cents
  FROM revenue
)

SELECT
  place,
  department,
  revenue_cents,
  discount_cents,
  lines,
  ROUND(revenue_cents / NULLIF(all_revenue_cents, 0), 4) AS revenue_share
FROM ranked
WHERE place <= :departments
