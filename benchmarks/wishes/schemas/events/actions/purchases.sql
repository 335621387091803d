/* ---
action: purchases
version: 1.0.0
step: clean
description: Purchases in the app.
synonyms: [order, sale]
inputs:
  events: {event_id: bigint, user_id: bigint, type: string, ts: timestamp, platform: string, value_cents: bigint}
output: {primary_key: [event_id], event_time: bought_at}
columns:
  user_id: {references: ods.users.user_id}
  value_cents: {unit: cents}
measures:
  revenue: {sql: SUM(value_cents) / 100, unit: USD, synonyms: [sales, income]}
--- */
SELECT
  event_id,
  user_id,
  platform,
  ts AS bought_at,
  value_cents
FROM events
WHERE type = 'buy'
