/* ---
action: q1_currency
version: 1.0.0
step: clean                         # ods → dwd
description: Nexmark q1. Prices in euros instead of dollars.
inputs:
  bid: {auction: bigint, bidder: bigint, price: bigint, dateTime: timestamp, extra: string}
--- */
SELECT auction, bidder, 0.908 * price AS price, dateTime, extra
FROM bid
