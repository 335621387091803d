/* ---
action: clean_transactions
version: 1.0.0
step: clean                         # ods → dwd
description: Drop lines without a key, express money in whole cents, name the time of sale.
synonyms: [purchases, receipt lines, line items]
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
columns:
  quantity: {description: pieces of the product on this line, synonyms: [pieces, amount of pieces], unit: pieces}
  sales_cents:
    description: what the store receives for the line
    synonyms: [sales, turnover, price paid]
    unit: cents
  retail_discount_cents:
    description: discount for holders of the loyalty card
    synonyms: [loyalty discount]
    unit: cents
  coupon_discount_cents: {description: discount by a coupon of the maker, synonyms: [coupon discount], unit: cents}
  coupon_match_cents:
    description: what the store adds to the coupon of a maker
    synonyms: [coupon match]
    unit: cents
  discount_cents: {description: all discounts of the line together, synonyms: [savings], unit: cents}
  shelf_cents:
    description: "what the line costs without loyalty card and coupons"
    synonyms: [shelf price, list price]
    unit: cents
  sold_at: {description: "when the basket was paid, in UTC", synonyms: [sale time, purchase time]}
measures:
  revenue:
    sql: SUM(sales_cents) / 100
    unit: USD
    description: what the stores receive
    synonyms: [turnover, income, sales, takings]
  discount:
    sql: SUM(discount_cents) / 100
    unit: USD
    description: all that was given away
    synonyms: [discounts, savings]
  shelf_value:
    sql: SUM(shelf_cents) / 100
    unit: USD
    description: revenue as it were without discounts
    synonyms: [gross sales, list value]
  units:
    sql: SUM(quantity)
    unit: pieces
    description: how many pieces were sold
    synonyms: [units sold, pieces, volume]
  line_count: {sql: COUNT(*), description: how many lines the receipts have, synonyms: [number of lines]}
  baskets:
    sql: COUNT(DISTINCT basket_id)
    description: how many baskets were paid
    synonyms: [orders, receipts, shopping trips, number of baskets]
  households:
    sql: COUNT(DISTINCT household_id)
    description: how many households bought something
    synonyms: [customers, shoppers, number of households]
  basket_value:
    sql: SUM(sales_cents) / 100 / COUNT(DISTINCT basket_id)
    unit: USD
    description: revenue of a basket on average
    synonyms: [average basket, average ticket]
dimensions:
  store: {column: store_id, description: where it was sold, synonyms: [shop, branch]}
  household: {column: household_id, description: who bought it, synonyms: [customer, shopper]}
  product: {column: product_id, description: what was sold, synonyms: [item, article]}
  time: {column: sold_at, description: when it was sold, hierarchy: [year, month, week, day, hour]}
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
