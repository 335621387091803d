"""The page on types of `docs/reference/`: how each tier stores each type of Spark SQL."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from streamhouse.model.table import NO_KEY_TYPES, PARTITION_TYPES, Column, Table, Tiers
from streamhouse.sql.types import widens
from streamhouse.stores.arrow import arrow_schema, arrow_type
from streamhouse.stores.fluss.ddl import describe_type
from streamhouse.stores.iceberg.statements import storage_type

ABOUT_TYPES = """A table has types of Spark SQL. Each tier stores them in types of its own; readers get the same values.

- Where a flow or the header of an action declares a type, case makes no difference, and Spark's other words
  are taken: `long`, `short`, `byte`, `integer`, `real`, `dec`, `numeric`, `timestamp_ltz`, and `varchar(n)`, which
  is a `string`: no table keeps the length. A type of another system, such as `int8`, `text` or `datetime`, is
  refused, and the hint has the word to write.
- A `timestamp` is an instant. A `timestamp_ntz` is a date and a time of day without a zone. Both have microseconds.
  A hot table with a primary key has a `timestamp_ntz` as the instant of UTC with its digits, and the comment of the
  column says so.
- No table can hold `variant`, `interval`, `time`, `void`, `geometry` or `char(n)`.
- Types of sources: [PostgreSQL](../postgres.md#types), [MariaDB and MySQL](../mariadb.md#types),
  [topics and files](../sources.md)."""
_SHOWN = (
    *("boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "decimal(12,2)", "string", "binary"),
    *("date", "timestamp", "timestamp_ntz", "array<int>", "map<string,bigint>", "struct<a:int,b:string>"),
)
_HEAD = """\
| type | Fluss (hot) | Paimon (warm) | Iceberg (cold) | Arrow (in Python) | primary key | `partition_by` |
|---|---|---|---|---|---|---|"""
_WIDER = """\
## A wider type

Where a column gets one of these types, the stored rows stay as they are. `streamhouse plan` says what any
other change of a type does.

| from | to |
|---|---|"""


def types() -> Iterator[str]:
    """How each tier stores each type, what it may be part of, and which changes leave rows as they are."""
    yield "\n".join([_HEAD, *(f"| {' | '.join(_cells(name))} |" for name in _SHOWN)])
    wider = {one: [f"`{other}`" for other in _SHOWN if widens(one, other)] for one in _SHOWN}
    wider["decimal(12,2)"] = ["a decimal with more digits, and as many behind the point"]
    yield "\n".join([_WIDER, *(f"| `{one}` | {', '.join(to)} |" for one, to in wider.items() if to)])


def _cells(name: str) -> Iterator[str]:
    column = Column(name="c", type=name)
    in_fluss = json.loads(describe_type(Table(name="dwd.t", columns=(column,), tiers=Tiers(hot="7d")), column))
    for stored in (name, _of_fluss(in_fluss), _of_paimon(column), _of_iceberg(storage_type(name)), arrow_type(name)):
        yield f"`{stored}`"
    yield "no" if name.startswith(NO_KEY_TYPES) else "yes"
    yield "yes" if name in PARTITION_TYPES else "no"


def _of_fluss(described: dict[str, Any]) -> str:
    """A type of Fluss as its own tools show it."""
    kind = described["type"]
    if kind == "DECIMAL":
        return f"DECIMAL({described['precision']},{described['scale']})"
    fields = [f"{one['name']} {_of_fluss(one['field_type'])}" for one in described.get("fields", ())]
    parts = [_of_fluss(described[part]) for part in ("element_type", "key_type", "value_type") if part in described]
    if inner := ", ".join((*fields, *parts)):
        return f"{kind}<{inner}>"
    return f"{kind}({described['precision']})" if "precision" in described else str(kind)


def _of_paimon(column: Column) -> str:
    from pypaimon.schema.data_types import PyarrowFieldParser

    (field,) = PyarrowFieldParser.to_paimon_schema(arrow_schema([column]))
    return str(field.type)


def _of_iceberg(name: str) -> str:
    """The type of Iceberg for a type that it stores; numbers of fields are left out."""
    from pyiceberg.io.pyarrow import _ConvertToIcebergWithoutIDs, visit_pyarrow

    (field,) = visit_pyarrow(pa.schema([("c", arrow_type(name))]), _ConvertToIcebergWithoutIDs()).fields
    return re.sub(r"-1: (\w+): optional ", r"\1: ", str(field.field_type))
