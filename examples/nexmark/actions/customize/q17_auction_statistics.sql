/* ---
action: q17_auction_statistics
version: 1.0.0
step: customize                     # dws → ads
description: Nexmark q17, second half. The sums with the average price.
inputs:
  sums: {auction: bigint, day: string, total_bids: bigint, rank1_bids: bigint, rank2_bids: bigint,
    rank3_bids: bigint, min_price: bigint, max_price: bigint, sum_price: bigint}
output: {primary_key: [auction, day]}
--- */
SELECT
  auction, day, total_bids, rank1_bids, rank2_bids, rank3_bids, min_price, max_price,
  sum_price / total_bids AS avg_price,
  sum_price
FROM sums
