/* ---
action: ingest_as_is
version: 1.0.0
step: ingest                        # source → ods
description: Take every row as the source delivers it, with all its columns.
inputs:
  rows: {}
output: {extra_columns: pass}
--- */
SELECT *
FROM rows
