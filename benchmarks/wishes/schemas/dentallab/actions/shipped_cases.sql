/* ---
action: shipped_cases
version: 1.0.0
step: clean
description: Cases that left the laboratory, with how long that took and whether it was late.
synonyms: [shipped case, finished case]
inputs:
  cases: {case_no: bigint, practice_no: bigint, received_at: timestamp, product: string, tech_id: bigint, due_on: date, shipped_at: timestamp, price_eur: double}
output: {primary_key: [case_no], event_time: shipped_at}
columns:
  case_no: {references: ods.cases.case_no}
  practice_no: {description: practice that ordered it, references: ods.practices.practice_no}
  product: {description: what was made, synonyms: [kind of work], values: {CRN: crown, BRG: bridge, DEN: [denture, full denture], SPL: [splint, night guard], ALN: aligner}}
  tech_id: {description: technician who made it, references: ods.technicians.tech_id}
  shipped_at: {description: when it left the laboratory, synonyms: [shipped, sent]}
  price_eur: {description: price of the case, synonyms: [price], unit: EUR}
  days_in_lab: {description: days from the order until it left, synonyms: [turnaround, turnaround time, lead time], unit: days}
  was_late: {description: whether it left after the day on which it was due, synonyms: [late, overdue, missed its deadline]}
measures:
  average_turnaround: {sql: AVG(days_in_lab), unit: days, description: mean days until a case left, synonyms: [average turnaround, mean lead time]}
dimensions:
  shipped_at: [quarter, month, week, day]
--- */
SELECT
  case_no,
  practice_no,
  product,
  tech_id,
  shipped_at,
  price_eur,
  CAST(UNIX_TIMESTAMP(shipped_at) - UNIX_TIMESTAMP(received_at) AS DOUBLE) / 86400 AS days_in_lab,
  CAST(shipped_at AS DATE) > due_on AS was_late
FROM cases
WHERE shipped_at IS NOT NULL
