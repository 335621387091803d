/* ---
action: ingest_as_is
version: 1.0.0
step: ingest                        # source → ods
description: Take every row as the source delivers it, with all its columns.
inputs:
  rows: {}                          # any columns
output: {extra_columns: pass}
examples:
  - given: {rows: [{line_no: "4", zones: 2}, {line_no: "4", zones: 2}]}
    expect: [{line_no: "4", zones: 2}, {line_no: "4", zones: 2}]
--- */
SELECT *
FROM rows
