/* ---
action: basket_totals
version: 1.0.0
step: aggregate                     # dwd → dws
description: The sums of each basket. A basket belongs to one household, store and time.
synonyms: [baskets, receipts, orders, shopping trips]
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
columns:
  household_id: {description: who bought the basket, synonyms: [household, customer, shopper]}
  store_id: {description: the store that sold the basket, synonyms: [store, shop, branch]}
  sold_at: {description: "when the basket was paid, in UTC", synonyms: [sale time, purchase time]}
  revenue_cents: {description: what the store receives for the basket, synonyms: [basket value, sales], unit: cents}
  discount_cents: {description: all discounts of the basket together, synonyms: [savings], unit: cents}
  shelf_cents:
    description: "what the basket costs without loyalty card and coupons"
    synonyms: [shelf price, list price]
    unit: cents
  lines: {description: how many lines its receipt has, synonyms: [basket size, number of lines], unit: lines}
measures:
  revenue:
    sql: SUM(revenue_cents) / 100
    unit: USD
    description: what the stores receive
    synonyms: [turnover, income, sales]
  discount:
    sql: SUM(discount_cents) / 100
    unit: USD
    description: all that was given away
    synonyms: [discounts, savings]
  baskets: {sql: COUNT(*), description: how many baskets were paid, synonyms: [orders, receipts, shopping trips]}
  average_basket:
    sql: AVG(revenue_cents) / 100
    unit: USD
    description: revenue of a basket on average
    synonyms: [average basket value, average ticket]
  households:
    sql: COUNT(DISTINCT household_id)
    description: how many households bought something
    synonyms: [customers, shoppers]
dimensions:
  store: {column: store_id, description: where it was sold, synonyms: [shop, branch]}
  household: {column: household_id, description: who bought it, synonyms: [customer, shopper]}
  time: {column: sold_at, description: when it was sold, hierarchy: [year, month, week, day, hour]}
expect:
  revenue_is_not_negative: {check: revenue_cents >= 0, on_violation: warn}
examples:
  - given:
      sales:
        - {basket_id: 1, household_id: 9, store_id: 3, sales_cents: 100, discount_cents: 10, shelf_cents: 110,
           sold_at: "2017-01-01 11:53:26"}
        - {basket_id: 1, household_id: 9, store_id: 3, sales_cents: 50, discount_cents: 50, shelf_cents: 100,
           sold_at: "2017-01-01 11:53:26"}
        - {basket_id: 2, household_id: 9, store_id: 4, sales_cents: 7, discount_cents: 0, shelf_cents: 7,
           sold_at: "2017-01-02 00:00:00"}
    expect:
      - {basket_id: 1, household_id: 9, store_id: 3, sold_at: "2017-01-01 11:53:26", revenue_cents: 150,
         discount_cents: 60, shelf_cents: 210, lines: 2}
      - {basket_id: 2, household_id: 9, store_id: 4, sold_at: "2017-01-02 00:00:00", revenue_cents: 7,
         discount_cents: 0, shelf_cents: 7, lines: 1}
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
