"""Which tables of others a flow can read, under which names, and what of them is left out. Pure."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from streamhouse.model.table import NO_KEY_TYPES
from streamhouse.planner.found_tables import FoundColumn, FoundKey, FoundTable
from streamhouse.secret import masked

_COLUMN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ODD = re.compile(r"[^a-z0-9_]+")
_TIMES = ("timestamp", "timestamp_ntz")
_HAPPENED = (
    *("event_time", "occurred_at", "happened_at", "placed_at", "ordered_at", "sold_at", "paid_at", "started_at"),
    *("created_at", "created_on", "created", "inserted_at", "timestamp", "ts"),
)
_LATER = ("updated", "modified", "changed", "deleted", "last_", "removed")


@dataclass(frozen=True)
class NotImported:
    """What a flow does not read.

    Attributes:
        table: As its owner writes it.
        column: Of it; empty: all of the table.
        type: Of the column, as its owner writes it.
        why: In words.
    """

    table: str
    column: str
    type: str
    why: str

    def __str__(self) -> str:
        what = f"{self.table}.{self.column} ({self.type})" if self.column else self.table
        return " ".join(f"{what}: {self.why}".split())


@dataclass(frozen=True)
class ImportedTable:
    """A table that a flow reads.

    Attributes:
        found: As its owner has it.
        source: Its name in the flow; its table is `ods.NAME`.
        columns: Those that are read.
        event_time: The column that seems to say when a row happened; None: none does, or several do.
        left_out: Columns.
    """

    found: FoundTable
    source: str
    columns: tuple[FoundColumn, ...]
    event_time: str | None
    left_out: tuple[NotImported, ...]

    @property
    def table(self) -> str:
        """Its table in the first layer."""
        return f"ods.{self.source}"

    @property
    def types(self) -> dict[str, str]:
        """Column → the type to declare."""
        return {column.name: column.type for column in self.columns if column.type is not None}


def imported_tables(
    tables: Sequence[FoundTable], taken: Collection[str], flow: str
) -> tuple[tuple[ImportedTable, ...], tuple[NotImported, ...]]:
    """The tables that can be read, and those that cannot, in the order given.

    Args:
        tables: As found.
        taken: Names in `ods` that others write.
        flow: Name of the flow, which stands before the name of a table where that is needed to tell two apart.
    """
    imported: list[ImportedTable] = []
    refused: list[NotImported] = []
    names = _names([table.name for table in tables if not table.refusal], taken, flow)
    for table in tables:
        columns, left_out = _columns(table)
        if why := table.refusal or _refusal(table, columns, left_out):
            refused.append(NotImported(table.name, "", "", why))
        else:
            imported.append(ImportedTable(table, names[table.name], columns, _event_time(columns), left_out))
    return tuple(imported), tuple(refused)


def _columns(table: FoundTable) -> tuple[tuple[FoundColumn, ...], tuple[NotImported, ...]]:
    kept: dict[str, FoundColumn] = {}
    left_out: list[NotImported] = []
    for column in table.columns:
        why = column.why if column.type is None else _bad_name(column.name, kept)
        if why:
            left_out.append(NotImported(table.name, column.name, column.written, why))
        else:
            kept[column.name.lower()] = column
    return tuple(kept.values()), tuple(left_out)


def _bad_name(name: str, kept: Collection[str]) -> str:
    if not _COLUMN.fullmatch(name):
        return "its name has other characters than letters, digits and _"
    return "another column has its name, but for upper and lower case" if name.lower() in kept else ""


def _refusal(table: FoundTable, columns: Sequence[FoundColumn], left_out: Sequence[NotImported]) -> str:
    """Why a table cannot be read for its names and columns; empty: it can."""
    if not columns:
        return "it has no column that can be read"
    if re.search(r"\s", table.name) or (table.kind == "cdc" and table.name.count(".") != 1):
        return "its name has a space or a dot"
    for name in table.primary_key:
        if lost := next((one for one in left_out if one.column == name), None):
            return f"'{name}' ({lost.type}) of its primary key cannot be read: {lost.why}"
        type_ = next(column.type or "" for column in columns if column.name == name)
        if type_.startswith(NO_KEY_TYPES):
            return f"'{name}' of its primary key is {type_}, and no key can be"
    return ""


def _names(tables: Sequence[str], taken: Collection[str], flow: str) -> dict[str, str]:
    """Table → its name in the flow: the last part of its name, where no other has that."""
    short = {table: _name(table.rpartition(".")[2]) for table in tables}
    counts = {name: sum(one == name for one in short.values()) for name in short.values()}
    found: dict[str, str] = {}
    used = set(taken)
    for table in tables:
        whole = _name(table)
        first = short[table] if counts[short[table]] == 1 else whole
        found[table] = next(name for name in _candidates(first, whole, flow) if name not in used)
        used.add(found[table])
    return found


def _candidates(first: str, whole: str, flow: str) -> Iterator[str]:
    yield from (first, f"{flow}_{first}", f"{flow}_{whole}")
    number = 2
    while True:
        yield f"{flow}_{whole}_{number}"
        number += 1


def _name(text: str) -> str:
    name = _ODD.sub("_", text.lower()).strip("_")
    return name if name[:1].isalpha() else f"t_{name}"


def _event_time(columns: Sequence[FoundColumn]) -> str | None:
    times = [c.name for c in columns if c.type in _TIMES and not c.name.lower().startswith(_LATER)]
    if len(times) == 1:
        return times[0]
    by_name = {name.lower(): name for name in times}
    return next((by_name[name] for name in _HAPPENED if name in by_name), None)


def points_to(table: ImportedTable, key: FoundKey, tables: Sequence[ImportedTable]) -> ImportedTable | None:
    """The table whose whole primary key a foreign key has, with the same types; None: it is not among those."""
    to = next((one for one in tables if one.found.name == key.to), None)
    if to is None or sorted(key.to_columns) != sorted(to.found.primary_key):
        return None
    own, theirs = [table.types.get(name) for name in key.columns], [to.types.get(name) for name in key.to_columns]
    return to if own == theirs and None not in own else None


def described(text: str) -> str:
    """What an owner says, on one line and without passwords."""
    return masked(" ".join(text.split()))
