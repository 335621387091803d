/* ---
action: warm_minutes
step: customize
description: Minutes in which the mean was above a limit.
inputs: {minutes: {truck: string not null, minute: timestamp not null, celsius: double}}
params: {limit: {type: double, description: in degrees Celsius; a minute at the limit is no alert}}
output: {primary_key: [truck, minute]}
examples:
  - params: {limit: 8.0}
    given:
      minutes:
        - {truck: t1, minute: "2026-03-02 08:00:00", celsius: 8.0}
        - {truck: t1, minute: "2026-03-02 08:01:00", celsius: 8.1}
    expect:
      - {truck: t1, minute: "2026-03-02 08:01:00", celsius: 8.1}
--- */
SELECT truck, minute, celsius
FROM minutes
WHERE celsius > :limit
