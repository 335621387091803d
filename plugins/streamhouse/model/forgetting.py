"""Persons whose rows are left out while tables are rebuilt, named by the values of a key."""

from collections.abc import Mapping

from streamhouse.model.types import Frozen


class KeyPart(Frozen):
    """One column of the key that names a person, as one table or source has it.

    Attributes:
        columns: A row is the person's if any of them has one of the values.
        values: As text; those of several persons, where the key has one column.
    """

    columns: tuple[str, ...]
    values: tuple[str, ...]


class Forgetting(Frozen):
    """Which rows are left out, of which tables and sources.

    Attributes:
        tables: Table, as people know it → the parts of the key; a row is left out if all of them match.
        sources: Flow → source of it → the same.
        copies: Tables whose other rows are copied as they are; the rest is computed again.
    """

    tables: Mapping[str, tuple[KeyPart, ...]]
    sources: Mapping[str, Mapping[str, tuple[KeyPart, ...]]]
    copies: frozenset[str] = frozenset()
