/* ---
action: ingest_sensors
step: ingest                      # source -> ods
description: Where each sensor is, and the highest temperature that is right there.
inputs:
  sensors: {sensor_id: string, place: string, highest_celsius: double}
output: {primary_key: [sensor_id]}
--- */
SELECT sensor_id, place, highest_celsius
FROM sensors
