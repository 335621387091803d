/* ---
action: q22_directories
version: 1.0.0
step: clean                         # ods → dwd
description: Nexmark q22. Bids with the three directories of their address.
inputs:
  bid: {auction: bigint, bidder: bigint, price: bigint, channel: string, url: string}
--- */
SELECT
  auction, bidder, price, channel,
  SPLIT_PART(url, '/', 4) AS dir1,
  SPLIT_PART(url, '/', 5) AS dir2,
  SPLIT_PART(url, '/', 6) AS dir3
FROM bid
