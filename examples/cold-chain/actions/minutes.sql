/* ---
action: minutes
step: aggregate
description: The mean of each truck's readings in each minute.
inputs: {readings: {truck: string not null, read_at: timestamp not null, celsius: double}}
output: {primary_key: [truck, minute]}
examples:
  - given:
      readings:
        - {truck: t1, read_at: "2026-03-02 08:00:10", celsius: 4.0}
        - {truck: t1, read_at: "2026-03-02 08:00:40", celsius: 5.0}
    expect:
      - {truck: t1, minute: "2026-03-02 08:00:00", readings: 2, celsius: 4.5}
--- */
SELECT truck, DATE_TRUNC('MINUTE', read_at) AS minute, COUNT(*) AS readings, AVG(celsius) AS celsius
FROM readings
GROUP BY truck, DATE_TRUNC('MINUTE', read_at)
