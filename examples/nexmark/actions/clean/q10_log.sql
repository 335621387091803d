/* ---
action: q10_log
version: 1.0.0
step: clean                         # ods → dwd
description: Nexmark q10. All bids, with the day and minute by which a file system would split them.
inputs:
  bid: {auction: bigint, bidder: bigint, price: bigint, dateTime: timestamp, extra: string}
--- */
SELECT
  auction, bidder, price, dateTime, extra,
  DATE_FORMAT(dateTime, 'yyyy-MM-dd') AS dt,
  DATE_FORMAT(dateTime, 'HH:mm') AS hm
FROM bid
