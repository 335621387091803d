/* ---
action: take_events
version: 1.0.0
step: ingest
description: Take every event as it comes.
inputs:
  events: {event_id: bigint, customer_id: bigint, product: string, quantity: bigint, price: double, sold_at: timestamp}
--- */
SELECT event_id, customer_id, product, quantity, price, sold_at
FROM events
