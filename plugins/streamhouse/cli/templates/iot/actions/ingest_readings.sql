/* ---
action: ingest_readings
step: ingest                      # source -> ods
description: Each reading as it arrived.
inputs:
  readings: {sensor_id: string, measured_at: timestamp, celsius: double}
--- */
SELECT sensor_id, measured_at, celsius
FROM readings
