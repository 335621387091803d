/* ---
action: campaign_ranking
version: 1.0.0
step: customize                     # dws → ads
description: Campaigns by what the households they touched first have bought since.
interval: 10s
inputs:
  revenue: {campaign_id: bigint, revenue_cents: bigint, lines: bigint}
  touches: {household_id: bigint, campaign_id: bigint, campaign_type: string}
output: {primary_key: [place]}
columns:
  place: {description: "place in the ranking, 1 has the highest revenue", synonyms: [rank, position]}
  campaign_type:
    description: kind of the campaign
    synonyms: [type of campaign]
    values: {Type A: [A], Type B: [B], Type C: [C]}
  households:
    description: how many households the campaign touched first
    synonyms: [customers, reach]
    unit: households
  revenue_cents: {description: what these households bought since, synonyms: [revenue, sales, turnover], unit: cents}
  revenue_per_household_cents: {description: the same per household, synonyms: [revenue per household], unit: cents}
  lines: {description: how many lines of receipts it is the sum of, synonyms: [number of lines], unit: lines}
dimensions:
  campaign: {hierarchy: [campaign_type, campaign_id], description: the campaign and its type}
expect:
  campaign_touched_someone: {check: households > 0, on_violation: warn}
examples:
  - given:
      revenue:
        - {campaign_id: 8, revenue_cents: 900, lines: 12}
        - {campaign_id: 1, revenue_cents: 100, lines: 2}
      touches:
        - {household_id: 1, campaign_id: 8, campaign_type: Type A}
        - {household_id: 2, campaign_id: 8, campaign_type: Type A}
        - {household_id: 3, campaign_id: 1, campaign_type: Type B}
        - {household_id: 4, campaign_id: 3, campaign_type: Type C}
    expect:
      - {place: 1, campaign_id: 8, campaign_type: Type A, households: 2, revenue_cents: 900,
         revenue_per_household_cents: 450, lines: 12}
      - {place: 2, campaign_id: 1, campaign_type: Type B, households: 1, revenue_cents: 100,
         revenue_per_household_cents: 100, lines: 2}
      - {place: 3, campaign_id: 3, campaign_type: Type C, households: 1, revenue_cents: 0,
         revenue_per_household_cents: 0, lines: 0}
--- */
WITH reach AS (
  SELECT
    campaign_id,
    MIN(campaign_type) AS campaign_type,
    COUNT(*) AS households
  FROM touches
  GROUP BY campaign_id
), totals AS (
  SELECT
    reach.campaign_id,
    reach.campaign_type,
    reach.households,
    COALESCE(revenue.revenue_cents, 0) AS revenue_cents,
    COALESCE(revenue.lines, 0) AS lines
  FROM reach
  LEFT JOIN revenue ON revenue.campaign_id = reach.campaign_id
)

SELECT
  ROW_NUMBER() OVER (ORDER BY revenue_cents DESC, campaign_id) AS place,
  campaign_id,
  campaign_type,
  households,
  revenue_cents,
  CAST(ROUND(revenue_cents / households) AS BIGINT) AS revenue_per_household_cents,
  lines
FROM totals
