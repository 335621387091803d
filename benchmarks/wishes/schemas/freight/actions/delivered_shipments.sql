/* ---
action: delivered_shipments
version: 1.0.0
step: clean
description: Shipments that reached the receiver, with the time on the way and whether the promise was kept.
synonyms: [delivery, delivered shipment, drop-off]
inputs:
  shipments:
    shipment_id: bigint
    customer_id: bigint
    origin: string
    destination: string
    picked_up_at: timestamp
    promised_on: date
    delivered_at: timestamp
    status: string
    weight_kg: bigint
    price_cents: bigint
output: {primary_key: [shipment_id], event_time: delivered_at}
columns:
  shipment_id: {references: ods.shipments.shipment_id}
  hours: {description: hours from pickup to delivery, synonyms: [transit time, delivery time, time on the way], unit: h}
  days_late: {description: days after the promised day; 0 when it came in time, synonyms: [delay, lateness], unit: days}
  on_time: {description: whether it came by the promised day, synonyms: [in time, punctual]}
measures:
  deliveries: {sql: COUNT(*), description: number of deliveries, synonyms: [drops]}
  delivered_weight: {sql: SUM(weight_kg) / 1000, unit: t, description: weight that was delivered, synonyms: [delivered tonnage, tonnes delivered]}
  revenue: {sql: SUM(price_cents) / 100, unit: EUR, description: price of what was delivered, synonyms: [turnover, sales, income, earnings]}
  on_time_rate: {sql: COUNT(*) FILTER (WHERE on_time) * 100.0 / COUNT(*), unit: percent, description: share of deliveries that came in time, synonyms: [punctuality, on-time share]}
dimensions:
  delivered_at: [month, week, day]
--- */
SELECT
  shipment_id,
  customer_id,
  origin,
  destination,
  picked_up_at,
  promised_on,
  delivered_at,
  weight_kg,
  price_cents,
  (UNIX_TIMESTAMP(delivered_at) - UNIX_TIMESTAMP(picked_up_at)) / 3600 AS hours,
  GREATEST(DATEDIFF(CAST(delivered_at AS DATE), promised_on), 0) AS days_late,
  CAST(delivered_at AS DATE) <= promised_on AS on_time
FROM shipments
WHERE status = 'DEL'
