/* ---
action: ended_stays
version: 1.0.0
step: clean
description: Visits of boats that have left again, with their pier and their length.
synonyms: [stay, finished visit]
inputs:
  visits:
    visit_id: bigint
    boat_id: bigint
    berth_no: string
    arrived_at: timestamp
    departed_at: timestamp
    persons: int
    fee_cents: bigint
    status: string
    booked_by: string
  berths: {berth_no: string, pier_code: string}
output: {primary_key: [visit_id], event_time: arrived_at}
columns:
  visit_id: {references: ods.visits.visit_id}
  boat_id: {references: ods.boats.boat_id}
  berth_no: {references: ods.berths.berth_no}
  pier_code: {description: pier of the berth, references: ods.piers.pier_code}
  arrived_at: {description: when the boat came in, synonyms: [arrived, arrival]}
  departed_at: {description: when the boat left, synonyms: [departed, departure]}
  hours: {description: how long the boat stayed, synonyms: [length of stay, duration], unit: hours}
  persons: {description: people on board, synonyms: [crew]}
  fee_cents: {description: what was paid for the stay, synonyms: [fee], unit: cents}
measures:
  stays: {sql: COUNT(*), description: number of stays that have ended}
  berth_income: {sql: SUM(fee_cents) / 100, unit: EUR, description: money from stays, synonyms: [berth revenue, mooring fees]}
  average_stay: {sql: AVG(hours), unit: hours, description: mean length of a stay, synonyms: [average length of stay]}
dimensions:
  arrived_at: [month, week, day, hour]
--- */
SELECT
  visits.visit_id,
  visits.boat_id,
  visits.berth_no,
  berths.pier_code,
  visits.arrived_at,
  visits.departed_at,
  CAST(UNIX_TIMESTAMP(visits.departed_at) - UNIX_TIMESTAMP(visits.arrived_at) AS DOUBLE) / 3600 AS hours,
  visits.persons,
  visits.fee_cents,
  visits.booked_by
FROM visits
JOIN berths ON berths.berth_no = visits.berth_no
WHERE visits.status = 'D'
