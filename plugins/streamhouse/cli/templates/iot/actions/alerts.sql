/* ---
action: alerts
step: customize                   # dws -> ads
description: Spans in which a sensor measured more than is right at its place.
inputs:
  spans: {sensor_id: string, window_start: timestamp, readings: bigint, highest: double, mean: double}
  sensors: {sensor_id: string, place: string, highest_celsius: double}
params:
  readings: {type: int, default: 1, description: spans with fewer readings are no alert}
output: {primary_key: [sensor_id, window_start]}
examples:
  - given:
      spans:
        - {sensor_id: s1, window_start: "2026-01-05 08:00:00", readings: 9, highest: 8, mean: 7.5}
        - {sensor_id: s1, window_start: "2026-01-05 08:10:00", readings: 9, highest: 6, mean: 5}
      sensors:
        - {sensor_id: s1, place: cold store, highest_celsius: 7.5}
    expect:
      - {sensor_id: s1, place: cold store, window_start: "2026-01-05 08:00:00", highest: 8, mean: 7.5}
--- */
SELECT spans.sensor_id, sensors.place, spans.window_start, spans.highest, spans.mean
FROM spans
JOIN sensors ON sensors.sensor_id = spans.sensor_id
WHERE spans.highest > sensors.highest_celsius AND spans.readings >= :readings
