/* ---
action: ingest_changes
step: ingest
description: Each change of a customer as the database's log has it.
inputs: {rows: {}}
--- */
SELECT * FROM rows
