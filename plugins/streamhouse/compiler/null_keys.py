"""Which columns of a table's key may be NULL; pure."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from sqlglot import exp

from streamhouse.errors import (
    Location,
    OutputColumnError,
    StrategyError,
    StreamhouseError,
    TypeMismatchError,
)
from streamhouse.model.action import Expectation
from streamhouse.model.table import NULL_BITS, Column
from streamhouse.sql.dialect import parse_condition
from streamhouse.sql.schema import CheckedQuery
from streamhouse.sql.totals import totals_like_nulls

_MOST = 63  # bits of a bigint that has no sign


def null_keys(key: Sequence[str], columns: Collection[Column], expect: Mapping[str, Expectation]) -> tuple[str, ...]:
    """The columns of the key in which a row of the result may have NULL, and is written with it.

    NULL is a value of a key like any other, also of one that is only declared: of the rows that have it, the last wins.

    Args:
        key: Primary key of the table; of a log the columns that it is partitioned by.
        columns: Of the result, as its SQL gives them.
        expect: Of the step: a condition that keeps NULL out of the table counts.
    """
    may_be = {column.name for column in columns if column.nullable} - _kept_out(expect)
    return tuple(name for name in key if name in may_be)


def null_key_errors(
    table: str,
    key: Collection[str],
    nulls: Sequence[str],
    columns: Collection[Column],
    at: Location,
) -> Iterator[StreamhouseError]:
    """What keeps a table from having NULL in its key.

    Args:
        table: Its name.
        key: As of `null_keys`.
        nulls: From `null_keys`.
        columns: All of them.
        at: Where the flow says something of the table.
    """
    if any(column.name == NULL_BITS for column in columns):
        cause = f"{table} has a column {NULL_BITS}, a name that stores need for themselves"
        yield OutputColumnError(cause, at=at, hint="give the column another name")
    if nulls and len(key) > _MOST:
        cause = f"{table} has a key of {len(key)} columns of which {nulls[0]} may be NULL, and stores take {_MOST} then"
        yield TypeMismatchError(cause, at=at, hint="give them a value by COALESCE in SELECT and GROUP BY")


def total_errors(
    table: str, query: CheckedQuery, key: Collection[str], nulls: Collection[str], at: Location
) -> Iterator[StreamhouseError]:
    """Columns of the key by which a total and the group of NULL would be one row; at the SQL.

    Args:
        table: Its name.
        query: Of the step.
        key: Primary key.
        nulls: From `null_keys`.
        at: Of the SQL.
    """
    for name in (name for name in totals_like_nulls(query, key) if name in nulls):
        cause = f"the key of {table} has {name}, which is NULL in a total and may be NULL in a row: both have one key"
        hint = f"add GROUPING({name}) to SELECT and to the primary key, or group by COALESCE({name}, …) in a subquery"
        yield StrategyError(cause, at=at, hint=hint)


def _kept_out(expect: Mapping[str, Expectation]) -> set[str]:
    """Columns without NULL in every row that the expectations let into the table."""
    found = set()
    for rule in expect.values():
        condition = parse_condition(rule.check, Location(""))
        parts = condition.flatten() if isinstance(condition, exp.And) else [condition]
        for part in (part.unnest() for part in parts if rule.on_violation != "warn"):
            test = part.this.unnest() if isinstance(part, exp.Not) else None
            if isinstance(test, exp.Is) and isinstance(test.expression, exp.Null) and isinstance(test.this, exp.Column):
                found.add(test.this.name.lower())
    return found
