/* ---
action: species_days
version: 1.0.0
step: aggregate
description: What was sold of each species on each day.
inputs:
  lots: {species_code: string, auctioned_at: timestamp, weight_kg: double, amount_eur: double}
output: {primary_key: [species_code, day], event_time: day}
columns:
  species_code: {description: species that was sold, references: ods.species.species_code}
  day: {description: day of the auction}
  lots_sold: {description: lots that were sold on the day, synonyms: [sold lots]}
  kilos: {description: weight that was sold on the day, synonyms: [daily weight], unit: kg}
  turnover_eur: {description: what was paid on the day, synonyms: [daily turnover], unit: EUR}
--- */
SELECT
  species_code,
  DATE_TRUNC('DAY', auctioned_at) AS day,
  COUNT(*) AS lots_sold,
  SUM(weight_kg) AS kilos,
  SUM(amount_eur) AS turnover_eur
FROM lots
GROUP BY species_code, DATE_TRUNC('DAY', auctioned_at)
