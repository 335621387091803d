/* ---
action: shipped_orders
version: 1.0.0
step: clean
description: Orders that left the shop, with how long that took.
synonyms: [shipped order, delivery]
inputs:
  orders: {order_no: bigint, client_no: bigint, product: string, ordered_at: timestamp, promised_on: date, shipped_at: timestamp, net_price_eur: double, is_rush: boolean}
output: {primary_key: [order_no], event_time: shipped_at}
columns:
  order_no: {references: ods.orders.order_no}
  client_no: {description: who ordered; empty for a walk-in, references: ods.clients.client_no}
  shipped_at: {description: when it left the shop, synonyms: [shipped, delivered]}
  lead_hours: {description: hours from the order until it left, synonyms: [lead time, turnaround time, turnaround], unit: hours}
  was_late: {description: whether it left after the promised day, synonyms: [late, delayed, overdue]}
measures:
  shipped_orders: {sql: COUNT(*), description: number of orders that left, synonyms: [deliveries]}
  average_lead_time: {sql: AVG(lead_hours), unit: hours, description: mean time until an order left, synonyms: [average turnaround, mean lead time]}
dimensions:
  shipped_at: [quarter, month, week, day, hour]
--- */
SELECT
  order_no,
  client_no,
  product,
  is_rush,
  net_price_eur,
  shipped_at,
  CAST(UNIX_TIMESTAMP(shipped_at) - UNIX_TIMESTAMP(ordered_at) AS DOUBLE) / 3600 AS lead_hours,
  CAST(shipped_at AS DATE) > promised_on AS was_late
FROM orders
WHERE shipped_at IS NOT NULL
