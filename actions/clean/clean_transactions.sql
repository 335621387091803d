/* ---
action: clean_transactions
version: 1.0.0
step: clean                         # ods → dwd
description: Drop lines without a key, express money in whole cents, name the time of sale.
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
examples:
  # 1.13 is a little less than 1.13 as a double: cents are rounded, not cut off.
  - given:
      lines:
        - {household_id: 900, store_id: 330, basket_id: 1, product_id: 2, quantity: 2, sales_value: 1.13,
           retail_disc: 0.29, coupon_disc: 0.55, coupon_match_disc: 0.45, transaction_timestamp: "2017-01-01 11:53:26"}
        - {household_id: 900, store_id: 330, basket_id: 1, quantity: 1, sales_value: 9.99,
           retail_disc: 0.0, coupon_disc: 0.0, coupon_match_disc: 0.0, transaction_timestamp: "2017-01-01 11:53:26"}
    expect:
      - {household_id: 900, store_id: 330, basket_id: 1, product_id: 2, quantity: 2, sales_cents: 113,
         retail_discount_cents: 29, coupon_discount_cents: 55, coupon_match_cents: 45, discount_cents: 129,
         shelf_cents: 187, sold_at: "2017-01-01 11:53:26"}
  - given:
      lines:
        - {household_id: 900, store_id: 330, basket_id: 1, product_id: 2, quantity: 0, sales_value: 0.0,
           retail_disc: 0.0, coupon_disc: 1.0, coupon_match_disc: 0.0, transaction_timestamp: "2017-01-01 11:53:26"}
    params: {min_quantity: 1}
    expect: []
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
