/* ---
action: ingest_touches
step: ingest                      # source -> ods
description: Each touch of a campaign as it arrived.
inputs:
  touches: {visitor_id: bigint, campaign: string, touched_at: timestamp}
--- */
SELECT visitor_id, campaign, touched_at
FROM touches
