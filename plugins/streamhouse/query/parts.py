"""What may stand behind a table's name: one of its tiers, or data about the table itself. Pure."""

from dataclasses import dataclass
from enum import StrEnum

from streamhouse.errors import did_you_mean
from streamhouse.model.table import Column, Table
from streamhouse.model.types import Tier

LAKE = "lake"  # `orders$lake`: the tier that keeps rows longest


class TableView(StrEnum):
    """Data about a table itself."""

    CHANGES = "changes"
    HISTORY = "history"
    FILES = "files"
    SNAPSHOTS = "snapshots"
    STORED = "stored"


_OF_A_LAKE = (TableView.FILES, TableView.SNAPSHOTS)

_COLUMNS: dict[TableView, dict[str, str]] = {
    TableView.CHANGES: {"_kind": "string", "_bucket": "int", "_offset": "bigint", "_at": "timestamp"},
    TableView.HISTORY: {
        "epoch": "bigint",
        "flow": "string",
        "segment": "string",
        "seen_at": "timestamp",
        "finished_at": "timestamp",
        "rows": "bigint",
        "position": "string",
    },
    TableView.FILES: {
        "tier": "string",
        "path": "string",
        "kind": "string",
        "partition": "string",
        "bucket": "int",
        "rows": "bigint",
        "bytes": "bigint",
    },
    TableView.SNAPSHOTS: {
        "tier": "string",
        "snapshot": "bigint",
        "committed_at": "timestamp",
        "kind": "string",
        "added_rows": "bigint",
        "total_rows": "bigint",
        "writer": "string",
        "epoch": "bigint",
        "tiered_to": "string",
    },
    TableView.STORED: {"tier": "string", "stored_as": "string", "version": "int"},
}


class UnknownPartError(ValueError):
    """A table has no such part; `hint` says what it has."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


@dataclass(frozen=True)
class Part:
    """A part of a table; without tier and view it is all of its rows.

    Attributes:
        tier: The one that is read; None: all that have it.
        view: Which data about it; None: its rows.
    """

    tier: Tier | None = None
    view: TableView | None = None


WHOLE = Part()


def part_of(table: Table, name: str, suffix: str) -> Part:
    """What a suffix means.

    Args:
        table: As the catalog holds it.
        name: What people call it, for messages.
        suffix: Lower case, without the first `$`; empty: the whole table.

    Raises:
        UnknownPartError: the table has no such part.

    Example:
        >>> orders = Table.model_validate(
        ...     {"name": "ods.o", "columns": [{"name": "n", "type": "int"}], "tiers": {"hot": "1h", "cold": "1d"}})
        >>> part_of(orders, "ods.o", "lake$snapshots")
        Part(tier=<Tier.COLD: 'cold'>, view=<TableView.SNAPSHOTS: 'snapshots'>)
    """
    if not suffix:
        return WHOLE
    known = parts(table)
    if suffix in known:
        return known[suffix]
    words = suffix.split("$")
    tiers = ", ".join(table.tiers.present)
    listed = f"it has {', '.join(_dotted(name, one) for one in known)}"
    if words[0] in (*Tier, LAKE) and words[0] not in known:
        tier = "lake" if words[0] == LAKE else f"{words[0]} tier"
        raise UnknownPartError(f"'{name}' has no {tier}; its tiers: {tiers}", listed)
    if words[-1] in _OF_A_LAKE and len(words) == 1:
        lakes = f"only lakes have {words[-1]}"
        if words[-1] == TableView.SNAPSHOTS and LAKE in known:
            raise UnknownPartError(f"'{name}' has several tiers, and {lakes}", f"ask {_dotted(name, 'lake$snapshots')}")
        raise UnknownPartError(f"{lakes}, and '{name}' has none; its tiers: {tiers}", listed)
    if len(words) == 2 and words[0] in known and words[1] in list(TableView):
        why = f"only lakes have {words[1]}" if words[1] in _OF_A_LAKE else f"${words[1]} is of the table, not of a tier"
        raise UnknownPartError(f"'{name}' has no part '${suffix}': {why}", listed)
    hint = did_you_mean(_dotted(name, suffix), [_dotted(name, one) for one in known]) or listed
    raise UnknownPartError(f"'{name}' has no part '${suffix}'", hint)


def _dotted(name: str, suffix: str) -> str:
    """The name as it may stand in any quotes of a shell."""
    return f"{name}.{suffix.replace('$', '.')}"


def parts(table: Table) -> dict[str, Part]:
    """Every suffix that a table may have."""
    lakes = [tier for tier in table.tiers.present if tier is not Tier.HOT]
    found = {tier.value: Part(tier) for tier in table.tiers.present}
    if lakes:
        found[LAKE] = Part(lakes[-1])
    found |= {view.value: Part(view=view) for view in (TableView.CHANGES, TableView.HISTORY, TableView.STORED)}
    if lakes:
        found[TableView.FILES.value] = Part(view=TableView.FILES)
    for name in [LAKE, *lakes] if lakes else []:
        tier = found[str(name)].tier
        found |= {f"{name}${view}": Part(tier, view) for view in _OF_A_LAKE}
    return found


def shown(table: Table, part: Part) -> Table:
    """The table with the columns that a part of it has."""
    if part.view is None:
        return table
    own = tuple(Column(name=name, type=kind) for name, kind in _COLUMNS[part.view].items())
    columns = (*own, *table.columns) if part.view is TableView.CHANGES else own
    return Table(name=table.name, columns=columns, tiers=table.tiers)
