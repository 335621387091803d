/* ---
action: q2_selection
version: 1.0.0
step: clean                         # ods → dwd
description: Nexmark q2. Bids on a few auctions.
inputs:
  bid: {auction: bigint, price: bigint}
--- */
SELECT auction, price
FROM bid
WHERE MOD(auction, 123) = 0
