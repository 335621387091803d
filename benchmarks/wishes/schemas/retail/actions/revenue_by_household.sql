/* ---
action: revenue_by_household
version: 1.0.0
step: aggregate                     # dwd → dws
description: What each household has bought so far, and between which times.
columns:
  household_id: {references: ods.households.household_id}
  revenue_cents: {description: what the household spent so far, synonyms: [lifetime spend, spending so far], unit: cents}
  discount_cents: {description: discounts so far, unit: cents}
  first_sold_at: {description: first purchase, synonyms: [first seen]}
  last_sold_at: {description: latest purchase, synonyms: [last seen, last purchase]}
inputs:
  sales: {household_id: bigint, sales_cents: bigint, discount_cents: bigint, sold_at: timestamp}
output: {primary_key: [household_id]}
expect:
  first_is_not_after_last: {check: first_sold_at <= last_sold_at, on_violation: warn}
--- */
SELECT
  household_id,
  SUM(sales_cents) AS revenue_cents,
  SUM(discount_cents) AS discount_cents,
  COUNT(*) AS lines,
  MIN(sold_at) AS first_sold_at,
  MAX(sold_at) AS last_sold_at
FROM sales
GROUP BY household_id
