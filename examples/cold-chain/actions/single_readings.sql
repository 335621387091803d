/* ---
action: single_readings
step: clean
description: Each reading once, as trucks without a network send theirs again; of two values the higher one counts.
inputs: {rows: {truck: string not null, read_at: timestamp not null, celsius: double}}
output: {primary_key: [truck, read_at]}
expect:
  plausible: {check: "celsius BETWEEN -60 AND 80", on_violation: quarantine}
examples:
  - given:
      rows:
        - {truck: t1, read_at: "2026-03-02 08:00:10", celsius: 4.5}
        - {truck: t1, read_at: "2026-03-02 08:00:10", celsius: 4.5}
        - {truck: t1, read_at: "2026-03-02 08:00:40", celsius: 5.5}
    expect:
      - {truck: t1, read_at: "2026-03-02 08:00:10", celsius: 4.5}
      - {truck: t1, read_at: "2026-03-02 08:00:40", celsius: 5.5}
--- */
SELECT truck, read_at, MAX(celsius) AS celsius
FROM rows
GROUP BY truck, read_at
