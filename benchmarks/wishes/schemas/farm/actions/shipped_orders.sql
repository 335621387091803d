/* ---
action: shipped_orders
version: 1.0.0
step: clean
description: Orders that left the cold store, with the days by which they were late; a sale counts on the day of shipping.
synonyms: [sale, shipment, shipped order]
inputs:
  orders:
    order_id: bigint
    buyer_id: bigint
    product_code: string
    ordered_at: timestamp
    ship_by: date
    shipped_at: timestamp
    kg: bigint
    price_cents: bigint
    status: string
    route: string
output: {primary_key: [order_id], event_time: shipped_at}
columns:
  order_id: {references: ods.orders.order_id}
  days_late: {description: days between the promised and the real day of shipping; 0 when it left in time, synonyms: [delay, lateness], unit: days}
  is_late: {description: whether it left after the promised day, synonyms: [late, delayed]}
measures:
  revenue: {sql: SUM(price_cents) / 100, unit: EUR, description: what buyers pay for shipped goods, synonyms: [sales, turnover, income, proceeds]}
  sold_kg: {sql: SUM(kg), unit: kg, description: weight of shipped goods, synonyms: [kilos sold, weight sold, sold weight, quantity sold]}
  late_rate: {sql: COUNT(*) FILTER (WHERE is_late) * 100.0 / COUNT(*), unit: percent, description: share of shipped orders that left late, synonyms: [late share]}
dimensions:
  shipped_at: [month, week, day]
--- */
SELECT
  order_id,
  buyer_id,
  product_code,
  ordered_at,
  ship_by,
  shipped_at,
  kg,
  price_cents,
  route,
  GREATEST(DATEDIFF(CAST(shipped_at AS DATE), ship_by), 0) AS days_late,
  CAST(shipped_at AS DATE) > ship_by AS is_late
FROM orders
WHERE status = 'S'
