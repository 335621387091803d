"""Checks the reference queries on the data: each runs and gives rows that say something.

python -m benchmarks.wishes.references --set dev
"""

import argparse
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp, parse_one

from .catalogs import schema
from .judge import Rows
from .tables import load_tables, run, spark_session
from .wish import PLAIN_ROWS, Wish, read_wishes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--set", default="dev")
    parser.add_argument("--show", action="store_true", help="the first rows of each")
    given = parser.parse_args()
    wishes = read_wishes(given.set)
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="wishes-") as folder, spark_session(Path(folder) / "session") as spark:
        for name in dict.fromkeys(wish.schema_name for wish in wishes):
            checked = schema(name)
            print(name, load_tables(spark, checked.root, checked.plans, Path(folder)), flush=True)
            for wish in wishes:
                if wish.schema_name == name and wish.sql:
                    try:
                        found = [run(spark, sql) for sql in wish.sql]
                    except Exception as error:  # noqa: BLE001 - whatever is wrong with it, the others are looked at
                        print(f"{wish.id} FAILS {str(error)[:300]}")
                        wrong += 1
                        continue
                    complaint = _complaint(wish, found) or _tie(spark, wish)
                    wrong += bool(complaint)
                    print(f"{wish.id} {wish.group}: {len(found[0].rows)} rows {complaint}", flush=True)
                    if given.show:
                        print(f"  {wish.wish}\n  {found[0].columns} {found[0].rows[:4]}", flush=True)
    print(f"{len(wishes)} wishes, {sum(bool(wish.sql) for wish in wishes)} with reference SQL, {wrong} doubtful")
    sys.exit(bool(wrong))


def _complaint(wish: Wish, found: list[Rows]) -> str:
    first, *others = found
    single = len(first.rows) == 1
    if not first.rows:
        return "EMPTY"
    for place, name in enumerate(first.columns):
        values = set(map(repr, first.column(place)))
        if len(values) == 1 and (not single or values <= {"None", "0", "0.0"}) and wish.kind not in PLAIN_ROWS:
            return f"CONSTANT {name}"
    for other in others:
        if not other.rows:
            return "EMPTY"
    return ""


def _tie(spark: "SparkSession", wish: Wish) -> str:
    """Whether the last row of a `LIMIT` ties with the next one, so that either is right and only one is counted so."""
    for sql in wish.sql:
        query = parse_one(sql, read="spark")
        limit, order = query.args.get("limit"), query.args.get("order")
        if isinstance(query, exp.Select) and limit and order:
            count = int(limit.expression.this)
            found = run(spark, query.limit(count + 1).sql("spark"))
            place = found.columns.index(order.expressions[0].this.name)
            if len(found.rows) > count and found.rows[count - 1][place] == found.rows[count][place]:
                return f"TIE at the last row: {found.rows[count][place]}"
    return ""


if __name__ == "__main__":
    main()
