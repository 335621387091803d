/* ---
action: first_touch
version: 1.0.0
step: clean                         # ods → dwd
description: For each household the campaign that touched it first; of those that began together, the lowest number.
synonyms: [first contacts, acquisition]
inputs:
  campaigns: {campaign_id: bigint, household_id: bigint}
  descriptions: {campaign_id: bigint, campaign_type: string, start_date: timestamp}
output: {primary_key: [household_id], event_time: touched_at}
columns:
  campaign_id: {description: the campaign that touched the household first, synonyms: [first campaign]}
  touched_at: {description: "when that campaign began, in UTC", synonyms: [first touch, contact time]}
measures:
  touched_households:
    sql: COUNT(*)
    description: how many households a campaign touched first
    synonyms: [reach, households touched]
dimensions:
  campaign: {hierarchy: [campaign_type, campaign_id], description: the campaign and its type}
  time: {column: touched_at, description: when the campaign began, hierarchy: [year, month, week, day]}
expect:
  campaign_has_a_type: {check: campaign_type IS NOT NULL, on_violation: warn}
examples:
  - given:
      campaigns:
        - {campaign_id: 8, household_id: 1}
        - {campaign_id: 26, household_id: 1}
        - {campaign_id: 12, household_id: 2}
        - {campaign_id: 11, household_id: 2}
        - {campaign_id: 99, household_id: 3}
      descriptions:
        - {campaign_id: 8, campaign_type: Type A, start_date: "2017-05-08 00:00:00"}
        - {campaign_id: 26, campaign_type: Type B, start_date: "2016-12-28 00:00:00"}
        - {campaign_id: 11, campaign_type: Type B, start_date: "2017-07-12 00:00:00"}
        - {campaign_id: 12, campaign_type: Type B, start_date: "2017-07-12 00:00:00"}
    expect:
      - {household_id: 1, campaign_id: 26, campaign_type: Type B, touched_at: "2016-12-28 00:00:00"}
      - {household_id: 2, campaign_id: 11, campaign_type: Type B, touched_at: "2017-07-12 00:00:00"}
--- */
WITH touches AS (
  SELECT
    campaigns.household_id,
    campaigns.campaign_id,
    descriptions.campaign_type,
    descriptions.start_date AS touched_at,
    ROW_NUMBER() OVER (
      PARTITION BY campaigns.household_id
      ORDER BY descriptions.start_date, campaigns.campaign_id
    ) AS touch
  FROM campaigns
  JOIN descriptions ON descriptions.campaign_id = campaigns.campaign_id
  WHERE campaigns.household_id IS NOT NULL
    AND descriptions.start_date IS NOT NULL
)

SELECT
  household_id,
  campaign_id,
  campaign_type,
  touched_at
FROM touches
WHERE touch = 1
