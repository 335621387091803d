/* ---
action: first_touch
step: clean                       # ods -> dwd
description: The campaign that each visitor touched first; of those at one time, the first by name.
inputs:
  touches: {visitor_id: bigint, campaign: string, touched_at: timestamp}
output: {primary_key: [visitor_id]}
examples:
  - given:
      touches:
        - {visitor_id: 1, campaign: video, touched_at: "2026-01-02 10:00:00"}
        - {visitor_id: 1, campaign: search, touched_at: "2026-01-01 10:00:00"}
    expect:
      - {visitor_id: 1, campaign: search, touched_at: "2026-01-01 10:00:00"}
--- */
SELECT visitor_id, campaign, touched_at
FROM touches
QUALIFY ROW_NUMBER() OVER (PARTITION BY visitor_id ORDER BY touched_at, campaign) = 1
