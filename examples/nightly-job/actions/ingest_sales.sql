/* ---
action: ingest_sales
step: ingest
description: Keep every sale as it arrived.
inputs:
  sales: {sale_id: bigint, product_id: int, quantity: int, cents: bigint, sold_at: timestamp_ntz}
--- */
SELECT sale_id, product_id, quantity, cents, sold_at
FROM sales
