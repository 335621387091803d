/* ---
action: guest_totals
version: 1.0.0
step: aggregate
description: Stays, nights and spending of each guest so far.
inputs:
  stays: {guest_id: bigint, check_in: date, nights: int, price_cents: bigint}
output: {primary_key: [guest_id]}
columns:
  guest_id: {references: ods.guests.guest_id}
  stays: {description: stays so far, synonyms: [lifetime stays]}
  nights: {description: nights so far, synonyms: [lifetime nights], unit: nights}
  spent_cents: {description: what the guest has spent on rooms, synonyms: [spend, spending, lifetime value], unit: cents}
  last_stay: {description: arrival of the latest stay, synonyms: [last visit, last arrival]}
--- */
SELECT
  guest_id,
  COUNT(*) AS stays,
  SUM(nights) AS nights,
  SUM(price_cents) AS spent_cents,
  MAX(check_in) AS last_stay
FROM stays
WHERE guest_id IS NOT NULL
GROUP BY guest_id
