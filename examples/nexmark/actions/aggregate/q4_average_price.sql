/* ---
action: q4_average_price
version: 1.0.0
step: aggregate                     # dwd → dws
description: Nexmark q4. The average of the winning bids of each category; q9 says which bids win.
inputs:
  winning: {category: bigint, price: bigint}
output: {primary_key: [category]}
--- */
SELECT category, AVG(price) AS final
FROM winning
GROUP BY category
