/* ---
action: q20_bids_with_auction
version: 1.0.0
step: clean                         # ods → dwd
description: Nexmark q20. Bids of category 10 with all of their auction; no two bids have one time.
inputs:
  bid: {auction: bigint, bidder: bigint, price: bigint, channel: string, url: string, dateTime: timestamp,
    extra: string}
  auction: {id: bigint, itemName: string, description: string, initialBid: bigint, reserve: bigint,
    dateTime: timestamp, expires: timestamp, seller: bigint, category: bigint, extra: string}
output: {primary_key: [auction, bid_time], event_time: bid_time}
--- */
SELECT
  b.auction, b.bidder, b.price, b.channel, b.url, b.dateTime AS bid_time, b.extra AS bid_extra,
  a.itemName, a.description, a.initialBid, a.reserve, a.dateTime, a.expires, a.seller, a.category, a.extra
FROM bid AS b
JOIN auction AS a ON a.id = b.auction
WHERE a.category = 10
