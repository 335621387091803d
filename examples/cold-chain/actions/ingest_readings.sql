/* ---
action: ingest_readings
step: ingest
description: Readings as the trucks send them.
inputs: {rows: {}}
--- */
SELECT * FROM rows
