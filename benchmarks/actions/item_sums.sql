/* ---
action: item_sums
version: 1.0.0
step: aggregate
description: The sum of each item. A log in, a table that adds up out; strategy merge.
inputs:
  changes: {item_id: bigint, amount: bigint}
output: {primary_key: [item_id]}
--- */
SELECT item_id, SUM(amount) AS amount, COUNT(*) AS changes
FROM changes
GROUP BY item_id
