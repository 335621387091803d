"""One round of tiering: every table of some flows into every further tier, and what goes wrong with each."""

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from threading import Event
from typing import cast

from streamhouse.change.building import epochs_of_writers, running_plan
from streamhouse.engine.observed import SegmentLoss, losses
from streamhouse.errors import StoreError, StreamhouseError, TableMissingError
from streamhouse.model.plan import FlowPlan
from streamhouse.model.table import Table
from streamhouse.model.types import Tier
from streamhouse.model.version import table_name
from streamhouse.runtime.open import Open
from streamhouse.runtime.serving import show_copy, show_written
from streamhouse.state.troubles import TableTrouble
from streamhouse.stores.base import LakeStore
from streamhouse.stores.mark import forget_lost
from streamhouse.tiering.move import MoveProgress, tier
from streamhouse.tiering.overdue import Overdue, overdue
from streamhouse.tiering.waiting import Waiting, waiting

TIERING = "tiering"
"""The job under which the state store keeps what goes wrong."""

OnMoved = Callable[[str, MoveProgress], None]
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Tiered:
    """What one round did.

    Attributes:
        moved: Flow → one entry for each table and further tier, upstream first.
        waiting: What lakes lack, when it was only looked at.
        overdue: What a lake still lacks, and its log may drop.
        failed: `table to tier` → why it could not be filled; the others were.
        troubles: What goes wrong with the tiers of these flows, for this and other processes.
    """

    moved: dict[str, list[MoveProgress]] = field(default_factory=dict)
    waiting: tuple[Waiting, ...] = ()
    overdue: tuple[Overdue, ...] = ()
    failed: dict[str, StreamhouseError] = field(default_factory=dict)
    troubles: tuple[TableTrouble, ...] = ()


@dataclass(frozen=True)
class TierRoundKind:
    """What a round does: fill copies, or `check` how far they are; `refill` creates lost copies again."""

    check: bool = False
    refill: bool = False


class StopRequestedError(Exception):
    """Leaves a table between two parts of what is to be moved."""


@dataclass
class TierRounds:
    """Rounds over what is open, until `stop`."""

    open: Open
    on_moved: OnMoved
    say: Callable[[str], None]
    stop: Event
    _late: set[tuple[str, str]] = field(default_factory=set)  # (flow, what) that is overdue and was reported

    def round(self, flows: Sequence[str], now: datetime, kind: TierRoundKind = TierRoundKind()) -> Tiered:
        """Do one round; what fails leaves the other tables alone, and is recorded until it goes well."""
        done = Tiered()
        for flow in flows:
            plan = running_plan(self.open.state, flow)
            done.moved.setdefault(flow, [])
            show_written(self.open.project, plan.tables.values())
            lost = self._lost(flow, plan, done)
            pairs = [(table, target) for table in plan.tables.values() for target in table.tiers.present[1:]]
            for table, target in pairs:
                if self.stop.is_set():
                    return done
                if table.name not in lost:
                    done = self._one(flow, table, target, now, kind, done)
            self.open.state.troubles.forget_others(
                flow, TIERING, [(table_name(table.name), target) for table, target in pairs]
            )
        return done

    def _lost(self, flow: str, plan: FlowPlan, done: Tiered) -> set[str]:
        """Tables of a flow whose copies must not be filled: they are lost, or the state store is older than all."""
        names: set[str] = set()
        found: list[SegmentLoss] = []
        with suppress(StreamhouseError):  # a store does not answer: each table says so itself
            checkpoints = self.open.project.state_dir / "checkpoints"
            found += losses(plan, self.open.stores, self.open.state, checkpoints)
        for loss in found:
            lost = plan.tables.keys() & set(loss.tables) if loss.tables else set(plan.tables)
            for name in lost:
                self._refuse_table(flow, plan.tables[name], loss, done)
            if not loss.tables:
                done.failed[flow] = loss.error
            names |= lost
        return names

    def _refuse_table(self, flow: str, table: Table, loss: SegmentLoss, done: Tiered) -> None:
        name = table_name(table.name)
        for target in table.tiers.present[1:]:
            done.failed[f"{name} to {target}"] = loss.error
            self.open.state.troubles.failed(flow, name, target, TIERING, loss.error)

    def _one(self, flow: str, table: Table, target: Tier, now: datetime, kind: TierRoundKind, done: Tiered) -> Tiered:
        what = f"{table_name(table.name)} to {target}"
        source = self.open.stores[table.tiers.target]
        try:
            lake = cast("LakeStore", self.open.stores[target])  # only the hot tier is none, and it is always the first
            if kind.check:
                done = replace(done, waiting=(*done.waiting, waiting(table, source, lake)))
            else:
                if kind.refill:
                    forget_lost(lake, table.replica, source.tier)
                done.moved[flow].append(self._move(flow, table, target, lake))
                self.open.state.troubles.mended(flow, table_name(table.name), target, TIERING)
            found = overdue(table, source, lake, now)
        except (TableMissingError, StopRequestedError):
            return done  # the flow has not made it yet; or the rest is for the next round
        except StreamhouseError as error:
            done.failed[what] = error
        except Exception as error:  # noqa: BLE001  whatever it is, a person must see it; the others go on
            _log.exception("tiering of %s", what)
            done.failed[what] = StoreError(
                f"{what} met an unforeseen {type(error).__name__}: {error}", hint="the full trace is in the log"
            )
        else:
            self._tell_late(flow, what, found)
            return done if found is None else replace(done, overdue=(*done.overdue, found))
        failure = done.failed[what]
        if self.open.state.troubles.failed(flow, table_name(table.name), target, TIERING, failure):
            self.say(f"{what}: {failure.code} {failure.message}")
        return done

    def _move(self, flow: str, table: Table, target: Tier, lake: LakeStore) -> MoveProgress:
        self.say(f"{table_name(table.name)} to {target}")

        def report_progress(moved: MoveProgress) -> None:
            self.on_moved(flow, moved)
            if self.stop.is_set():
                raise StopRequestedError

        def tier_age() -> timedelta | None:
            return self.open.state.tables.tier_age(flow, table_name(table.name), target)

        moved = tier(
            table,
            self.open.stores[table.tiers.target],
            lake,
            on_progress=report_progress,
            age_of_copy=tier_age,
            epochs=lambda: epochs_of_writers(self.open.state, flow, table.name),
        )
        show_copy(self.open.project, table, target)
        if moved.gone_rows and moved.rows:
            text = f"{moved.gone_rows:,} rows were dropped before there was a {target} tier, which begins behind them"
            self.open.state.append_event(flow, "retention", f"{table_name(table.name)}: {text}")
        return moved

    def _tell_late(self, flow: str, what: str, found: Overdue | None) -> None:
        """Record rows that are overdue once, however many rounds find them so."""
        if found is None:
            self._late.discard((flow, what))
        elif (flow, what) not in self._late:
            self._late.add((flow, what))
            self.open.state.append_event(flow, "retention", str(found))
            self.say(str(found))
