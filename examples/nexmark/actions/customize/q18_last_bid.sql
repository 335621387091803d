/* ---
action: q18_last_bid
version: 1.0.0
step: customize                     # dws → ads
description: Nexmark q18. The last bid of each user on each auction.
inputs:
  bid: {auction: bigint, bidder: bigint, price: bigint, channel: string, url: string, dateTime: timestamp,
    extra: string}
output: {primary_key: [bidder, auction], event_time: dateTime}
--- */
SELECT auction, bidder, price, channel, url, dateTime, extra
FROM bid
QUALIFY ROW_NUMBER() OVER (PARTITION BY bidder, auction ORDER BY dateTime DESC) = 1
