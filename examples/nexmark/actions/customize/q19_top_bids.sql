/* ---
action: q19_top_bids
version: 1.0.0
step: customize                     # dws → ads
description: Nexmark q19. The ten highest bids on each auction.
inputs:
  bid: {auction: bigint, bidder: bigint, price: bigint, channel: string, url: string, dateTime: timestamp,
    extra: string}
output: {primary_key: [auction, rank_number]}
--- */
SELECT
  auction, bidder, price, channel, url, dateTime, extra,
  ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price DESC, dateTime) AS rank_number
FROM bid
QUALIFY rank_number <= 10
