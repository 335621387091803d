/* ---
action: returned_loans
version: 1.0.0
step: clean
description: Loans whose book came back, with how long it was out and how late it was.
synonyms: [return, returned book]
inputs:
  loans:
    loan_id: bigint
    copy_id: string
    member_id: bigint
    branch_code: string
    lent_at: timestamp
    due_on: date
    returned_at: timestamp
output: {primary_key: [loan_id], event_time: returned_at}
columns:
  loan_id: {references: ods.loans.loan_id}
  days_out: {description: days between lending and return, synonyms: [loan duration, time out], unit: days}
  days_late: {description: days after the due date; 0 when it came back in time, synonyms: [delay, days overdue, lateness], unit: days}
  is_late: {description: whether it came back after the due date, synonyms: [late, late return, overdue]}
measures:
  returns: {sql: COUNT(*), description: number of returns}
  late_rate: {sql: COUNT(*) FILTER (WHERE is_late) * 100.0 / COUNT(*), unit: percent, description: share of returns that were late, synonyms: [late return rate]}
dimensions:
  returned_at: [month, week, day]
--- */
SELECT
  loan_id,
  copy_id,
  member_id,
  branch_code,
  lent_at,
  due_on,
  returned_at,
  DATEDIFF(CAST(returned_at AS DATE), CAST(lent_at AS DATE)) AS days_out,
  GREATEST(DATEDIFF(CAST(returned_at AS DATE), due_on), 0) AS days_late,
  CAST(returned_at AS DATE) > due_on AS is_late
FROM loans
WHERE returned_at IS NOT NULL
