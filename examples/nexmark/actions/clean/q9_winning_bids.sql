/* ---
action: q9_winning_bids
version: 1.0.0
step: clean                         # ods → dwd
description: Nexmark q9. The winning bid of each auction, which is the highest one, of equal ones the first, from its beginning to its end.
inputs:
  auction: {id: bigint, itemName: string, description: string, initialBid: bigint, reserve: bigint,
    dateTime: timestamp, expires: timestamp, seller: bigint, category: bigint, extra: string}
  bid: {auction: bigint, bidder: bigint, price: bigint, dateTime: timestamp, extra: string}
output: {primary_key: [id], event_time: dateTime}
--- */
SELECT
  a.id, a.itemName, a.description, a.initialBid, a.reserve, a.dateTime, a.expires, a.seller, a.category, a.extra,
  b.bidder, b.price, b.dateTime AS bid_time, b.extra AS bid_extra
FROM auction AS a
JOIN bid AS b ON b.auction = a.id
WHERE b.dateTime BETWEEN a.dateTime AND a.expires
QUALIFY ROW_NUMBER() OVER (PARTITION BY a.id ORDER BY b.price DESC, b.dateTime) = 1
