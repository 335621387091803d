"""Columns from what a test writes."""

from collections.abc import Mapping

from streamhouse.model.table import Column
from streamhouse.sql.types import canonical_type, split_not_null


def columns_of(types: Mapping[str, str]) -> tuple[Column, ...]:
    """Column → its type, which may say `not null`."""
    split = {name: split_not_null(text) for name, text in types.items()}
    return tuple(
        Column(name=name, type=canonical_type(kind), nullable=not required) for name, (kind, required) in split.items()
    )
