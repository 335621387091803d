/* ---
action: flown_flights
version: 1.0.0
step: clean
description: Flights that reached their destination, with their delay.
synonyms: [completed flight]
inputs:
  flights:
    flight_id: bigint
    flight_no: string
    origin: string
    destination: string
    tail_no: string
    planned_departure: timestamp
    planned_arrival: timestamp
    real_arrival: timestamp
    status: string
output: {primary_key: [flight_id], event_time: planned_departure}
columns:
  flight_id: {references: ods.flights.flight_id}
  origin: {references: ods.airports.iata}
  destination: {references: ods.airports.iata}
  tail_no: {references: ods.aircraft.tail_no}
  delay_minutes: {description: how much later than planned it arrived; negative if earlier, synonyms: [delay], unit: minutes}
  is_late: {description: whether it arrived 15 minutes late or more, synonyms: [late, delayed]}
measures:
  flights_flown: {sql: COUNT(*), description: number of flights that arrived}
  punctuality: {sql: AVG(CASE WHEN is_late THEN 0 ELSE 100.0 END), unit: percent, description: percent of flights that were not late, synonyms: [on-time rate]}
dimensions:
  planned_departure: [month, week, day, hour]
--- */
SELECT
  flight_id,
  flight_no,
  origin,
  destination,
  tail_no,
  planned_departure,
  CAST((UNIX_TIMESTAMP(real_arrival) - UNIX_TIMESTAMP(planned_arrival)) / 60 AS BIGINT) AS delay_minutes,
  UNIX_TIMESTAMP(real_arrival) - UNIX_TIMESTAMP(planned_arrival) >= 900 AS is_late
FROM flights
WHERE status = 'F'
