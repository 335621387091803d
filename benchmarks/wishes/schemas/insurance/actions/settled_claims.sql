/* ---
action: settled_claims
version: 1.0.0
step: clean
description: Claims that are decided, whether paid or denied, with the days that it took.
synonyms: [settled claim, decided claim, closed claim]
inputs:
  claims:
    claim_no: bigint
    policy_no: string
    reported_at: timestamp
    cause: string
    claimed_cents: bigint
    status: string
    closed_at: timestamp
    adjuster_id: bigint
output: {primary_key: [claim_no], event_time: closed_at}
columns:
  claim_no: {references: ods.claims.claim_no}
  closed_at: {description: when the claim was decided, synonyms: [settled, decided, closed]}
  days_to_settle: {description: days from the report to the decision, synonyms: [settlement time, time to settle, handling time], unit: days}
measures:
  settled_claims: {sql: COUNT(*), description: number of settled claims}
dimensions:
  closed_at: [quarter, month, week, day]
--- */
SELECT
  claim_no,
  policy_no,
  cause,
  claimed_cents,
  status,
  adjuster_id,
  reported_at,
  closed_at,
  DATEDIFF(CAST(closed_at AS DATE), CAST(reported_at AS DATE)) AS days_to_settle
FROM claims
WHERE closed_at IS NOT NULL
