/* ---
action: q13_side_input
version: 1.0.0
step: clean                         # ods → dwd
description: Nexmark q13. Bids with the value that a bounded side input has for them.
inputs:
  bid: {auction: bigint, bidder: bigint, price: bigint, dateTime: timestamp}
  side: {key: bigint, value: string}
--- */
SELECT bid.auction, bid.bidder, bid.price, bid.dateTime, side.value
FROM bid
JOIN side ON side.key = MOD(bid.auction, 10000)
