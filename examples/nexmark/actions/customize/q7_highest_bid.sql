/* ---
action: q7_highest_bid
version: 1.0.0
step: customize                     # dws → ads
description: Nexmark q7. The highest bids of every ten seconds; no two bids have one time.
inputs:
  bid: {auction: bigint, bidder: bigint, price: bigint, dateTime: timestamp, extra: string}
output: {primary_key: [starttime, dateTime], event_time: dateTime}
--- */
SELECT WINDOW(dateTime, '10 seconds').start AS starttime, auction, bidder, price, dateTime, extra
FROM bid
QUALIFY RANK() OVER (PARTITION BY WINDOW(dateTime, '10 seconds').start ORDER BY price DESC) = 1
