/* ---
action: attended_incidents
version: 1.0.0
step: clean
description: Incidents at which an engine arrived, with how long that took.
synonyms: [attended incident]
inputs:
  incidents: {incident_no: bigint, called_at: timestamp, on_scene_at: timestamp, category: string, borough: string, alarm_level: int}
output: {primary_key: [incident_no], event_time: called_at}
columns:
  incident_no: {references: ods.incidents.incident_no}
  called_at: {description: when the call came in, synonyms: [called]}
  response_minutes: {description: minutes from the call until the first engine was there, synonyms: [response time, time to arrive], unit: minutes}
measures:
  average_response: {sql: AVG(response_minutes), unit: minutes, description: mean response time, synonyms: [average response time, mean response time]}
  slowest_response: {sql: MAX(response_minutes), unit: minutes, description: longest response time, synonyms: [longest response time]}
dimensions:
  called_at: [year, quarter, month, week, day, hour]
--- */
SELECT
  incident_no,
  called_at,
  CAST(UNIX_TIMESTAMP(on_scene_at) - UNIX_TIMESTAMP(called_at) AS DOUBLE) / 60 AS response_minutes,
  category,
  borough,
  alarm_level
FROM incidents
WHERE on_scene_at IS NOT NULL
