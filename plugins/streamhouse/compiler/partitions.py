"""Checks the partitions that a flow names for a table; pure."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta

from sqlglot import exp

from streamhouse.errors import Location, PartitionError, StreamhouseError
from streamhouse.model.action import Expectation
from streamhouse.model.notice import Notice
from streamhouse.model.table import PARTITION_TYPES, Column, Table, TableOptions
from streamhouse.model.types import Strategy, format_duration
from streamhouse.sql.classify import Classification
from streamhouse.sql.dialect import parse_condition
from streamhouse.sql.schema import CheckedQuery
from streamhouse.sql.word_bounds import WordBounds, bounds_of, listed_texts

_LONGEST_NAME = 200  # of a partition of Fluss
_LONGEST = {"date": 10, "int": 11, "bigint": 20}
_NAMES = WordBounds(1, _LONGEST_NAME, 1)
"""Of texts that Fluss names partitions by."""


def partition_errors(
    table: str, options: TableOptions, columns: Iterable[Column], primary_key: tuple[str, ...], at: Location
) -> list[StreamhouseError]:
    """What keeps a table from being partitioned as its flow says; empty when it says nothing.

    Args:
        table: Name.
        options: Of the table; `partition_by` names some of `columns`.
        columns: Of the table.
        primary_key: Of the table; empty: it is a log.
        at: Where the flow says it.
    """
    types = {column.name: column.type for column in columns}
    errors: list[StreamhouseError] = []
    for name in (name.lower() for name in options.partition_by):
        if types[name] not in PARTITION_TYPES:
            errors.append(_wrong_type(table, name, types[name], at))
        elif primary_key and name not in primary_key:
            cause = f"{table} cannot be partitioned by {name}, which is not part of its primary key"
            hint = f"rows of one key must stand in one partition; the primary key is: {', '.join(primary_key)}"
            errors.append(PartitionError(cause, at=at, hint=hint))
        elif name in (key.lower() for key in options.bucket_key):
            cause = f"{table} has {name} in bucket_key and in partition_by"
            same = "all rows of a partition have the same value there, and so the same bucket"
            errors.append(PartitionError(cause, at=at, hint=f"{same}: leave it out of bucket_key"))
    if not errors and primary_key and set(primary_key) == {name.lower() for name in options.partition_by}:
        cause = f"{table} is partitioned by its whole primary key, so each partition would have one row"
        errors.append(PartitionError(cause, at=at, hint="leave a column of the key out of partition_by"))
    return errors


def _wrong_type(table: str, name: str, kind: str, at: Location) -> PartitionError:
    hint = f"a partition is one of {', '.join(PARTITION_TYPES)}"
    if kind.startswith("timestamp"):
        hint += f": add a column such as CAST({name} AS DATE) AS {name}_day"
    return PartitionError(f"{table} cannot be partitioned by {name}, which is {kind}", at=at, hint=hint)


def name_errors(
    table: Table,
    query: CheckedQuery,
    expect: Mapping[str, Expectation],
    reads: Mapping[str, Iterable[str]],
    at: Location,
) -> list[StreamhouseError]:
    """The partition columns of a hot table whose texts may be such that Fluss names no partition by them.

    Fluss names a partition by the values of its rows, and its clients find the partition of a row by its values. So the
    values cannot be stored in another form than they are read in.

    Args:
        table: As its step writes it.
        query: That gives its rows.
        expect: What its action expects of them.
        reads: Port → columns of it whose texts name partitions of another hot table.
        at: Where the flow says how it is partitioned.
    """
    if table.tiers.hot is None or not table.named_by:
        return []
    known = {(port.lower(), name.lower()): _NAMES for port, names in reads.items() for name in names}
    conditions = [parse_condition(rule.check, at) for rule in expect.values() if rule.on_violation != "warn"]
    errors: list[StreamhouseError] = []
    longest = sum(_LONGEST.get(table.column(name).type, 0) for name in table.partition_by) + len(table.partition_by) - 1
    for name in table.named_by:
        bounds = listed_texts(conditions, exp.column(name)) or bounds_of(query, name, known)
        if bounds is None or bounds.fewest == 0 or bounds.underscores > 1 or bounds.most is None:
            why = _unlike_names(bounds)
            errors.append(
                PartitionError(f"{table.name} cannot be partitioned by {name}: {why}", at=at, hint=_hint(name))
            )
        else:
            longest += bounds.most
    if not errors and longest > _LONGEST_NAME:
        cause = (
            f"{table.name} is partitioned by values of up to {longest} letters, and the hot tier takes {_LONGEST_NAME}"
        )
        errors.append(PartitionError(cause, at=at, hint=_hint(table.named_by[0])))
    return errors


def _unlike_names(bounds: WordBounds | None) -> str:
    why = "it may have other letters than A-Z, a-z, 0-9, '-' and '_'"
    if bounds is not None:
        why = (
            "it may be empty"
            if bounds.fewest == 0
            else "it may begin with '__'"
            if bounds.underscores > 1
            else f"it may have more than {_LONGEST_NAME} letters"
        )
    return f"{why}, and the hot tier names no partition by such a text"


def _hint(name: str) -> str:
    return (
        f"partition by a column such as md5({name}), or a date; or let the action expect the texts that there are, "
        f"{{check: \"{name} IN ('a', 'b')\", on_violation: quarantine}}; or leave out the hot tier, "
        "tiers: {warm: forever}: the other tiers take every text"
    )


def refuse_lost_parts(table: Table, at: Location, *, shared: bool) -> None:
    """Do nothing when late rows of days that the first tier dropped find in it all that they need.

    Args:
        table: As its step writes it.
        at: Where the flow says how it is partitioned.
        shared: Whether several steps write columns of one row.

    Raises:
        PartitionError: they would be folded into, or compared with, nothing, and take the place of the whole row in
            the colder tiers.
    """
    first = table.tiers.target
    if table.keeps_all(first) or len(table.tiers.present) == 1 or not (table.merge or table.selects or shared):
        return
    how = "adds up rows of a key" if table.merge else "has several writers" if shared else f"is {table.merge_engine}"
    raise PartitionError(
        f"{table.name} {how}, and its {first} tier drops days: a late row would start again there, and replace "
        f"what the {table.tiers.present[-1]} tier has",
        at=at,
        hint=f"keep the first tier forever, '{first}: forever', or leave {table.ages_by} out of partition_by",
    )


def partial_reads(
    table: str, strategy: Strategy, forget: Mapping[str, timedelta | None], at: Location
) -> Iterator[Notice]:
    """What a person should know of a step that looks at rows its inputs may have dropped.

    Args:
        table: That the step writes.
        strategy: Of the step.
        forget: Table whose changes it reads → after what time days are dropped; None: they are not.
        at: Where the step stands.
    """
    if not strategy.reads_state:
        return
    for name, retention in forget.items():
        if retention is not None:
            text = f"{table} is made of what {name} holds, which drops days after {format_duration(retention)}"
            yield Notice(text, at, f"keep {name} forever in its first tier for results over all its rows")


def stale_rows(table: Table, how: Classification, at: Location) -> Iterator[Notice]:
    """What a person should know of a step that finds the rows that must go by those of its own first tier.

    The cached state has all rows that the step wrote. Where it is lost, it is read again from the first tier.

    Args:
        table: That the step writes.
        how: It is kept up to date.
        at: Where the step stands.
    """
    retention, tiers = table.forgets_after, table.tiers.present
    if retention is None or not table.primary_key or len(tiers) == 1 or not _by_own_rows(how):
        return
    text = (
        f"{table.name} drops days from its first tier after {format_duration(retention)}; after a loss of the cache, "
        f"rows of such days that leave the result stay in the tier {tiers[-1]}"
    )
    yield Notice(text, at, f"keep {table.name} forever in its first tier, and no row stays behind")


def _by_own_rows(how: Classification) -> bool:
    if how.strategy is Strategy.RECOMPUTE:
        return any(set(columns) != set(how.primary_key) for columns in how.key_columns.values())
    return how.strategy.sees_all
