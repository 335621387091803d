/* ---
action: q6_average_by_seller
version: 1.0.0
step: customize                     # dws → ads
description: Nexmark q6, which Flink cannot run. With each winning bid, the average price of its seller's last ones - this and ten before it.
inputs:
  winning: {id: bigint, seller: bigint, price: bigint, bid_time: timestamp}
output: {primary_key: [seller, id], event_time: bid_time}
--- */
SELECT
  seller,
  id,
  bid_time,
  AVG(price) OVER (PARTITION BY seller ORDER BY bid_time, id ROWS BETWEEN 10 PRECEDING AND CURRENT ROW) AS price
FROM winning
