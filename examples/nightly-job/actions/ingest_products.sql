/* ---
action: ingest_products
step: ingest
description: Keep every line of the exports of products.
inputs:
  products: {product_id: int, category: string, updated_at: timestamp_ntz}
--- */
SELECT product_id, category, updated_at
FROM products
