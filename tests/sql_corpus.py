"""SQL that several tests look at: its types, and how it is kept up to date."""

import random
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from sqlglot import exp

from streamhouse.errors import Location
from streamhouse.model.table import Column
from streamhouse.model.types import ReadMode, Strategy
from streamhouse.sql.classify import Classification, classify
from streamhouse.sql.dialect import parse_query
from streamhouse.sql.ports import ActionPort
from streamhouse.sql.rows import InputInfo
from streamhouse.sql.schema import CheckedQuery, analyse

Rows = dict[str, list[dict[str, Any]]]
"""Table → its rows."""

FIXTURES = Path(__file__).parent / "fixtures"
AT = Location("action.sql", 10, 1)

LINES = {
    "a": "int", "big": "bigint", "s": "string", "d": "decimal(12,2)", "x": "double", "f": "float", "ts": "timestamp",
    "dt": "date", "ntz": "timestamp_ntz", "arr": "array<int>", "st": "struct<x:int,y:struct<z:string>>",
    "m": "map<string,int>", "b": "boolean", "sm": "smallint", "bin": "binary", "d5": "decimal(5,0)",
    "dmax": "decimal(38,10)", "starr": "array<struct<p:int,q:string>>", "b2": "int", "s2": "string", "s3": "string",
    "m2": "map<string,int>",
}  # fmt: skip
P = {"a": "int", "c": "int", "name": "string"}

ORDERS = {
    "o": {
        "id": "bigint", "cust": "bigint", "store": "int", "amt": "decimal(12,2)", "ts": "timestamp",
        "arr": "array<int>", "st": "string",
    },
    "k": {"id": "bigint", "cust": "bigint", "v": "int", "ts": "timestamp", "arr": "array<int>"},
    "c": {"cust": "bigint", "name": "string", "region": "int"},
    "d": {"cust": "bigint", "label": "string"},
}  # fmt: skip
NOT_IN_DUCKDB = (
    "window(",
    "session_window",
    "current_timestamp",
    "now()",
    "max_by",
    "collect_set",
    "posexplode",
    "stack(",
    "percentile",
    "get(",
)
"""Parts of cases that the unit tests do not ask DuckDB about: it lacks them, or has them otherwise than Spark."""
KEYS = {"o": (), "k": ("id",), "c": ("cust",), "d": ("cust",)}


class Case(NamedTuple):
    expected: str
    key: tuple[str, ...]
    sql: str


def columns(types: dict[str, str]) -> tuple[Column, ...]:
    return tuple(Column(name=name, type=kind) for name, kind in types.items())


def expressions() -> list[str]:
    lines = (FIXTURES / "types" / "expressions.sql").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("--")]


def queries() -> list[str]:
    lines = (FIXTURES / "types" / "queries.sql").read_text().splitlines()
    return [line.removesuffix(";") for line in lines if line and not line.startswith("--")]


def typed(sql: str) -> CheckedQuery:
    """`sql` over `lines` and `p`, analysed."""
    return _analysed(sql, {"lines": LINES, "p": P})


def cases(name: str = "cases.sql") -> list[Case]:
    found = []
    for block in (FIXTURES / "classify" / name).read_text().split("\n\n")[1:]:
        head, sql = block.strip().split("\n", 1)
        wanted = re.fullmatch(r"-- (\w+)(?: key=([\w,]+))?", head)
        assert wanted, head
        found.append(Case(wanted[1], tuple(wanted[2].split(",")) if wanted[2] else (), sql))
    return found


def orders(sql: str) -> CheckedQuery:
    """`sql` over `o`, `k`, `c` and `d`, analysed."""
    return _analysed(sql, ORDERS)


def classified(case: Case, strategy: Strategy | None = None) -> Classification:
    query = orders(case.sql)
    inputs = {
        name: InputInfo(not KEYS[name], ReadMode.LOOKUP if name == "d" else ReadMode.CHANGES, KEYS[name])
        for name in query.reads
    }
    return classify(query, inputs, primary_key=case.key, strategy=strategy, at=AT)


def random_rows(seed: int) -> Rows:
    """Small tables whose values often meet, with NULLs; instants differ, so that order has no ties."""
    dice = random.Random(seed)
    begin = datetime(2024, 1, 1, tzinfo=UTC)
    instants = iter(dice.sample(range(20_000), 200))

    def at() -> datetime:
        return begin + timedelta(seconds=next(instants))

    def maybe(value: Any) -> Any:
        return None if dice.random() < 0.1 else value

    def numbers() -> list[int]:
        return [dice.randrange(4) for _ in range(dice.randrange(3))]

    o = [
        {
            "id": i, "cust": maybe(dice.randrange(6)), "store": maybe(dice.randrange(4)),
            "amt": maybe(Decimal(dice.randrange(2000)) / 100), "ts": at(), "arr": numbers(),
            "st": maybe(dice.choice(["a", "b", "x"])),
        }
        for i in range(40)
    ]  # fmt: skip
    k = [
        {"id": i, "cust": maybe(dice.randrange(6)), "v": maybe(dice.randrange(5)), "ts": at(), "arr": numbers()}
        for i in range(20)
    ]
    c = [{"cust": i, "name": dice.choice("pq"), "region": maybe(dice.randrange(3))} for i in dice.sample(range(7), 5)]
    d = [{"cust": i, "label": dice.choice("abx")} for i in dice.sample(range(7), 5)]
    return {"o": o, "k": k, "c": c, "d": d}


def _analysed(sql: str, tables: dict[str, dict[str, str]]) -> CheckedQuery:
    tree = parse_query(sql, AT)
    used = {table.name.lower() for table in tree.find_all(exp.Table)} & set(tables)
    return analyse(
        tree, {name: ActionPort(columns(tables[name]), {}, key=KEYS.get(name, ())) for name in sorted(used)}, sql, AT
    )
