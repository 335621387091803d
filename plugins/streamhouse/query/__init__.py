"""Questions in SQL: what a query reads, where its rows are, and their answer by DuckDB or by Spark."""
