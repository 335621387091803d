/* ---
action: q17_auction_sums
version: 1.0.0
step: aggregate                     # dwd → dws
description: Nexmark q17, first half. Bids on each auction and day; everything here adds up, so a store can keep it.
inputs:
  bid: {auction: bigint, price: bigint, dateTime: timestamp}
output: {primary_key: [auction, day]}
--- */
SELECT
  auction,
  DATE_FORMAT(dateTime, 'yyyy-MM-dd') AS day,
  COUNT(*) AS total_bids,
  COUNT(*) FILTER (WHERE price < 10000) AS rank1_bids,
  COUNT(*) FILTER (WHERE price >= 10000 AND price < 1000000) AS rank2_bids,
  COUNT(*) FILTER (WHERE price >= 1000000) AS rank3_bids,
  MIN(price) AS min_price,
  MAX(price) AS max_price,
  SUM(price) AS sum_price
FROM bid
GROUP BY auction, DATE_FORMAT(dateTime, 'yyyy-MM-dd')
