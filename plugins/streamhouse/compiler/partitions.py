"""Checks the partitions that a flow names for a table; pure."""

from collections.abc import Iterable

from streamhouse.errors import Location, PartitionError, StreamhouseError, UnknownColumnError, did_you_mean
from streamhouse.model.table import PARTITION_TYPES, Column, TableOptions


def partition_errors(
    table: str, options: TableOptions, columns: Iterable[Column], primary_key: tuple[str, ...], at: Location
) -> list[StreamhouseError]:
    """What keeps a table from being partitioned as its flow says; empty when it says nothing.

    Args:
        table: Name.
        options: Of the table.
        columns: Of the table.
        primary_key: Of the table; empty: it is a log.
        at: Where the flow says it.
    """
    types = {column.name: column.type for column in columns}
    errors: list[StreamhouseError] = []
    for name in (name.lower() for name in options.partition_by):
        if name not in types:
            known = f"output columns: {', '.join(types)}"
            errors.append(
                UnknownColumnError(
                    f"partition_by names '{name}', which is no output column",
                    at=at,
                    hint=did_you_mean(name, list(types), known),
                )
            )
        elif types[name] not in PARTITION_TYPES:
            errors.append(
                PartitionError(
                    f"{table} cannot be partitioned by {name}, which is {types[name]}",
                    at=at,
                    hint=f"a partition is one of {', '.join(PARTITION_TYPES)}: add a column such as "
                    f"CAST({name} AS DATE) AS {name}_day"
                    if types[name].startswith("timestamp")
                    else f"a partition is one of {', '.join(PARTITION_TYPES)}",
                )
            )
        elif primary_key and name not in primary_key:
            errors.append(
                PartitionError(
                    f"{table} cannot be partitioned by {name}, which is not part of its primary key",
                    at=at,
                    hint=f"rows of one key must stand in one partition; the primary key is: {', '.join(primary_key)}",
                )
            )
        elif name in (key.lower() for key in options.bucket_key):
            errors.append(
                PartitionError(
                    f"{table} has {name} in bucket_key and in partition_by",
                    at=at,
                    hint="all rows of a partition have the same value there, and so the same bucket: "
                    "leave it out of bucket_key",
                )
            )
    if not errors and primary_key and set(primary_key) == {name.lower() for name in options.partition_by}:
        errors.append(
            PartitionError(
                f"{table} is partitioned by its whole primary key, so each partition would have one row",
                at=at,
                hint="leave a column of the key out of partition_by",
            )
        )
    return errors
