/* ---
action: clean_readings
step: clean                       # ods -> dwd
description: One reading of a sensor for each time, without those of a broken sensor.
inputs:
  readings: {sensor_id: string, measured_at: timestamp, celsius: double}
params:
  lowest: {type: double, default: -90, description: what is colder was not measured}
output: {primary_key: [sensor_id, measured_at], event_time: measured_at}
examples:
  - given:
      readings:
        - {sensor_id: s1, measured_at: "2026-01-05 08:00:00", celsius: 4.5}
        - {sensor_id: s1, measured_at: "2026-01-05 08:00:00", celsius: 4.5}
        - {sensor_id: s1, measured_at: "2026-01-05 08:01:00", celsius: -999}
    expect:
      - {sensor_id: s1, measured_at: "2026-01-05 08:00:00", celsius: 4.5}
--- */
SELECT sensor_id, measured_at, MAX(celsius) AS celsius
FROM readings
WHERE celsius >= :lowest
GROUP BY sensor_id, measured_at
