/* ---
action: ingest_as_is
version: 1.0.0
step: ingest                        # source → ods
description: Take every row as the source delivers it, with all its columns.
inputs:
  rows: {}                          # any columns
output: {extra_columns: pass}
examples:
  - given: {rows: [{wine_id: 7, bottles: 6}, {wine_id: 7, bottles: 6}]}
    expect: [{wine_id: 7, bottles: 6}, {wine_id: 7, bottles: 6}]
--- */
SELECT *
FROM rows
