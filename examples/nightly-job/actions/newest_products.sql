/* ---
action: newest_products
step: clean
description: The newest line of each product.
inputs:
  products: {product_id: int, category: string, updated_at: timestamp_ntz}
output: {primary_key: [product_id]}
examples:
  - given:
      products:
        - {product_id: 1, category: tea, updated_at: "2026-03-02 07:00:00"}
        - {product_id: 1, category: drinks, updated_at: "2026-03-03 07:00:00"}
    expect:
      - {product_id: 1, category: drinks}
--- */
SELECT product_id, category
FROM products
QUALIFY ROW_NUMBER() OVER (PARTITION BY product_id ORDER BY updated_at DESC, category) = 1
