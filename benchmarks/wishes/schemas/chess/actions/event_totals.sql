/* ---
action: event_totals
version: 1.0.0
step: aggregate
description: How many players each tournament drew and what they paid.
inputs:
  entries: {event_id: bigint, fee_paid_eur: double, withdrew: boolean}
output: {primary_key: [event_id]}
columns:
  event_id: {description: tournament, references: ods.events.event_id}
  entered: {description: players that entered, synonyms: [number of entrants, entrants]}
  withdrawn: {description: players that pulled out, synonyms: [withdrawals]}
  fees_eur: {description: fees that the tournament took, synonyms: [total fees], unit: EUR}
--- */
SELECT
  event_id,
  COUNT(*) AS entered,
  COUNT_IF(withdrew) AS withdrawn,
  SUM(fee_paid_eur) AS fees_eur
FROM entries
GROUP BY event_id
