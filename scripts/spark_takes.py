"""Ask Spark which kinds of values its functions take, and write `plugins/streamhouse/sql/spark_takes.json`.

    .venv/bin/python scripts/spark_takes.py

Each function is analysed with a value of each kind in each place, beside values that make the call a right one. The
result is by node class and argument of the parser, for that is where an analysis finds the value.
"""

import json
import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from streamhouse.errors import Location, SqlSyntaxError
from streamhouse.sql import functions
from streamhouse.sql.arity import ARITY
from streamhouse.sql.dialect import parse_query

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KINDS = {
    "int": "int",
    "bigint": "bigint",
    "decimal": "decimal(10,2)",
    "double": "double",
    "string": "string",
    "timestamp": "timestamp",
    "timestamp_ntz": "timestamp_ntz",
    "date": "date",
    "boolean": "boolean",
    "binary": "binary",
    "array": "array<int>",
    "map": "map<string,int>",
    "struct": "struct<x:int,y:string>",
}
BESIDE = ("NULL", "1", "'x'", "`array`", "`map`", "array('x')", "true", "`date`", "0.5")
_BESIDE_ITSELF = ("NULL", "1", "'x'", "'hex'")
CONSTANT = "constant"
_FIRST = ("NULL", "1", "'x'", "`array`", "`map`", "true", "0.5")
_CONSTANTS = ("1", "'x'", "true", "0.5", "0.5D", "'YEAR'")
_OTHERS = functions.GENERATORS | functions.CLOCKS | functions.TIME_WINDOWS
_MOST = 3  # arguments
_ELEMENTS = frozenset({"`array`", "`map`", "array('x')"})
_NESTED = frozenset({"array", "map", "struct"})
_ENOUGH = 3  # right calls for each place
_THREADS = 8  # a question takes longer on its way than in Spark
_SHARED = frozenset({"Cast", "TryCast", "Bracket", "If", "Map", "if", "decode"}) | {
    f"try_make_timestamp{kind}" for kind in ("", "_ltz", "_ntz")
}
"""Nodes that stand for more than these functions, or whose meaning follows from the number of their arguments."""


def places(name: str, count: int) -> dict[int, str]:
    """Place of an argument in the text → its name in the parser's node, after the node's class."""
    try:
        call = parse_query(f"SELECT {name}({', '.join(f'c{i}' for i in range(count))})", Location("a")).selects[0]
    except (SqlSyntaxError, IndexError):
        return {}
    found = {}
    of = f"{type(call).__name__}" if not isinstance(call, exp.Anonymous) else name
    for key, value in call.args.items():
        for i, part in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(part, exp.Column) and part.name.startswith("c"):
                found[int(part.name[1:])] = f"{of}.{key}.{i}" if isinstance(value, list) else f"{of}.{key}"
    return found


def takes(spark: "SparkSession", name: str, count: int, place: int) -> set[str]:
    """The kinds that Spark takes in one place; only `CONSTANT` where it takes no column."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    over = " OVER (ORDER BY `int`)" if name in functions.RANKS | {"lag", "lead"} else ""

    def ok(arguments: list[str]) -> bool:
        try:
            spark.sql(f"SELECT {name}({', '.join(arguments)}){over} AS x FROM r").schema  # noqa: B018
        except (PySparkException, Py4JJavaError):  # the second where Spark's analysis ends with an error of its own
            return False
        return True

    taken: set[str] = set()
    right = 0
    constants = False
    for beside in product(BESIDE, repeat=count - 1):
        others = list(beside)
        if not any(ok([*others[:place], value, *others[place:]]) for value in _FIRST):
            continue  # hardly any value makes this call a right one
        found = {kind for kind in KINDS.keys() - taken if ok([*others[:place], f"`{kind}`", *others[place:]])}
        if not found and not taken:
            constants = constants or any(ok([*others[:place], value, *others[place:]]) for value in _CONSTANTS)
        right += bool(found)
        if right == _ENOUGH:
            break
        if _ELEMENTS.intersection(others) and not found <= _NESTED:
            return set()  # what is taken follows from the type of an element
        taken |= found
    for kind in KINDS.keys() - taken:  # two binary values may go together where one beside a text does not
        alike = product((f"`{kind}`", *_BESIDE_ITSELF), repeat=count - 1)
        if any(ok([*others[:place], f"`{kind}`", *others[place:]]) for others in alike):
            taken.add(kind)
    return taken or ({CONSTANT} if constants else set())


def table(spark: "SparkSession") -> Iterator[tuple[str, set[str]]]:
    """Argument of a node → the kinds that are taken there."""
    asked = []
    for name in sorted(functions.KNOWN - _OTHERS):
        fewest, most = ARITY.get(name, (1, 1))
        for count in range(max(fewest, 1), min(most if most is not None else fewest, _MOST) + 1):
            for place, argument in places(name, count).items():
                if argument.partition(".")[0] not in _SHARED:
                    asked.append((argument, name, count, place))
    with ThreadPoolExecutor(_THREADS) as threads:
        found = [(one[0], threads.submit(takes, spark, *one[1:])) for one in asked]
        for argument, taken in found:
            yield argument, taken.result()


def main() -> None:
    """Write the table."""
    from pyspark.sql import SparkSession

    logging.disable(logging.CRITICAL)
    spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    columns = ", ".join(f"`{name}` {kind}" for name, kind in KINDS.items())
    spark.createDataFrame([], columns).createOrReplaceTempView("r")
    found: dict[str, set[str]] = {}
    for argument, kinds in table(spark):
        found.setdefault(argument, set()).update(kinds)
    # An argument that takes everything says nothing, and one that takes nothing was never in a right call.
    told = {name: " ".join(sorted(kinds)) for name, kinds in sorted(found.items()) if 0 < len(kinds) < len(KINDS)}
    path = Path(__file__).parents[1] / "plugins/streamhouse/sql/spark_takes.json"
    path.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
