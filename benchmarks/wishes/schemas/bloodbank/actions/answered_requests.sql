/* ---
action: answered_requests
version: 1.0.0
step: clean
description: Requests for which at least one bag left, with how long that took.
synonyms: [answered request]
inputs:
  requests: {request_no: bigint, hospital_id: bigint, asked_at: timestamp, product: string, urgency: int, bags_sent: int, sent_at: timestamp}
output: {primary_key: [request_no], event_time: asked_at}
columns:
  request_no: {references: ods.requests.request_no}
  hospital_id: {description: hospital that asked, references: ods.hospitals.hospital_id}
  asked_at: {description: when the request came in, synonyms: [asked]}
  urgency: {description: how urgent it was, synonyms: [priority], values: {"1": [routine, normal], "2": urgent, "3": [emergency, life-threatening]}}
  wait_minutes: {description: minutes from the request until the bags left, synonyms: [waiting time, time to dispatch, wait], unit: minutes}
measures:
  average_wait: {sql: AVG(wait_minutes), unit: minutes, description: mean time until bags left, synonyms: [average waiting time, mean wait]}
  longest_wait: {sql: MAX(wait_minutes), unit: minutes, description: longest time until bags left, synonyms: [longest waiting time, worst wait]}
dimensions:
  asked_at: [quarter, month, week, day, hour]
--- */
SELECT
  request_no,
  hospital_id,
  asked_at,
  product,
  urgency,
  bags_sent,
  CAST(UNIX_TIMESTAMP(sent_at) - UNIX_TIMESTAMP(asked_at) AS DOUBLE) / 60 AS wait_minutes
FROM requests
WHERE sent_at IS NOT NULL
