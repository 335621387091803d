/* ---
action: page_views
version: 1.0.0
step: clean
description: Views of pages with the page's section.
inputs:
  events: {event_id: bigint, user_id: bigint, page_id: bigint, type: string, ts: timestamp, platform: string, load_ms: int}
  pages: {page_id: bigint, path: string, section: string}
output: {primary_key: [event_id], event_time: viewed_at}
columns:
  load_ms: {description: how long the page took to load, synonyms: [load time], unit: milliseconds}
--- */
SELECT
  events.event_id,
  events.user_id,
  events.page_id,
  pages.path,
  pages.section,
  events.platform,
  events.ts AS viewed_at,
  events.load_ms
FROM events
LEFT JOIN pages ON pages.page_id = events.page_id
WHERE events.type = 'pv'
