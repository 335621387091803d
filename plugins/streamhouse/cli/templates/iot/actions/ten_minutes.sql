/* ---
action: ten_minutes
step: aggregate                   # dwd -> dws
description: The readings of each sensor in spans of ten minutes.
inputs:
  readings: {sensor_id: string, measured_at: timestamp, celsius: double}
output: {primary_key: [sensor_id, window_start]}
examples:
  - given:
      readings:
        - {sensor_id: s1, measured_at: "2026-01-05 08:00:00", celsius: 4}
        - {sensor_id: s1, measured_at: "2026-01-05 08:09:59", celsius: 6}
        - {sensor_id: s1, measured_at: "2026-01-05 08:10:00", celsius: 5}
    expect:
      - {sensor_id: s1, window_start: "2026-01-05 08:00:00", readings: 2, highest: 6, mean: 5}
      - {sensor_id: s1, window_start: "2026-01-05 08:10:00", readings: 1, highest: 5, mean: 5}
--- */
SELECT
  sensor_id,
  WINDOW(measured_at, '10 minutes').start AS window_start,
  COUNT(*) AS readings,
  MAX(celsius) AS highest,
  AVG(celsius) AS mean
FROM readings
GROUP BY sensor_id, WINDOW(measured_at, '10 minutes')
