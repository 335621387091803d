"""A small project: sales, stores and clicks, an aggregate by day, and an action with parameters that no flow uses."""

from pathlib import Path

INGEST = """/* ---
action: ingest_as_is
step: ingest
inputs: {rows: {}}
output: {extra_columns: pass}
--- */
SELECT * FROM rows
"""
CLEAN = """/* ---
action: clean_sales
step: clean
inputs: {raw: {id: bigint, store_id: bigint, cents: bigint, note: string, sold_at: timestamp}}
output: {primary_key: [id], event_time: sold_at}
measures:
  revenue: {sql: SUM(cents) / 100, unit: USD}
--- */
SELECT id, store_id, cents, note, sold_at FROM raw WHERE id IS NOT NULL
"""
BY_DAY = """/* ---
action: sales_by_day
step: aggregate
inputs: {sales: {store_id: bigint, cents: bigint, sold_at: timestamp}}
output: {primary_key: [store_id, day], event_time: day}
--- */
SELECT store_id, DATE_TRUNC('DAY', sold_at) AS day, SUM(cents) AS total_cents, COUNT(*) AS lines, MAX(cents) AS most
FROM sales
GROUP BY store_id, DATE_TRUNC('DAY', sold_at)
"""
LARGE = """/* ---
action: large_sales
step: customize
inputs: {rows: {id: bigint, cents: bigint, note: string}}
params: {least: {type: bigint, default: 1000}, word: {type: string, default: x}}
output: {primary_key: [id]}
--- */
SELECT id, cents AS amount, note FROM rows WHERE note = :word AND cents >= :least
"""
FLOW = """flow: shop
description: A shop.   # kept as it is
freshness: 30s
sources:
  sales:
    files:
      path: data/sales.csv
      columns: {id: bigint, store_id: bigint, cents: bigint, note: string, sold_at: timestamp}
  stores: {files: {path: data/stores.csv, columns: {store_id: bigint, city: string}}}
  clicks: {files: {path: data/clicks.csv, columns: {who: string, at: timestamp}}}
steps:
  - {use: ingest_as_is, reads: {rows: sales}, writes: ods.sales}
  - {use: ingest_as_is, reads: {rows: stores}, writes: ods.stores}
  - {use: ingest_as_is, reads: {rows: clicks}, writes: ods.clicks}
  - {use: clean_sales, reads: {raw: ods.sales}, writes: dwd.sales}
  # the last one
  - use: sales_by_day
    reads: {sales: dwd.sales}
    writes: dws.sales_by_day

tables:
  ods.sales: {primary_key: [id]}
  ods.stores: {primary_key: [store_id]}
"""

_FILES = {
    "actions/ingest/ingest_as_is.sql": INGEST,
    "actions/clean/clean_sales.sql": CLEAN,
    "actions/aggregate/sales_by_day.sql": BY_DAY,
    "actions/customize/large_sales.sql": LARGE,
    "flows/shop.yaml": FLOW,
    "data/sales.csv": "id,store_id,cents,note,sold_at\n"
    "1,1,500,x,2024-01-01 10:00:00\n2,1,700,,2024-01-02 11:00:00\n3,2,900,y,2024-01-02 11:30:00\n4,,100,x,\n",
    "data/stores.csv": "store_id,city\n1,Oslo\n2,Rome\n",
    "data/clicks.csv": "who,at\na,2024-01-01 00:00:00\n",
}


def make_shop(root: Path) -> Path:
    """Write the project into a folder, and give that folder."""
    for name, text in _FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root
