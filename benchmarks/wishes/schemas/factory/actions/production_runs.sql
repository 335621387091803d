/* ---
action: production_runs
version: 1.0.0
step: clean
description: Orders whose work has ended, with line, good pieces and run time.
synonyms: [production, production run, output, run]
inputs:
  orders:
    order_no: string
    machine_id: string
    product: string
    shift_code: string
    made_units: bigint
    scrapped_units: bigint
    begun_at: timestamp
    done_at: timestamp
  machines: {machine_id: string, line: string}
output: {primary_key: [order_no], event_time: begun_at}
columns:
  order_no: {references: ods.work_orders.order_no}
  good_units: {description: pieces without those thrown away, synonyms: [good pieces, yield], unit: pieces}
  run_minutes: {description: how long the machine worked, synonyms: [run time, duration, running time], unit: minutes}
measures:
  good_output: {sql: SUM(good_units), unit: pieces, description: good pieces made, synonyms: [good production]}
dimensions:
  begun_at: [week, day]
--- */
SELECT
  orders.order_no,
  orders.machine_id,
  machines.line,
  orders.product,
  orders.shift_code,
  orders.made_units,
  orders.scrapped_units,
  orders.made_units - orders.scrapped_units AS good_units,
  orders.begun_at,
  CAST((UNIX_TIMESTAMP(orders.done_at) - UNIX_TIMESTAMP(orders.begun_at)) DIV 60 AS BIGINT) AS run_minutes
FROM orders
LEFT JOIN machines ON machines.machine_id = orders.machine_id
WHERE orders.done_at IS NOT NULL
