"""How far the copies of lost hot tables reach in the lakes (docs/restore.md)."""

import shlex
from collections.abc import Iterable, Mapping
from typing import cast

from streamhouse.engine.vector import covers
from streamhouse.errors import StateConflictError
from streamhouse.model.plan import Segment
from streamhouse.model.table import Table
from streamhouse.model.types import Position, Tier
from streamhouse.model.version import table_name
from streamhouse.model.writer import flow_and_segment
from streamhouse.runtime.open import Open
from streamhouse.runtime.serving import serving
from streamhouse.stores.base import LakeStore
from streamhouse.stores.mark import Mark, again, other_history


class CopyMarks:
    """The marks of the copies of hot tables, each of which is read once: while no flow runs, and for one look."""

    def __init__(self, open_: Open) -> None:
        """Nothing is read before the first question."""
        self._open = open_
        self._read: dict[str, dict[Tier, Mark]] = {}

    def of_table(self, table: Table) -> dict[Tier, Mark]:
        """Lake tier → how far its copy of a hot table reaches, whatever the ledger knows of it.

        Raises:
            StateConflictError: a copy was filled from another tier, or is of another history of its flow.
        """
        if table.name not in self._read:
            self._read[table.name] = _marks(self._open, table)
        return self._read[table.name]

    def of_segment(self, segment: Segment, lost: Iterable[str]) -> list[tuple[str, Mark]]:
        """Lost hot tables of a segment with how far each copy in a lake reaches; errors as of `of_table`."""
        own = segment.tables
        tables = [own[name] for name in lost if own[name].tiers.target is Tier.HOT]
        return [(table.name, mark) for table in tables for mark in self.of_table(table).values()]


def reaches_beyond(table: str, mark: Mark, left: Mapping[str, Position], writer: str, epoch: int | None) -> bool:
    """Whether a copy may have rows behind the position where a flow goes on.

    Args:
        table: That it is a copy of.
        mark: How far it reaches.
        left: Table → where it ends at that position; a table that is not in it ends at its beginning.
        writer: Segment that writes the table.
        epoch: The last one before that position, where it is not known at which offsets the tables end there;
            None: it is known.
    """
    if epoch is None:
        return not covers(left, {table: mark.offsets})
    return mark.epochs.get(writer, epoch + 1) > epoch


def _marks(open_: Open, table: Table) -> dict[Tier, Mark]:
    lakes = {tier: cast("LakeStore", open_.stores[tier]) for tier in table.tiers.present[1:]}
    marks = {tier: again(lake, table.replica, Tier.HOT) for tier, lake in lakes.items()}
    for tier, mark in marks.items():
        if mark is not None and (what := other_history(lakes[tier].ledger, mark)) is not None:
            raise _refusal(open_, table, tier, what, flow=flow_and_segment(min(mark.times))[0])
    return {tier: mark for tier, mark in marks.items() if mark is not None}


def _refusal(open_: Open, table: Table, tier: Tier, what: str, flow: str) -> StateConflictError:
    """The error of a copy of which no row may be taken, beside a hot table that is lost."""
    links, name = serving(open_.project, tier), table_name(table.name)
    away = open_.project.state_dir / f"{table.name}.{tier}.other"
    moved = shlex.join(["mv", str(links.place(table.replica.name)), str(away)]) if links else "move the copy away"
    return StateConflictError(
        f"{name}: its hot table is lost, and its copy in the {tier} tier {what}",
        hint=f"bring the right copy back; without one: {moved}; streamhouse restore {flow} --from-sources",
    )
