/* ---
action: revenue_by_campaign
step: aggregate                   # dwd -> dws
description: Purchases and revenue of each campaign.
inputs:
  purchases: {campaign: string, amount_cents: bigint}
output: {primary_key: [campaign]}
examples:
  - given:
      purchases:
        - {campaign: search, amount_cents: 500}
        - {campaign: search, amount_cents: 250}
    expect:
      - {campaign: search, purchases: 2, revenue_cents: 750}
--- */
SELECT campaign, COUNT(*) AS purchases, SUM(amount_cents) AS revenue_cents
FROM purchases
GROUP BY campaign
