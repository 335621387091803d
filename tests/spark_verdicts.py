"""Statements in the shapes of Spark's SQL reference, with what Spark 4.1 says of each: its columns, or that it refuses.

`tests/fixtures/spark_verdicts/*.sql` has a statement on each line; `spark.txt` has what Spark said, which
`tests/integration/spark/test_verdicts.py` asks again and writes with `--update-golden`.
"""

from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from sqlglot import exp

from streamhouse.errors import Location, StrategyError
from streamhouse.model.table import Column
from streamhouse.model.types import ReadMode
from streamhouse.registry.parse_sql import parse_query
from streamhouse.sql.canonical import CanonicalInput, canonical
from streamhouse.sql.classify import InputInfo, classify
from streamhouse.sql.last_resort import guard_analysis
from streamhouse.sql.lineage import lineage
from streamhouse.sql.ports import ActionPort
from streamhouse.sql.schema import CheckedQuery, analyse

FOLDER = Path(__file__).parent / "fixtures" / "spark_verdicts"
AT = Location("a.sql")
REFUSED = "refused"
TABLES = {
    "t": {
        "id": "bigint", "k": "string", "v": "int", "x": "double", "dec": "decimal(10,2)", "ts": "timestamp",
        "d": "date", "b": "boolean", "arr": "array<int>", "ars": "array<string>", "m": "map<string,int>",
        "s": "struct<a:int,b:string>", "items": "array<struct<sku:string,qty:int>>", "js": "string", "bin": "binary",
        "var": "variant",
    },
    "u": {"id": "bigint", "k": "string", "w": "int", "arr": "array<int>", "y": "string"},
}  # fmt: skip
ROWS = {
    "t": """VALUES
        (1L, 'a', 1, 1.5D, 2.5, TIMESTAMP '2020-01-01 10:00:00', DATE '2020-01-01', true, array(1, 2), array('p'),
         map('a', 1), struct(1, 'x'), array(struct('s1', 2), struct('s2', 3)), '{"a": 1, "b": "q"}', X'0F', '[1, 2]'),
        (2L, 'b', NULL, NULL, -1.25, TIMESTAMP '2020-02-01 00:00:00', DATE '2020-02-01', false, array(3, NULL),
         array('p', 'q'), map('b', 2, 'c', 3), struct(NULL, 'y'), array(), '{}', X'', '{"k": 3}'),
        (3L, NULL, 3, 2.0D, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)""",
    "u": """VALUES (1L, 'a', 1, array(1), 'p'), (1L, 'b', 5, array(), 'q'), (3L, 'c', NULL, NULL, NULL)""",
}


class Verdict(NamedTuple):
    """What Spark says of a statement; `columns` is empty where it refuses it."""

    sql: str
    columns: tuple[str, ...]


def statements() -> list[str]:
    """All of them, each once."""
    lines = [line for file in sorted(FOLDER.glob("*.sql")) for line in file.read_text().splitlines()]
    return list(dict.fromkeys(line for line in lines if line and not line.startswith("--")))


def recorded() -> dict[str, Verdict]:
    """Statement → what Spark said of it."""
    lines = (FOLDER / "spark.txt").read_text().splitlines()
    return {
        sql: Verdict(sql, () if said.strip() == REFUSED else tuple(said.strip().split("; ")))
        for sql, said in zip(lines[::2], lines[1::2], strict=True)
    }


def checked(sql: str) -> CheckedQuery:
    """The statement as a step would have it: analysed, classified, traced and compared.

    Raises:
        StreamhouseError: it is refused.
    """
    with guard_analysis(AT, "the SQL"):
        query = parse_query(sql, AT).copy()
        read = {table.name.lower() for table in query.find_all(exp.Table)}
        ports = {
            name: ActionPort(tuple(Column(name=n, type=kind) for n, kind in columns.items()), {}, key=("id",))
            for name, columns in TABLES.items()
            if name in read
        }
        found = analyse(query, ports, sql, AT)
        info = InputInfo(append_only=False, mode=ReadMode.CHANGES, primary_key=("id",))
        with suppress(StrategyError):  # rows of the result that cannot be replaced
            classify(found, dict.fromkeys(ports, info), primary_key=(found.columns[0].name,), at=AT)
        lineage(found)
        canonical(found.sql, {name: CanonicalInput(name, port.bound, "changes") for name, port in ports.items()})
        return found


def shown(query: CheckedQuery) -> tuple[str, ...]:
    """The columns of a query, as `spark.txt` has them."""
    return tuple(f"{column.name.lower()} {column.type}" for column in query.columns)
