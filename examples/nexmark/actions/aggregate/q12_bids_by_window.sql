/* ---
action: q12_bids_by_window
version: 1.0.0
step: aggregate                     # dwd → dws
description: Nexmark q12. How many bids a user makes in every ten seconds. Nexmark means the time of processing; by event time the answer does not depend on when it is asked.
inputs:
  bid: {bidder: bigint, dateTime: timestamp}
output: {primary_key: [bidder, starttime], event_time: starttime}
--- */
SELECT
  bidder,
  WINDOW(dateTime, '10 seconds').start AS starttime,
  WINDOW(dateTime, '10 seconds').end AS endtime,
  COUNT(*) AS bid_count
FROM bid
GROUP BY bidder, WINDOW(dateTime, '10 seconds')
