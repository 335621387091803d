/* ---
action: take_changes
version: 1.0.0
step: ingest
description: Take every change of an item as it comes.
inputs:
  changes: {group_id: bigint, item_id: bigint, amount: bigint}
--- */
SELECT group_id, item_id, amount
FROM changes
