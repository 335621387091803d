/* ---
action: daily_activity
version: 1.0.0
step: aggregate
description: Events, people and errors of each platform on each day.
inputs:
  events: {user_id: bigint, type: string, ts: timestamp, platform: string}
output: {primary_key: [day, platform], event_time: day}
--- */
SELECT
  DATE_TRUNC('DAY', ts) AS day,
  platform,
  COUNT(*) AS events,
  COUNT(DISTINCT user_id) AS users,
  COUNT(*) FILTER (WHERE type = 'err') AS errors
FROM events
GROUP BY DATE_TRUNC('DAY', ts), platform
