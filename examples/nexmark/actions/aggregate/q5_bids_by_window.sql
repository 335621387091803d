/* ---
action: q5_bids_by_window
version: 1.0.0
step: aggregate                     # dwd → dws
description: Nexmark q5, first half. How many bids each auction has in ten seconds, every two seconds.
inputs:
  bid: {auction: bigint, dateTime: timestamp}
output: {primary_key: [starttime, auction], event_time: starttime}
--- */
SELECT
  WINDOW(dateTime, '10 seconds', '2 seconds').start AS starttime,
  auction,
  COUNT(*) AS num
FROM bid
GROUP BY WINDOW(dateTime, '10 seconds', '2 seconds'), auction
