/* ---
action: attributed
step: clean                       # ods -> dwd
description: Each purchase with the first campaign of its visitor, if the touch was before it.
inputs:
  purchases: {order_id: bigint, visitor_id: bigint, amount_cents: bigint, bought_at: timestamp}
  touches: {visitor_id: bigint, campaign: string, touched_at: timestamp}
output: {primary_key: [order_id], event_time: bought_at}
examples:
  - given:
      purchases:
        - {order_id: 1, visitor_id: 1, amount_cents: 500, bought_at: "2026-01-03 10:00:00"}
        - {order_id: 2, visitor_id: 2, amount_cents: 700, bought_at: "2026-01-03 10:00:00"}
      touches:
        - {visitor_id: 1, campaign: search, touched_at: "2026-01-01 10:00:00"}
    expect:
      - {order_id: 1, campaign: search, amount_cents: 500, bought_at: "2026-01-03 10:00:00"}
      - {order_id: 2, campaign: none, amount_cents: 700, bought_at: "2026-01-03 10:00:00"}
--- */
SELECT
  purchases.order_id,
  CASE WHEN touches.touched_at <= purchases.bought_at THEN touches.campaign ELSE 'none' END AS campaign,
  purchases.amount_cents,
  purchases.bought_at
FROM purchases
LEFT JOIN touches ON touches.visitor_id = purchases.visitor_id
