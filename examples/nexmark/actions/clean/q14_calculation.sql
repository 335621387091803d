/* ---
action: q14_calculation
version: 1.0.0
step: clean                         # ods → dwd
description: Nexmark q14. Bids within two prices, with the time of the day in words and how often a letter occurs.
inputs:
  bid: {auction: bigint, bidder: bigint, price: bigint, dateTime: timestamp, extra: string}
--- */
SELECT
  auction,
  bidder,
  0.908 * price AS price,
  CASE
    WHEN HOUR(dateTime) BETWEEN 8 AND 18 THEN 'dayTime'
    WHEN HOUR(dateTime) <= 6 OR HOUR(dateTime) >= 20 THEN 'nightTime'
    ELSE 'otherTime'
  END AS bid_time_type,
  dateTime,
  extra,
  LENGTH(extra) - LENGTH(REPLACE(extra, 'c', '')) AS c_counts
FROM bid
WHERE 0.908 * price > 1000000 AND 0.908 * price < 50000000
