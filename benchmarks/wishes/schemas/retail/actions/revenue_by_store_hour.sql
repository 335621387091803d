/* ---
action: revenue_by_store_hour
version: 1.0.0
step: aggregate                     # dwd → dws
description: What each store sold in each hour (UTC).
columns:
  sold_hour: {description: begin of the hour, synonyms: [hour]}
  revenue_cents: {description: what the store received in the hour, synonyms: [hourly revenue], unit: cents}
  discount_cents: {description: discounts of the hour, unit: cents}
  units: {description: pieces sold}
  lines: {description: receipt lines}
measures:
  revenue: {sql: SUM(revenue_cents) / 100, unit: USD, synonyms: [sales, turnover]}
inputs:
  sales: {store_id: bigint, sales_cents: bigint, discount_cents: bigint, quantity: bigint, sold_at: timestamp}
output: {primary_key: [store_id, sold_hour], event_time: sold_hour}
expect:
  revenue_is_not_negative: {check: revenue_cents >= 0, on_violation: warn}
--- */
SELECT
  store_id,
  DATE_TRUNC('HOUR', sold_at) AS sold_hour,
  SUM(sales_cents) AS revenue_cents,
  SUM(discount_cents) AS discount_cents,
  SUM(quantity) AS units,
  COUNT(*) AS lines
FROM sales
GROUP BY store_id, DATE_TRUNC('HOUR', sold_at)
