/* ---
action: revenue_by_household
version: 1.0.0
step: aggregate                     # dwd → dws
description: What each household has bought so far, and between which times.
inputs:
  sales: {household_id: bigint, sales_cents: bigint, discount_cents: bigint, sold_at: timestamp}
output: {primary_key: [household_id]}
columns:
  revenue_cents: {description: what the stores receive, synonyms: [revenue, sales, turnover], unit: cents}
  discount_cents: {description: all discounts together, synonyms: [discount, savings], unit: cents}
  lines: {description: how many lines of receipts it is the sum of, synonyms: [number of lines], unit: lines}
  first_sold_at: {description: "time of the first sale, in UTC", synonyms: [first purchase, first sale]}
  last_sold_at: {description: "time of the last sale so far, in UTC", synonyms: [last purchase, latest sale]}
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
  households: {sql: COUNT(*), description: how many households bought something, synonyms: [customers, shoppers]}
  revenue_per_household:
    sql: AVG(revenue_cents) / 100
    unit: USD
    description: what a household brought on average
    synonyms: [average revenue per household, customer value]
dimensions:
  household: {column: household_id, description: who bought it, synonyms: [customer, shopper]}
expect:
  first_is_not_after_last: {check: first_sold_at <= last_sold_at, on_violation: warn}
examples:
  - given:
      sales:
        - {household_id: 1, sales_cents: 100, discount_cents: 10, sold_at: "2017-01-01 11:53:26"}
        - {household_id: 1, sales_cents: 250, discount_cents: 0, sold_at: "2017-03-01 08:00:00"}
        - {household_id: 2, sales_cents: 7, discount_cents: 1, sold_at: "2017-01-02 00:00:00"}
    expect:
      - {household_id: 1, revenue_cents: 350, discount_cents: 10, lines: 2,
         first_sold_at: "2017-01-01 11:53:26", last_sold_at: "2017-03-01 08:00:00"}
      - {household_id: 2, revenue_cents: 7, discount_cents: 1, lines: 1,
         first_sold_at: "2017-01-02 00:00:00", last_sold_at: "2017-01-02 00:00:00"}
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
