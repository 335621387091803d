/* ---
action: basket_totals
version: 1.0.0
step: aggregate                     # dwd → dws
description: The sums of each basket. A basket belongs to one household, store and time.
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
