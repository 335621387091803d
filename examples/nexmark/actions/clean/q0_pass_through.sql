/* ---
action: q0_pass_through
version: 1.0.0
step: clean                         # ods → dwd
description: Nexmark q0. Bids as they are; measures the overhead.
inputs:
  bid: {auction: bigint, bidder: bigint, price: bigint, dateTime: timestamp, extra: string}
--- */
SELECT auction, bidder, price, dateTime, extra
FROM bid
