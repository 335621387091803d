/* ---
action: group_spread
version: 1.0.0
step: aggregate
description: How the amounts of a group's items spread. Rows are replaced, so no sum will do; strategy recompute.
inputs:
  items: {group_id: bigint, item_id: bigint, amount: bigint}
output: {primary_key: [group_id]}
--- */
SELECT group_id, COUNT(DISTINCT amount) AS amounts, MIN(amount) AS least, MAX(amount) AS most
FROM items
GROUP BY group_id
