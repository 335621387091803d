-- The job as it was: each night at two it read all files, and wrote both tables again.

CREATE OR REPLACE TEMPORARY VIEW sales (
  sale_id BIGINT, product_id INT, quantity INT, cents BIGINT, sold_at TIMESTAMP_NTZ)
USING csv OPTIONS (path 'data', pathGlobFilter 'sales-*.csv', header 'true');

CREATE OR REPLACE TEMPORARY VIEW products_exported (product_id INT, category STRING, updated_at TIMESTAMP_NTZ)
USING csv OPTIONS (path 'data', pathGlobFilter 'products-*.csv', header 'true');

CREATE OR REPLACE TEMPORARY VIEW products AS
SELECT product_id, category
FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY product_id ORDER BY updated_at DESC, category) AS nth
  FROM products_exported)
WHERE nth = 1;

INSERT OVERWRITE TABLE daily_sales
SELECT CAST(s.sold_at AS DATE) AS day, p.category, COUNT(*) AS sales, SUM(s.quantity * s.cents) AS cents
FROM sales s JOIN products p ON p.product_id = s.product_id
WHERE s.quantity > 0
GROUP BY CAST(s.sold_at AS DATE), p.category;

INSERT OVERWRITE TABLE top_categories
SELECT day, category, cents
FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY day ORDER BY cents DESC, category) AS nth FROM daily_sales)
WHERE nth = 1;
