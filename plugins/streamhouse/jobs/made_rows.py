"""Rows made up for tables that have none yet: the same each time, with NULLs, ties, partners, values at thresholds."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import TYPE_CHECKING, Any

from streamhouse.model.table import Column, Table
from streamhouse.planner.catalog import Catalog
from streamhouse.stores.arrow import arrow_schema

if TYPE_CHECKING:
    import pyarrow as pa

ROWS = 120
"""Of each table."""

_NULL_EACH = 9  # one value of so many of a nullable column
_WHOLE = ("tinyint", "smallint", "int", "bigint")
_WORDS = ("north", "south", "East Side", "west", "Centre")
_BEGIN = datetime(2025, 3, 1, 7, 30, tzinfo=UTC)
_LARGEST = {"tinyint": 127, "smallint": 32_767, "int": 2_147_483_647}


def generate_rows(tables: Iterable[Table], catalog: Catalog, constants: Sequence[Any] = ()) -> "dict[str, pa.Table]":
    """Table → rows. Equal tables and constants give equal rows.

    Args:
        tables: Rows of a table that points to another one of these find partners there, most of them.
        catalog: Knows keys between tables, and known values.
        constants: That a query compares with: some rows have these values, and some have values next to them.
    """
    import pyarrow as pa

    wanted = sorted(tables, key=lambda table: table.name)
    pools = {table.name: _Pools(table, catalog, constants) for table in wanted}
    partners = _partners(catalog, pools)
    rows_by_table: dict[str, pa.Table] = {}
    for table in wanted:
        chance = Random(table.name)
        columns = {c.name: _column(partners, pools, table, c, chance) for c in table.columns}
        rows_by_table[table.name] = pa.table(columns, schema=arrow_schema(table.columns))
    return rows_by_table


def _partner(
    partners: Mapping[tuple[str, str], tuple[str, str]],
    pools: Mapping[str, "_Pools"],
    table: Table,
    column: Column,
    chance: Random,
) -> Any:
    to, other = partners[table.name, column.name]
    target = pools[to].table.column(other)
    return pools[to].key(target, chance.randrange(ROWS + ROWS // 10))  # some have no partner


class _Pools:
    """Values for the columns of one table."""

    def __init__(self, table: Table, catalog: Catalog, constants: Sequence[Any]) -> None:
        self.table = table
        known = catalog.tables.get(table.name)
        self._texts = {column.name: tuple(column.values) for column in known.columns} if known is not None else {}
        self._numbers = [Decimal(str(c)) for c in constants if isinstance(c, int | float | Decimal) and c is not True]
        self._words = [c for c in constants if isinstance(c, str)]
        self._times = [_aware(c) for c in constants if isinstance(c, date)]  # a datetime is one

    def key(self, column: Column, row: int) -> Any:
        """The value of a key in a row: another one in each."""
        if column.type in _WHOLE:
            return row % (_LARGEST.get(column.type, ROWS * 2) + 1)
        if column.type == "string":
            texts = self._texts.get(column.name, ())
            return texts[row] if row < len(texts) else f"{column.name}-{row}"
        return _typed(
            column.type, _BEGIN + timedelta(hours=row), Decimal(row), f"{column.name}-{row}", flag=row % 2 == 0
        )

    def value(self, column: Column, chance: Random) -> Any:
        """Any value of a column."""
        key = column.name in self.table.primary_key
        if column.nullable and not key and chance.randrange(_NULL_EACH) == 0:
            return None
        text = chance.choice([*(self._texts.get(column.name) or _WORDS), *self._words])
        number = Decimal(chance.choice([*range(12), 50, 100, 999, 10_000]))
        if self._numbers and chance.random() < 0.5:
            number = chance.choice(self._numbers) + chance.choice([-1, 0, 1])
        at = _BEGIN + timedelta(minutes=37 * chance.randrange(240))
        if self._times and chance.random() < 0.7:
            at = chance.choice(self._times) + timedelta(hours=chance.choice([-30, -1, 0, 1, 30]))
        return _typed(column.type, at, number, text, flag=chance.random() < 0.5)


def _aware(at: date) -> datetime:
    if isinstance(at, datetime):
        return at if at.tzinfo else at.replace(tzinfo=UTC)
    return datetime(at.year, at.month, at.day, tzinfo=UTC)


def _typed(kind: str, at: datetime, number: Decimal, text: str, *, flag: bool) -> Any:
    """One of some values, as a column of a type has it; None: no value of that type is made up."""
    if kind in _WHOLE:
        most = _LARGEST.get(kind, 1 << 62)
        return max(-most, min(most, int(number)))
    if kind.startswith("decimal"):
        digits, _, scale = kind.removeprefix("decimal(").removesuffix(")").partition(",")
        bound = Decimal(10) ** (int(digits) - int(scale or 0)) - 1
        return max(-bound, min(bound, number)).quantize(Decimal(1).scaleb(-int(scale or 0)))
    values = {
        "double": float(number),
        "float": float(number),
        "string": text,
        "boolean": flag,
        "date": at.date(),
        "timestamp": at,
        "timestamp_ntz": at.replace(tzinfo=None),
        "binary": text.encode(),
    }
    return values.get(kind)


def _partners(catalog: Catalog, known: Collection[str]) -> dict[tuple[str, str], tuple[str, str]]:
    """Table and column → table and column that it points to, where both tables are known."""
    return {
        (key.table, column): (key.to, other)
        for key in catalog.keys
        if key.table in known and key.to in known and len(key.columns) == 1
        for column, other in zip(key.columns, key.to_columns, strict=True)
    }


def _column(
    partners: Mapping[tuple[str, str], tuple[str, str]],
    pools: Mapping[str, _Pools],
    table: Table,
    column: Column,
    chance: Random,
) -> list[Any]:
    pool = pools[table.name]
    if table.primary_key and column.name == table.primary_key[0]:
        return [pool.key(column, row) for row in range(ROWS)]
    if (table.name, column.name) in partners:
        return [_partner(partners, pools, table, column, chance) for _ in range(ROWS)]
    return [pool.value(column, chance) for _ in range(ROWS)]
