"""The files that a read of an Iceberg table opens, by its own planning."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any

from streamhouse.stores.base import DataFile, Partition
from streamhouse.stores.iceberg.java import IcebergJava, each
from streamhouse.stores.where import RowCondition, Value

_EPOCH = date(1970, 1, 1)
_METHODS = {"<": "lessThan", "<=": "lessThanOrEqual", ">": "greaterThan", ">=": "greaterThanOrEqual", "=": "equal"}


def planned(java: IcebergJava, table: Any, snapshot_id: int, where: Sequence[RowCondition]) -> list[DataFile]:
    """Data files, and the delete files that belong to them, each once."""
    scan = table.newScan().useSnapshot(snapshot_id).filter(expression(java, where))
    found: dict[str, DataFile] = {}
    kinds = [str(field.type()) for field in each(table.spec().partitionType().fields())]
    tasks = scan.planFiles()
    try:
        for task in each(tasks):
            for file in (task.file(), *each(task.deletes())):
                deletes = "DELETES" in str(file.content())
                path = str(file.location())
                found[path] = DataFile(
                    path,
                    int(file.recordCount()),
                    int(file.fileSizeInBytes()),
                    deletes=deletes,
                    partition=partition([file.partition().get(number) for number in range(len(kinds))], kinds),
                )
    finally:
        tasks.close()
    return list(found.values())


def expression(java: IcebergJava, where: Sequence[RowCondition]) -> Any:
    """Conditions that all hold, as Iceberg's Java takes them."""
    expressions = java.expressions
    whole = expressions.alwaysTrue()
    for one in where:
        if one.operator == "in":
            part = getattr(expressions, "in")(one.column, [literal(value) for value in one.values])
        elif one.operator in _METHODS:
            part = getattr(expressions, _METHODS[one.operator])(one.column, literal(one.values[0]))
        else:
            part = expressions.isNull(one.column) if one.operator == "is null" else expressions.notNull(one.column)
        whole = getattr(expressions, "and")(whole, part)
    return whole


def partition(stored: Sequence[Any], kinds: Sequence[str]) -> Partition:
    """The values that a file's partition stands for.

    Args:
        stored: As Iceberg has them: a date is days since 1970.
        kinds: Iceberg's type of each.
    """
    dates = [kind == "date" and value is not None for value, kind in zip(stored, kinds, strict=True)]
    return tuple(_EPOCH + timedelta(days=v) if is_date else v for v, is_date in zip(stored, dates, strict=True))


def literal(value: Value) -> Any:
    """As Iceberg's expressions take it: its dates and instants as ISO text."""
    if isinstance(value, datetime):
        return value.isoformat(timespec="microseconds")
    return value.isoformat() if isinstance(value, date) else value
