"""Statements with a value of every type in every place: what parses, and is right or wrong by its types alone."""

from collections.abc import Iterator

from streamhouse.sql import functions
from streamhouse.sql.arity import ARITY

COLUMNS = {
    "i": "int",
    "b": "bigint",
    "s": "string",
    "d": "decimal(10,2)",
    "t": "timestamp",
    "n": "timestamp_ntz",
    "dt": "date",
    "f": "float",
    "o": "boolean",
    "bi": "binary",
    "arr": "array<int>",
    "ars": "array<string>",
    "m": "map<string,int>",
    "st": "struct<x:int,y:string>",
}
_CASTS = ("tinyint", *COLUMNS.values(), "map<string,string>", "struct<x:bigint,y:string>", "struct<x:int>")
_OPERATORS = ("+", "-", "*", "/", "%", "=", "<>", "<", "<=>", "AND", "OR", "||", "&", "|", "DIV", "LIKE", "RLIKE")
_OTHERS = functions.GENERATORS | functions.CLOCKS | functions.TIME_WINDOWS
_PLACES = (
    "SELECT -{c} AS x FROM r",
    "SELECT NOT {c} AS x FROM r",
    "SELECT ~{c} AS x FROM r",
    "SELECT i FROM r WHERE {c}",
    "SELECT IF({c}, 1, 2) AS x FROM r",
    "SELECT CASE WHEN {c} THEN 1 END AS x FROM r",
    "SELECT CASE {c} WHEN 1 THEN 1 END AS x FROM r",
    "SELECT CASE {c} WHEN 'x' THEN 1 END AS x FROM r",
    "SELECT i FROM r ORDER BY {c} LIMIT 3",
    "SELECT i FROM r ORDER BY sum(i) OVER (ORDER BY {c}) LIMIT 3",
    "SELECT {c} OR NULL AND {c} AS x FROM r",
    "SELECT o OR {c} OR {c} AS x FROM r",
    "SELECT o OR o OR {c} OR {c} AS x FROM r",
    "SELECT {c} OR o OR {c} OR {c} AS x FROM r",
    "SELECT {c}[0] AS x FROM r",
    "SELECT {c}['x'] AS x FROM r",
    "SELECT {c}.x AS x FROM r",
    "SELECT {c} IN (1, NULL) AS x FROM r",
    "SELECT {c} IN ('x') AS x FROM r",
    "SELECT {c} BETWEEN 1 AND 2 AS x FROM r",
    "SELECT coalesce({c}, 1) AS x FROM r",
    "SELECT sum(i) OVER (PARTITION BY {c}) AS x FROM r",
    "SELECT sum(i) OVER (ORDER BY {c}) AS x FROM r",
    "SELECT extract(YEAR FROM {c}) AS x FROM r",
    "SELECT count(*) AS x FROM r GROUP BY {c}",
    "SELECT DISTINCT {c} AS x FROM r",
    "SELECT filter({c}, q -> q) AS x FROM r",
    "SELECT transform({c}, q -> q) AS x FROM r",
    "SELECT exists({c}, q -> q > 1) AS x FROM r",
    "SELECT {c} + INTERVAL 1 DAY AS x FROM r",
    "SELECT {c} IS TRUE AS x FROM r",
    "SELECT substring({c}, 1, 2) AS x FROM r",
    "SELECT i FROM r JOIN (SELECT 1 AS k) AS z ON {c}",
    "SELECT sum(i) FILTER (WHERE {c}) AS x FROM r",
    "SELECT i FROM r WHERE {c} IN (SELECT 1)",
    "SELECT i FROM r WHERE {c} = (SELECT 1)",
    "SELECT {c} AS x FROM r UNION ALL SELECT 1",
    "SELECT max({c}) AS x FROM r",
    "SELECT position('x' IN {c}) AS x FROM r",
)


def odd_calls() -> Iterator[str]:
    """All of them, over a table `r` with `COLUMNS`."""
    for name in sorted(functions.KNOWN - _OTHERS):
        fewest, most = ARITY.get(name, (0, None))
        over = " OVER (ORDER BY i)" if name in functions.RANKS | {"lag", "lead"} else ""
        for column in COLUMNS:
            if fewest <= 1 and (most is None or most >= 1):
                yield f"SELECT {name}({column}){over} AS x FROM r"
            if fewest <= 2 and (most is None or most >= 2):
                for second in ("i", "s", "dt", "arr", "1", "'x'"):
                    yield f"SELECT {name}({column}, {second}){over} AS x FROM r"
    for column in COLUMNS:
        for kind in _CASTS:
            yield f"SELECT CAST({column} AS {kind}) AS x FROM r"
        for operator in _OPERATORS:
            for other in (*COLUMNS, "1", "'x'", "NULL"):
                yield f"SELECT {column} {operator} {other} AS x FROM r"
        yield from (place.format(c=column) for place in _PLACES)
