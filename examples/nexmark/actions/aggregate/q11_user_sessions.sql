/* ---
action: q11_user_sessions
version: 1.0.0
step: aggregate                     # dwd → dws
description: Nexmark q11. How many bids a user makes in each session, which ends after ten seconds without one.
inputs:
  bid: {bidder: bigint, dateTime: timestamp}
output: {primary_key: [bidder, starttime], event_time: starttime}
--- */
SELECT
  bidder,
  SESSION_WINDOW(dateTime, '10 seconds').start AS starttime,
  SESSION_WINDOW(dateTime, '10 seconds').end AS endtime,
  COUNT(*) AS bid_count
FROM bid
GROUP BY bidder, SESSION_WINDOW(dateTime, '10 seconds')
