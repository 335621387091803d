"""The text of a flow over tables of others: sources, steps into `ods`, and what their owner says of them. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from streamhouse.planner.action_text import NewAction
from streamhouse.planner.found_tables import FoundKey
from streamhouse.planner.imported_tables import ImportedTable, NotImported, described, points_to
from streamhouse.registry.yaml_edits.write import entry, item, prose, scalar

AS_IS = """\
/* ---
action: {name}
version: 1.0.0
step: ingest                        # → ods
description: Take every row as the source delivers it, with all its columns.
inputs:
  rows: {{}}                          # any columns
output: {{extra_columns: pass}}
--- */
SELECT *
FROM rows
"""
"""The action that takes all rows and columns of a source; `{name}` is its name."""


@dataclass(frozen=True)
class Ingest:
    """The action that reads each source.

    Attributes:
        name: Of the action.
        port: Its input.
    """

    name: str
    port: str = "rows"


def flow_text(
    name: str,
    description: str,
    ingest: Ingest,
    tables: Sequence[ImportedTable],
    refused: Sequence[NotImported],
    joins: Sequence[tuple[ImportedTable, NewAction]] = (),
) -> str:
    """The file of a flow that reads tables of others.

    Args:
        name: Of the flow.
        description: Of the flow.
        ingest: The action that reads each source.
        tables: One source, one step and one table in `ods` for each.
        refused: Tables that are named in a comment.
        joins: Tables with an action that writes their rows, with columns of others, into `dwd`.
    """
    lines = [*entry("flow", name), *prose("description", description)]
    lines += [_comment("left out: " + str(one)) for one in refused]
    lines += ["sources:", *(line for table in tables for line in _source(table))]
    lines += ["steps:"]
    for table in tables:
        step = {"use": ingest.name, "reads": {ingest.port: table.source}, "writes": table.table}
        lines += item(step, 2)
    for table, action in joins:
        lines += item({"use": action.name, "reads": dict(action.reads), "writes": f"dwd.{table.source}"}, 2)
    lines += [_comment(f"{table.table} {key}", 2) for table in tables for key in _unsaid(table, tables)]
    about = [line for table in tables for line in _about(table, tables)]
    return "\n".join([*lines, *(["tables:", *about] if about else [])]) + "\n"


def _source(table: ImportedTable) -> Iterator[str]:
    options: dict[str, Any] = dict(table.found.options)
    if table.found.primary_key:
        options["primary_key"] = list(table.found.primary_key)
    yield f"  {scalar(table.source)}:"
    yield f"    {table.found.kind}:"
    for key, value in options.items():
        yield from entry(key, value, 6)
    yield "      columns:"
    for column in table.columns:
        note = f"  # {_one_line(column.written)}: {column.why}" if column.why else ""
        yield f"        {scalar(column.name)}: {scalar(column.type)}{note}"
    yield from (_comment(f"left out: {one.column} ({one.type}): {one.why}", 8) for one in table.left_out)


def _about(table: ImportedTable, tables: Sequence[ImportedTable]) -> Iterator[str]:
    """What the owner of a table says of it, as `tables:` has it."""
    references = dict(_references(table, tables))
    said = (
        (column.name, _meaning(described(column.description), references.get(column.name))) for column in table.columns
    )
    columns = {name: meaning for name, meaning in said if meaning}
    if not (columns or table.event_time or table.found.description):
        return
    yield f"  {table.table}:"
    if table.found.description:
        yield from entry("description", described(table.found.description), 4)
    if table.event_time:
        yield f"    event_time: {scalar(table.event_time)}  # a guess by name and type"
    if columns:
        yield from ("    columns:", *(line for name, one in columns.items() for line in entry(scalar(name), one, 6)))


def _meaning(description: str, reference: str | None) -> Any:
    if reference is None:
        return description
    return {**({"description": description} if description else {}), "references": reference}


def _references(table: ImportedTable, tables: Sequence[ImportedTable]) -> Iterator[tuple[str, str]]:
    for key in table.found.foreign_keys:
        to = points_to(table, key, tables)
        if to is not None and len(key.columns) == 1:
            yield key.columns[0], f"{to.table}.{key.to_columns[0]}"


def _unsaid(table: ImportedTable, tables: Sequence[ImportedTable]) -> Iterator[str]:
    """Foreign keys that `references` cannot say: of several columns, or to what the flow does not read."""
    said = dict(_references(table, tables))
    for key in table.found.foreign_keys:
        if len(key.columns) > 1 or key.columns[0] not in said:
            yield _shown(key, points_to(table, key, tables))


def _shown(key: FoundKey, to: ImportedTable | None) -> str:
    return f"({', '.join(key.columns)}) points to {to.table if to else key.to} ({', '.join(key.to_columns)})"


def _comment(text: str, indent: int = 0) -> str:
    return f"{' ' * indent}# {_one_line(text)}"


def _one_line(text: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in " ".join(text.split()))
