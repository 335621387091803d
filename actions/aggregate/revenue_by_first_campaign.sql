/* ---
action: revenue_by_first_campaign
version: 1.0.0
step: aggregate                     # dwd → dws
description: What households bought from the day on which their first campaign touched them, by that campaign.
inputs:
  sales: {household_id: bigint, sales_cents: bigint, discount_cents: bigint, sold_at: timestamp}
  touches: {household_id: bigint, campaign_id: bigint, touched_at: timestamp}
output: {primary_key: [campaign_id]}
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
dimensions:
  campaign: {column: campaign_id, description: the campaign that touched the households first}
expect:
  revenue_is_not_negative: {check: revenue_cents >= 0, on_violation: warn}
examples:
  - given:
      sales:
        - {household_id: 1, sales_cents: 100, discount_cents: 10, sold_at: "2017-03-02 23:59:59"}
        - {household_id: 1, sales_cents: 250, discount_cents: 0, sold_at: "2017-03-03 00:00:00"}
        - {household_id: 2, sales_cents: 7, discount_cents: 1, sold_at: "2017-12-01 00:00:00"}
        - {household_id: 3, sales_cents: 9, discount_cents: 1, sold_at: "2017-12-01 00:00:00"}
      touches:
        - {household_id: 1, campaign_id: 1, touched_at: "2017-03-03 00:00:00"}
        - {household_id: 2, campaign_id: 1, touched_at: "2017-03-03 00:00:00"}
    expect:
      - {campaign_id: 1, revenue_cents: 257, discount_cents: 1, lines: 2,
         first_sold_at: "2017-03-03 00:00:00", last_sold_at: "2017-12-01 00:00:00"}
--- */
SELECT
  touches.campaign_id,
  SUM(sales.sales_cents) AS revenue_cents,
  SUM(sales.discount_cents) AS discount_cents,
  COUNT(*) AS lines,
  MIN(sales.sold_at) AS first_sold_at,
  MAX(sales.sold_at) AS last_sold_at
FROM sales
JOIN touches ON touches.household_id = sales.household_id
WHERE sales.sold_at >= touches.touched_at
  AND touches.campaign_id IS NOT NULL
GROUP BY touches.campaign_id
