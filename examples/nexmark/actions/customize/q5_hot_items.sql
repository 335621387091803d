/* ---
action: q5_hot_items
version: 1.0.0
step: customize                     # dws → ads
description: Nexmark q5, second half. The auctions with the most bids in each window.
inputs:
  counts: {starttime: timestamp, auction: bigint, num: bigint}
output: {primary_key: [starttime, auction], event_time: starttime}
--- */
SELECT starttime, auction, num
FROM counts
QUALIFY RANK() OVER (PARTITION BY starttime ORDER BY num DESC) = 1
