/* ---
action: attended_visits
version: 1.0.0
step: clean
description: Appointments to which the patient came, with the doctor's department and the days booked ahead.
synonyms: [visit, consultation, attended appointment]
inputs:
  appointments:
    appointment_id: bigint
    patient_id: bigint
    doctor_id: bigint
    booked_at: timestamp
    starts_at: timestamp
    status: string
    minutes: int
    wait_minutes: int
  doctors: {doctor_id: bigint, dept_code: string}
output: {primary_key: [appointment_id], event_time: starts_at}
columns:
  appointment_id: {references: ods.appointments.appointment_id}
  dept_code: {description: department of the doctor, synonyms: [department], references: ods.departments.dept_code}
  lead_days: {description: days between booking and visit, synonyms: [lead time, booked ahead], unit: days}
measures:
  visits: {sql: COUNT(*), description: number of visits, synonyms: [consultations]}
  average_wait: {sql: AVG(wait_minutes), unit: minutes, description: mean waiting time, synonyms: [average waiting time, mean wait]}
dimensions:
  starts_at: [month, week, day, hour]
--- */
SELECT
  appointments.appointment_id,
  appointments.patient_id,
  appointments.doctor_id,
  doctors.dept_code,
  appointments.starts_at,
  appointments.minutes,
  appointments.wait_minutes,
  DATEDIFF(appointments.starts_at, appointments.booked_at) AS lead_days
FROM appointments
LEFT JOIN doctors ON doctors.doctor_id = appointments.doctor_id
WHERE appointments.status = 'D'
