"""Actions that put beside the rows of a table the columns of the tables that its foreign keys name. Pure."""

from collections.abc import Collection, Iterator, Sequence
from itertools import count

from sqlglot import exp

from streamhouse.model.types import Layer
from streamhouse.planner.action_text import NewAction
from streamhouse.planner.found_tables import FoundKey
from streamhouse.planner.imported_tables import ImportedTable, points_to
from streamhouse.sql.dialect import quote_names

_KEY_WORDS = ("_id", "_code", "_key", "_no", "_number", "_uuid", "_fk")


def joined_actions(
    tables: Sequence[ImportedTable], taken: Collection[str]
) -> Iterator[tuple[ImportedTable, NewAction]]:
    """The tables with foreign keys to others of them, each with an action that joins those.

    Args:
        tables: Of one flow.
        taken: Names of actions that exist.
    """
    for table in tables:
        keys = [(key, to) for key in table.found.foreign_keys if (to := points_to(table, key, tables)) is not None]
        others = [(key, to) for key, to in keys if to is not table and len(to.columns) > len(key.columns)]
        if others:
            name = f"{table.source}_joined"
            yield table, _action(table, others, name if name not in taken else f"imported_{name}")


def _action(table: ImportedTable, others: Sequence[tuple[FoundKey, ImportedTable]], name: str) -> NewAction:
    query = exp.select(*(exp.column(column.name, table.source) for column in table.columns))
    query = query.from_(exp.to_table(table.source))
    names = {column.name.lower() for column in table.columns}
    inputs = {table.source: table.types}
    aliases = {table.source}
    for key, to in others:
        alias = _alias(key, to, aliases)
        aliases.add(alias)
        pairs = zip(key.columns, key.to_columns, strict=True)
        conditions = [exp.column(theirs, alias).eq(exp.column(own, table.source)) for own, theirs in pairs]
        query = query.join(exp.to_table(to.source, alias=alias), on=exp.and_(*conditions), join_type="left")
        for column in to.columns:
            if column.name not in key.to_columns:
                shown = _shown(column.name, alias, names)
                names.add(shown.lower())
                query = query.select(exp.alias_(exp.column(column.name, alias), shown))
        inputs[to.source] = to.types
    quote_names(query)
    description = f"{table.source}, with the columns of {', '.join(dict.fromkeys(to.source for _, to in others))}."
    reads = {port: f"ods.{port}" for port in inputs}
    return NewAction(name, Layer.DWD, description, query, inputs, reads, {}, table.found.primary_key, table.event_time)


def _alias(key: FoundKey, to: ImportedTable, taken: Collection[str]) -> str:
    """What the row is called that a key names: `customer` of `customer_id`."""
    column = key.columns[0].lower()
    word = next((column.removesuffix(ending) for ending in _KEY_WORDS if column.endswith(ending)), to.source)
    first = word if len(key.columns) == 1 else to.source
    return next(name for name in _numbered(first) if name not in taken)


def _shown(column: str, alias: str, taken: Collection[str]) -> str:
    first = column if column.lower().startswith(f"{alias}_") else f"{alias}_{column}"
    return next(name for name in _numbered(first) if name.lower() not in taken)


def _numbered(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name}_{number}" for number in count(2))
