/* ---
action: sold_lots
version: 1.0.0
step: clean
description: Lots that were sold, with what the buyer paid.
synonyms: [sale, sold lot]
inputs:
  lots: {lot_no: bigint, landing_no: bigint, species_code: string, grade: string, weight_kg: double, auctioned_at: timestamp, lot_state: string, start_price_eur: double, price_eur: double, buyer_id: bigint}
output: {primary_key: [lot_no], event_time: auctioned_at}
columns:
  lot_no: {references: ods.lots.lot_no}
  landing_no: {description: landing from which it comes, references: ods.landings.landing_no}
  species_code: {description: what is in it, references: ods.species.species_code}
  grade: {description: freshness grade; empty if not graded, synonyms: [quality, quality grade], values: {E: [extra, extra fresh], A: [good, grade A], B: [fair, grade B]}}
  weight_kg: {description: weight of the lot, synonyms: [weight, kilos], unit: kg}
  auctioned_at: {description: when it was sold, synonyms: [sold, auctioned]}
  amount_eur: {description: what the buyer paid for the lot, synonyms: [sale amount, proceeds of the lot], unit: EUR}
  buyer_id: {description: who bought it, references: ods.buyers.buyer_id}
measures:
  turnover: {sql: SUM(amount_eur), unit: EUR, description: what all buyers paid, synonyms: [revenue, sales, proceeds]}
  kilos_sold: {sql: SUM(weight_kg), unit: kg, description: weight of the lots that were sold, synonyms: [sold weight, kilograms sold]}
  average_price: {sql: SUM(amount_eur) / SUM(weight_kg), unit: EUR, description: mean price of a kilo, synonyms: [average kilo price, mean price per kilo, price per kilo]}
dimensions:
  auctioned_at: [quarter, month, week, day, hour]
--- */
SELECT
  lot_no,
  landing_no,
  species_code,
  grade,
  weight_kg,
  auctioned_at,
  price_eur * weight_kg AS amount_eur,
  buyer_id
FROM lots
WHERE lot_state = 'SLD'
