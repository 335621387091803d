/* ---
action: checked_readings
version: 1.0.0
step: clean
description: Readings of good quality with machine and measured quantity, and whether they are within limits.
synonyms: [reading, measurement]
inputs:
  readings: {sensor_id: bigint, read_at: timestamp, value: double, quality: int}
  sensors: {sensor_id: bigint, machine_id: string, quantity: string, low_limit: double, high_limit: double}
output: {primary_key: [sensor_id, read_at], event_time: read_at}
columns:
  sensor_id: {references: ods.sensors.sensor_id}
  machine_id: {references: ods.machines.machine_id}
  out_of_limits: {description: whether the value is above or below the limits, synonyms: [out of range, abnormal, unhealthy]}
measures:
  readings: {sql: COUNT(*), description: number of good readings, synonyms: [measurements]}
  average_value: {sql: AVG(value), description: mean value, synonyms: [average reading, mean reading]}
dimensions:
  read_at: [week, day, hour]
--- */
SELECT
  readings.sensor_id,
  sensors.machine_id,
  sensors.quantity,
  readings.read_at,
  readings.value,
  readings.value < sensors.low_limit OR readings.value > sensors.high_limit AS out_of_limits
FROM readings
JOIN sensors ON sensors.sensor_id = readings.sensor_id
WHERE readings.quality = 0 AND readings.value IS NOT NULL
