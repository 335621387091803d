/* ---
action: returned_hires
version: 1.0.0
step: clean
description: Hires whose tool is back, with how long it was out and whether it came back late.
synonyms: [finished hire, completed hire]
inputs:
  hires: {hire_no: bigint, tool_no: string, customer_no: bigint, out_at: timestamp, due_back_at: timestamp, back_at: timestamp, charged_eur: double}
output: {primary_key: [hire_no], event_time: back_at}
columns:
  hire_no: {references: ods.hires.hire_no}
  tool_no: {description: tool that was hired, references: ods.tools.tool_no}
  customer_no: {description: who hired it, references: ods.customers.customer_no}
  back_at: {description: when the tool came back, synonyms: [came back, returned]}
  charged_eur: {description: what the customer paid, unit: EUR}
  days_out: {description: days that the tool was out, synonyms: [length of the hire, hire time], unit: days}
  was_late: {description: whether it came back after it was due, synonyms: [late, brought back late]}
dimensions:
  back_at: [quarter, month, week, day]
--- */
SELECT
  hire_no,
  tool_no,
  customer_no,
  back_at,
  charged_eur,
  CAST(UNIX_TIMESTAMP(back_at) - UNIX_TIMESTAMP(out_at) AS DOUBLE) / 86400 AS days_out,
  back_at > due_back_at AS was_late
FROM hires
WHERE back_at IS NOT NULL
