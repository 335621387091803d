/* ---
action: patient_billing
version: 1.0.0
step: aggregate
description: What each patient was billed so far, and how much of it is open.
inputs:
  invoices: {appointment_id: bigint, amount_cents: bigint, paid_on: date}
  appointments: {appointment_id: bigint, patient_id: bigint}
output: {primary_key: [patient_id]}
columns:
  patient_id: {references: ods.patients.patient_id}
  invoices: {description: number of invoices so far}
  billed_cents: {description: sum of the patient's invoices, synonyms: [lifetime billings], unit: cents}
  open_cents: {description: what the patient still owes, synonyms: [balance, debt, owed], unit: cents}
--- */
SELECT
  appointments.patient_id,
  COUNT(*) AS invoices,
  SUM(invoices.amount_cents) AS billed_cents,
  SUM(CASE WHEN invoices.paid_on IS NULL THEN invoices.amount_cents ELSE 0 END) AS open_cents
FROM invoices
JOIN appointments ON appointments.appointment_id = invoices.appointment_id
GROUP BY appointments.patient_id
