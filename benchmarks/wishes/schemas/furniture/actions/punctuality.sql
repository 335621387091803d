/* ---
action: punctuality
version: 1.0.0
step: clean
description: Deliveries with the day that was agreed, and whether the crew came too late.
synonyms: [punctual delivery]
inputs:
  deliveries: {delivery_no: bigint, order_no: bigint, crew: string, arrived_at: timestamp}
  orders: {order_no: bigint, ordered_at: timestamp, wanted_on: date}
output: {primary_key: [delivery_no], event_time: arrived_at}
columns:
  delivery_no: {references: ods.deliveries.delivery_no}
  order_no: {description: order that was brought, references: ods.orders.order_no}
  crew: {description: team in the lorry, synonyms: [team]}
  arrived_at: {description: when the crew arrived}
  waiting_days: {description: days from the order to the delivery, synonyms: [delivery time, waiting time, lead time], unit: days}
  too_late: {description: whether the crew came after the agreed day, synonyms: [late, delayed]}
dimensions:
  arrived_at: [quarter, month, week, day]
--- */
SELECT
  deliveries.delivery_no,
  deliveries.order_no,
  deliveries.crew,
  deliveries.arrived_at,
  CAST(UNIX_TIMESTAMP(deliveries.arrived_at) - UNIX_TIMESTAMP(orders.ordered_at) AS DOUBLE) / 86400 AS waiting_days,
  CAST(deliveries.arrived_at AS DATE) > orders.wanted_on AS too_late
FROM deliveries
JOIN orders ON orders.order_no = deliveries.order_no
