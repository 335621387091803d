/* ---
action: room_months
version: 1.0.0
step: aggregate
description: How often each room was taken in each month of arrival, and what it earned.
inputs:
  stays: {room_no: string, check_in: date, nights: int, price_cents: bigint}
output: {primary_key: [room_no, month], event_time: month}
columns:
  room_no: {references: ods.rooms.room_no}
  month: {description: month of arrival}
  stays: {description: stays that began in the month, synonyms: [monthly stays]}
  nights: {description: nights of these stays, synonyms: [monthly nights], unit: nights}
  revenue_cents: {description: what the room earned, synonyms: [monthly revenue], unit: cents}
--- */
SELECT
  room_no,
  DATE_TRUNC('MONTH', check_in) AS month,
  COUNT(*) AS stays,
  SUM(nights) AS nights,
  SUM(price_cents) AS revenue_cents
FROM stays
GROUP BY room_no, DATE_TRUNC('MONTH', check_in)
