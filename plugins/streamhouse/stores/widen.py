"""What it means for a stored table to become a wider one; pure."""

from collections.abc import Sequence

from streamhouse.errors import SchemaConflictError
from streamhouse.model.table import Column, Table


def missing(table: Table, stored: Sequence[Column]) -> tuple[Column, ...]:
    """The columns of `table` that are not `stored`, by name.

    Raises:
        SchemaConflictError: a column is stored with another type, or a key column is not stored.
    """
    types = {column.name: column.type for column in stored}
    changed = [c for c in table.columns if types.get(c.name, c.type) != c.type]
    if changed:
        differences = ", ".join(f"{c.name} is {types[c.name]}, the plan has {c.type}" for c in changed)
        raise SchemaConflictError(
            f"{table.name} is stored with other types: {differences}",
            hint="columns can be added only; drop the table and fill it again, or give the new one another name",
        )
    if late := [name for name in table.primary_key if name not in types]:
        raise SchemaConflictError(f"{', '.join(late)} cannot be added to the primary key of {table.name}")
    return tuple(column for column in table.columns if column.name not in types)


def with_columns(table: Table, stored: Sequence[Column]) -> Table:
    """`table` as it would be with the `stored` columns: what else it has is to be compared."""
    names = {column.name for column in stored}
    merge = {name: how for name, how in table.merge.items() if name in names}
    return table.model_copy(update={"columns": tuple(stored), "merge": merge})
