/* ---
action: revenue_by_store_hour
version: 1.0.0
step: aggregate                     # dwd → dws
description: What each store sold in each hour (UTC).
inputs:
  sales: {store_id: bigint, sales_cents: bigint, discount_cents: bigint, quantity: bigint, sold_at: timestamp}
output: {primary_key: [store_id, sold_hour], event_time: sold_hour}
columns:
  sold_hour: {description: "begin of the hour, in UTC", synonyms: [hour]}
  revenue_cents: {description: what the stores receive, synonyms: [revenue, sales, turnover], unit: cents}
  discount_cents: {description: all discounts together, synonyms: [discount, savings], unit: cents}
  units: {description: how many pieces were sold, synonyms: [units sold, pieces, volume], unit: pieces}
  lines: {description: how many lines of receipts it is the sum of, synonyms: [number of lines], unit: lines}
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
  units_sold: {sql: SUM(units), unit: pieces, description: how many pieces were sold, synonyms: [pieces, volume]}
dimensions:
  store: {column: store_id, description: where it was sold, synonyms: [shop, branch]}
  time: {column: sold_hour, description: when it was sold, hierarchy: [year, month, week, day, hour]}
expect:
  revenue_is_not_negative: {check: revenue_cents >= 0, on_violation: warn}
examples:
  - given:
      sales:
        - {store_id: 1, sales_cents: 100, discount_cents: 10, quantity: 1, sold_at: "2017-01-01 11:53:26"}
        - {store_id: 1, sales_cents: 250, discount_cents: 0, quantity: 3, sold_at: "2017-01-01 11:00:00"}
        - {store_id: 1, sales_cents: 5, discount_cents: 0, quantity: 1, sold_at: "2017-01-01 12:00:00"}
        - {store_id: 2, sales_cents: 7, discount_cents: 1, quantity: 1, sold_at: "2017-01-01 11:59:59"}
    expect:
      - {store_id: 1, sold_hour: "2017-01-01 11:00:00", revenue_cents: 350, discount_cents: 10, units: 4, lines: 2}
      - {store_id: 1, sold_hour: "2017-01-01 12:00:00", revenue_cents: 5, discount_cents: 0, units: 1, lines: 1}
      - {store_id: 2, sold_hour: "2017-01-01 11:00:00", revenue_cents: 7, discount_cents: 1, units: 1, lines: 1}
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
