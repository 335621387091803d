"""Run the nightly job over the files, and compare its two tables with those of the flow.

    python job/compare.py

It ends with 1 where a row differs. `streamhouse` must be on the path, or in the folder of this Python.
"""

import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from pyspark.sql import SparkSession

TABLES = {"daily_sales": "dws.daily_sales", "top_categories": "ads.top_categories"}


def of_the_job(spark: SparkSession) -> dict[str, Counter[str]]:
    """Table → its rows, each as text, by the job as it was."""
    spark.sql("CREATE TABLE daily_sales (day DATE, category STRING, sales BIGINT, cents BIGINT) USING parquet")
    spark.sql("CREATE TABLE top_categories (day DATE, category STRING, cents BIGINT) USING parquet")
    text = Path("job/nightly.sql").read_text(encoding="utf-8")
    for statement in text.split(";"):
        if statement.strip():
            spark.sql(statement)
    return {name: Counter(spark.table(name).toJSON().collect()) for name in TABLES}


def of_the_flow(name: str) -> Counter[str]:
    """The rows of a table of the flow, each as text."""
    command = Path(sys.executable).with_name("streamhouse")
    query = [str(command) if command.exists() else "streamhouse", "query", f"SELECT * FROM {TABLES[name]}", "--json"]
    done = subprocess.run(query, check=True, capture_output=True, text=True)
    return Counter(json.dumps(row, separators=(",", ":")) for row in json.loads(done.stdout)["rows"])


def main() -> int:
    """Compare all tables."""
    with tempfile.TemporaryDirectory() as folder:
        spark = SparkSession.builder.master("local[1]").config("spark.sql.warehouse.dir", folder).getOrCreate()
        job = of_the_job(spark)
        spark.stop()
    wrong = 0
    for name, rows in job.items():
        found = of_the_flow(name)
        for row in sorted((rows - found) + (found - rows)):
            wrong += 1
            print(f"{name}: only in the {'job' if row in rows - found else 'flow'}: {row}")
        print(f"{name}: {rows.total()} rows of the job, {found.total()} of the flow")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
