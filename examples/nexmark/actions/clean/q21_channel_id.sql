/* ---
action: q21_channel_id
version: 1.0.0
step: clean                         # ods → dwd
description: Nexmark q21. Bids with the number of their channel; bids without one are dropped.
inputs:
  bid: {auction: bigint, bidder: bigint, price: bigint, channel: string, url: string}
--- */
SELECT
  auction, bidder, price, channel,
  CASE LOWER(channel)
    WHEN 'apple' THEN '0'
    WHEN 'google' THEN '1'
    WHEN 'facebook' THEN '2'
    WHEN 'baidu' THEN '3'
    ELSE REGEXP_EXTRACT(url, '(&|^)channel_id=([^&]*)', 2)
  END AS channel_id
FROM bid
WHERE REGEXP_EXTRACT(url, '(&|^)channel_id=([^&]*)', 2) <> ''
  OR LOWER(channel) IN ('apple', 'google', 'facebook', 'baidu')
