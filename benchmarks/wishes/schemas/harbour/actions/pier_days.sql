/* ---
action: pier_days
version: 1.0.0
step: aggregate
description: What each pier earned with stays that began on a day.
inputs:
  stays: {pier_code: string, arrived_at: timestamp, fee_cents: bigint}
output: {primary_key: [pier_code, day], event_time: day}
columns:
  pier_code: {references: ods.piers.pier_code}
  day: {description: day on which the boats came in}
  boats_in: {description: boats that came in that day and have left since}
  income_cents: {description: fees of these stays, unit: cents}
--- */
SELECT
  pier_code,
  DATE_TRUNC('DAY', arrived_at) AS day,
  COUNT(*) AS boats_in,
  SUM(fee_cents) AS income_cents
FROM stays
GROUP BY pier_code, DATE_TRUNC('DAY', arrived_at)
