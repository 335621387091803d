/* ---
action: finished_rides
version: 1.0.0
step: clean
description: Trips whose bike came back, with their length in minutes and the day they began.
synonyms: [ride, trip, hire, rental, journey]
inputs:
  trips:
    trip_id: bigint
    bike_id: bigint
    rider_id: bigint
    start_station: string
    end_station: string
    started_at: timestamp
    ended_at: timestamp
    distance_m: bigint
    fare_cents: bigint
output: {primary_key: [trip_id], event_time: started_at}
columns:
  trip_id: {description: number of the ride}
  minutes: {description: how long the ride took, synonyms: [duration, length, ride time], unit: minutes}
  distance_m: {description: way that was ridden, synonyms: [distance], unit: m}
  fare_cents: {description: what the rider paid, synonyms: [fare, price, charge], unit: cents}
measures:
  rides: {sql: COUNT(*), description: number of finished rides, synonyms: [trips, hires, rentals, journeys]}
  revenue: {sql: SUM(fare_cents) / 100, unit: USD, description: money from fares, synonyms: [income, takings, turnover]}
  average_duration: {sql: AVG(minutes), unit: minutes, description: mean length of a ride, synonyms: [average ride time]}
dimensions:
  started_at: [month, week, day, hour]
--- */
SELECT
  trip_id,
  bike_id,
  rider_id,
  start_station,
  end_station,
  started_at,
  ended_at,
  CAST(UNIX_TIMESTAMP(ended_at) - UNIX_TIMESTAMP(started_at) AS DOUBLE) / 60 AS minutes,
  distance_m,
  fare_cents
FROM trips
WHERE ended_at IS NOT NULL AND end_station IS NOT NULL
