/* ---
action: ingest_as_is
version: 1.0.0
step: ingest                        # source → ods
description: Take every row as the source delivers it, with all its columns.
inputs:
  rows: {}                          # any columns
output: {extra_columns: pass}
examples:
  - given: {rows: [{campaign_id: 1, household_id: 105}, {campaign_id: 1, household_id: 105}]}
    expect: [{campaign_id: 1, household_id: 105}, {campaign_id: 1, household_id: 105}]
--- */
SELECT *
FROM rows
