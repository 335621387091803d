/* ---
action: pickups
version: 1.0.0
step: clean
description: Rides that were ordered, with how long the passenger waited for the cab.
synonyms: [ordered ride]
inputs:
  rides: {ride_no: bigint, driver_id: bigint, from_zone: string, ordered_at: timestamp, picked_up_at: timestamp}
output: {primary_key: [ride_no], event_time: picked_up_at}
columns:
  ride_no: {references: ods.rides.ride_no}
  driver_id: {description: driver, references: ods.drivers.driver_id}
  from_zone: {description: zone where the ride began, synonyms: [pick-up zone]}
  picked_up_at: {description: when the passenger got in}
  wait_minutes: {description: minutes from the order to the pick-up, synonyms: [wait, waiting time], unit: minutes}
dimensions:
  picked_up_at: [month, week, day, hour]
--- */
SELECT
  ride_no,
  driver_id,
  from_zone,
  picked_up_at,
  CAST(UNIX_TIMESTAMP(picked_up_at) - UNIX_TIMESTAMP(ordered_at) AS DOUBLE) / 60 AS wait_minutes
FROM rides
WHERE ordered_at IS NOT NULL
