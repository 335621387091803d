"""What it means for a stored table to become a wider one; pure."""

from streamhouse.errors import SchemaConflictError
from streamhouse.model.table import Column, Table


def as_narrow_as(table: Table, stored: int) -> Table:
    """`table` with its first `stored` columns only: what must be stored for the rest to be an addition.

    Raises:
        SchemaConflictError: `table` has fewer columns, or a key column among the rest.
    """
    if len(table.columns) < stored:
        raise SchemaConflictError(
            f"{table.name} is stored with {stored} columns, the plan has {len(table.columns)}",
            hint="columns can be added only; drop the table and fill it again, or give the new one another name",
        )
    columns = table.columns[:stored]
    names = {column.name for column in columns}
    if late := [name for name in table.primary_key if name not in names]:
        raise SchemaConflictError(f"{', '.join(late)} cannot be added to the primary key of {table.name}")
    merge = {name: how for name, how in table.merge.items() if name in names}
    return table.model_copy(update={"columns": columns, "merge": merge})


def added(table: Table, stored: int) -> tuple[Column, ...]:
    """The columns of `table` behind the first `stored` ones."""
    return table.columns[stored:]
