/* ---
action: clean_transactions
version: 1.0.0
step: clean                         # ods → dwd
description: Drop lines without a key, express money in whole cents, name the time of sale.
synonyms: [sale, purchase, receipt line, order line]
columns:
  household_id: {description: who bought, synonyms: [customer, shopper], references: ods.households.household_id}
  store_id: {description: number of the store, synonyms: [shop, branch, outlet]}
  basket_id: {description: number of the receipt, synonyms: [basket, receipt, order]}
  product_id: {description: what was bought, synonyms: [item], references: ods.products.product_id}
  quantity: {description: pieces sold, synonyms: [units, pieces]}
  sales_cents: {description: what the store received for the line, synonyms: [sales amount], unit: cents}
  retail_discount_cents: {description: discount by the loyalty card, synonyms: [loyalty discount], unit: cents}
  coupon_discount_cents: {description: discount by coupons of makers, synonyms: [coupon discount], unit: cents}
  coupon_match_cents: {description: discount by which the store matched a coupon, unit: cents}
  discount_cents: {description: all discounts together, synonyms: [discount, savings], unit: cents}
  shelf_cents: {description: price without card and coupons, synonyms: [shelf price, list price], unit: cents}
  sold_at: {description: time of the sale, synonyms: [sale time]}
measures:
  revenue: {sql: SUM(sales_cents) / 100, unit: USD, description: what the stores received, synonyms: [sales, turnover, takings]}
  discount: {sql: SUM(discount_cents) / 100, unit: USD, description: all discounts given, synonyms: [savings, discounts]}
  units: {sql: SUM(quantity), description: pieces sold, synonyms: [pieces, volume, units sold]}
  baskets: {sql: COUNT(DISTINCT basket_id), description: number of receipts, synonyms: [orders, receipts, transactions]}
dimensions:
  sold_at: [month, week, day, hour]
inputs:
  lines:
    household_id: bigint
    store_id: bigint
    basket_id: bigint
    product_id: bigint
    quantity: bigint
    sales_value: double
    retail_disc: double
    coupon_disc: double
    coupon_match_disc: double
    transaction_timestamp: timestamp
params:
  min_quantity: {type: bigint, default: 0, description: lines below are dropped; at 0 lines that only carry a coupon stay}
output: {event_time: sold_at}
expect:
  sales_are_not_negative: {check: sales_cents >= 0, on_violation: warn}
  discounts_are_not_negative: {check: discount_cents >= 0, on_violation: warn}
--- */
WITH cents AS (
  SELECT
    household_id,
    store_id,
    basket_id,
    product_id,
    quantity,
    CAST(ROUND(COALESCE(sales_value, 0) * 100) AS BIGINT) AS sales_cents,
    CAST(ROUND(COALESCE(retail_disc, 0) * 100) AS BIGINT) AS retail_discount_cents,
    CAST(ROUND(COALESCE(coupon_disc, 0) * 100) AS BIGINT) AS coupon_discount_cents,
    CAST(ROUND(COALESCE(coupon_match_disc, 0) * 100) AS BIGINT) AS coupon_match_cents,
    transaction_timestamp AS sold_at
  FROM lines
  WHERE household_id IS NOT NULL
    AND store_id IS NOT NULL
    AND basket_id IS NOT NULL
    AND product_id IS NOT NULL
    AND transaction_timestamp IS NOT NULL
    AND quantity >= :min_quantity
)

SELECT
  household_id,
  store_id,
  basket_id,
  product_id,
  quantity,
  sales_cents,
  retail_discount_cents,
  coupon_discount_cents,
  coupon_match_cents,
  retail_discount_cents + coupon_discount_cents + coupon_match_cents AS discount_cents,
  -- What the line costs without loyalty card and coupons. A maker's coupon is money the store still
  -- receives, so it is part of sales_value already.
  sales_cents + retail_discount_cents + coupon_match_cents AS shelf_cents,
  sold_at
FROM cents
