/* ---
action: ingest_customers
step: ingest                      # source -> ods
description: The customers as the database has them.
inputs:
  events: {customer_id: bigint, name: string, city: string}
output: {primary_key: [customer_id]}
--- */
SELECT customer_id, name, city
FROM events
