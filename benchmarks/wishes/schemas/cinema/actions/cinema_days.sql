/* ---
action: cinema_days
version: 1.0.0
step: aggregate
description: Visitors and ticket money of each cinema and day.
inputs:
  admissions: {cinema_code: string, starts_at: timestamp, price_cents: bigint}
output: {primary_key: [cinema_code, day], event_time: day}
columns:
  cinema_code: {references: ods.cinemas.cinema_code}
  day: {description: day of the shows}
  visitors: {description: people who came}
  box_office_cents: {description: what they paid for their tickets, unit: cents}
--- */
SELECT
  cinema_code,
  DATE_TRUNC('DAY', starts_at) AS day,
  COUNT(*) AS visitors,
  SUM(price_cents) AS box_office_cents
FROM admissions
GROUP BY cinema_code, DATE_TRUNC('DAY', starts_at)
