/* ---
action: basket_totals
version: 1.0.0
step: aggregate                     # dwd → dws
description: The sums of each basket. A basket belongs to one household, store and time.
synonyms: [basket, receipt, order, shopping trip]
columns:
  basket_id: {description: number of the receipt}
  household_id: {references: ods.households.household_id}
  revenue_cents: {description: value of the basket, synonyms: [basket value, basket size, amount], unit: cents}
  discount_cents: {description: discounts of the basket, unit: cents}
  shelf_cents: {description: value without card and coupons, unit: cents}
  lines: {description: lines on the receipt, synonyms: [items in the basket]}
measures:
  average_basket: {sql: AVG(revenue_cents) / 100, unit: USD, description: mean value of a basket, synonyms: [average basket value, average order value, average ticket]}
inputs:
  sales:
    basket_id: bigint
    household_id: bigint
    store_id: bigint
    sales_cents: bigint
    discount_cents: bigint
    shelf_cents: bigint
    sold_at: timestamp
output: {primary_key: [basket_id], event_time: sold_at}
expect:
  revenue_is_not_negative: {check: revenue_cents >= 0, on_violation: warn}
--- */
SELECT
  basket_id,
  MIN(household_id) AS household_id,
  MIN(store_id) AS store_id,
  MIN(sold_at) AS sold_at,
  SUM(sales_cents) AS revenue_cents,
  SUM(discount_cents) AS discount_cents,
  SUM(shelf_cents) AS shelf_cents,
  COUNT(*) AS lines
FROM sales
GROUP BY basket_id
