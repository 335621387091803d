"""What the metadata of an Iceberg table has: its key, its columns with the types they were made with, its shape."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from streamhouse.errors import SchemaConflictError
from streamhouse.model.shape import SeenColumn, Shape
from streamhouse.model.table import Column, Table
from streamhouse.model.types import Tier
from streamhouse.sql.types import canonical_type
from streamhouse.stores.iceberg import statements
from streamhouse.stores.iceberg.java import IcebergJava, each

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

KEY, TYPES = "streamhouse.primary-key", "streamhouse.types"
"""Properties of a table: its primary key, and the types that Iceberg widens by column, both as JSON."""


def table_properties(table: Table) -> dict[str, str]:
    """Properties that have the key and the types of a new table."""
    return {KEY: json.dumps(table.primary_key), TYPES: json.dumps(_hidden_types(table.columns))}


def types_with(stored: Any, columns: Sequence[Column]) -> str | None:
    """The property `TYPES` when columns are added; None: it stays as it is."""
    known = _types(stored)
    types = known | _hidden_types(columns)
    return json.dumps(types) if types != known else None


def key_of(stored: Any) -> tuple[str, ...]:
    """The primary key; empty: it has none."""
    return tuple(json.loads(stored.properties().get(KEY) or "[]"))


def shown_columns(schema: "StructType", stored: Any) -> tuple[Column, ...]:
    """Columns as the plan made them: Iceberg holds some in a wider type.

    Args:
        schema: Of the table, as Spark reads it.
        stored: The table.
    """
    written = _types(stored)

    def shown(name: str, kind: str) -> str:
        wanted = written.get(name, kind)
        return wanted if statements.storage_type(wanted) == kind else kind

    return tuple(Column(name=f.name, type=shown(f.name, canonical_type(f.dataType.simpleString()))) for f in schema)


def identify(java: IcebergJava, table: Table, stored: Any) -> None:
    """Tell other engines the key: identifier fields, which are required."""
    floating = any(table.column(name).type in ("float", "double") for name in table.primary_key)
    if not table.primary_key or table.null_keys or floating or not stored.schema().identifierFieldIds().isEmpty():
        return  # Iceberg takes no floating-point numbers there, and no column with NULL
    update = stored.updateSchema().allowIncompatibleChanges()  # no row has NULL in its key
    for name in table.primary_key:
        if stored.schema().findField(name).isOptional():
            update.requireColumn(name)
    update.setIdentifierFields(java.texts(table.primary_key)).commit()


def optional(table: Table, stored: Any) -> list[str]:
    """The columns of `table.null_keys` in which the stored table takes NULL; one that was made before takes none."""
    return [name for name in table.null_keys if stored.schema().findField(name).isOptional()]


def stored_version(stored: Any) -> str:
    """Another one whenever the shape may be another one."""
    return f"{stored.uuid()}.{stored.schema().schemaId()}.{stored.spec().specId()}"


def shape_of(name: str, tier: Tier, stored: Any, columns: Sequence[Column]) -> Shape:
    """The shape of a table that has these columns."""
    return Shape(
        object=name,
        tier=tier,
        identity=str(stored.uuid()),
        version=stored_version(stored),
        columns=tuple(
            SeenColumn(
                name=column.name,
                type=column.type,
                nullable=bool(field.isOptional()),
                id=str(field.fieldId()),
                comment=field.doc() or "",
            )
            for column, field in zip(columns, stored.schema().columns(), strict=True)
        ),
        primary_key=key_of(stored),
        layout=str(stored.spec().toString()),
    )


def refuse_difference(table: Table, stored: Any, columns: Sequence[Column]) -> None:
    """Compare a table with the plan.

    Raises:
        SchemaConflictError: they differ in columns, key or partitions.
    """
    have = [(c.name, c.type) for c in columns]
    wanted = [(c.name, c.type) for c in table.columns]
    by = tuple(field.name() for field in each(stored.spec().fields()))
    for what, ours, theirs in (
        ("columns", wanted, have),
        ("primary key", table.primary_key, key_of(stored)),
        ("partitions by", table.partition_by, by),
    ):
        if ours != theirs:
            raise SchemaConflictError(
                f"Iceberg holds {table.name} with {what} {theirs}, the plan has {ours}",
                hint="drop the table and fill it again, or give the new one another name",
            )


def _types(stored: Any) -> dict[str, str]:
    types: dict[str, str] = json.loads(stored.properties().get(TYPES) or "{}")
    return types


def _hidden_types(columns: Sequence[Column]) -> dict[str, str]:
    """The types that Iceberg widens, by column."""
    return {c.name: c.type for c in columns if statements.storage_type(c.type) != c.type}
