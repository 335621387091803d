/* ---
action: discount_alerts
version: 1.0.0
step: customize                     # dws → ads
description: Baskets of some size of which an unusual share was given away as discount, at once.
synonyms: [discount alarms, unusual discounts, suspicious baskets]
inputs:
  baskets:
    basket_id: bigint
    household_id: bigint
    store_id: bigint
    sold_at: timestamp
    revenue_cents: bigint
    discount_cents: bigint
    shelf_cents: bigint
    lines: bigint
params:
  min_share: {type: "decimal(4,3)", default: 0.6, description: smallest share of the shelf price that was given away}
  min_shelf_cents: {type: bigint, default: 2000, description: baskets worth less than this are no matter}
output: {primary_key: [basket_id], event_time: sold_at}
columns:
  discount_share:
    description: "part of the shelf price that was given away, 0 to 1"
    synonyms: [discount rate, share of discount]
    unit: ratio
measures:
  alerts: {sql: COUNT(*), description: how many baskets stand out, synonyms: [number of alerts, unusual baskets]}
dimensions:
  store: {column: store_id, description: where it was sold, synonyms: [shop, branch]}
  household: {column: household_id, description: who bought it, synonyms: [customer, shopper]}
  time: {column: sold_at, description: when it was sold, hierarchy: [year, month, week, day, hour]}
expect:
  share_is_positive: {check: discount_share > 0, on_violation: warn}
examples:
  - given:
      baskets:
        - {basket_id: 1, household_id: 9, store_id: 3, sold_at: "2017-01-01 11:53:26", revenue_cents: 800,
           discount_cents: 1200, shelf_cents: 2000, lines: 4}
        - {basket_id: 2, household_id: 9, store_id: 3, sold_at: "2017-01-02 11:53:26", revenue_cents: 801,
           discount_cents: 1199, shelf_cents: 2000, lines: 4}
        - {basket_id: 3, household_id: 9, store_id: 3, sold_at: "2017-01-03 11:53:26", revenue_cents: 100,
           discount_cents: 900, shelf_cents: 1000, lines: 1}
    expect:
      - {basket_id: 1, household_id: 9, store_id: 3, sold_at: "2017-01-01 11:53:26", revenue_cents: 800,
         discount_cents: 1200, shelf_cents: 2000, lines: 4, discount_share: 0.6}
--- */
SELECT
  basket_id,
  household_id,
  store_id,
  sold_at,
  revenue_cents,
  discount_cents,
  shelf_cents,
  lines,
  ROUND(discount_cents / shelf_cents, 4) AS discount_share
FROM baskets
WHERE shelf_cents > 0
  AND shelf_cents >= :min_shelf_cents
  AND discount_cents >= :min_share * shelf_cents
