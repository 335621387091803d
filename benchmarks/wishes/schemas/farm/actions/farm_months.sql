/* ---
action: farm_months
version: 1.0.0
step: aggregate
description: What each farm brought in each month, and what we owe it for that.
inputs:
  intakes: {farm_no: string, received_at: timestamp, kg: bigint, pay_cents: bigint}
output: {primary_key: [farm_no, month], event_time: month}
columns:
  farm_no: {references: ods.farms.farm_no}
  month: {description: month of the intake}
  intakes: {description: intakes in the month, synonyms: [monthly intakes]}
  kg: {description: weight brought in the month, synonyms: [monthly weight], unit: kg}
  pay_cents: {description: what the farm gets for the month, synonyms: [monthly pay], unit: cents}
--- */
SELECT
  farm_no,
  DATE_TRUNC('MONTH', received_at) AS month,
  COUNT(*) AS intakes,
  SUM(kg) AS kg,
  SUM(pay_cents) AS pay_cents
FROM intakes
GROUP BY farm_no, DATE_TRUNC('MONTH', received_at)
