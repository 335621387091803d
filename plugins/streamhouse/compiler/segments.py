"""Cuts the steps of a flow into segments: sets of steps that share one clock (design D3). Pure."""

from collections.abc import Mapping
from datetime import timedelta

from streamhouse.errors import Location, StrategyError, TierError
from streamhouse.model.flow import Flow
from streamhouse.model.plan import PlannedStep, Segment
from streamhouse.model.table import Table
from streamhouse.model.types import Strategy, Tier

MAIN = "main"
_LAKE = "lake"


def segments(
    steps: tuple[PlannedStep, ...], external: Mapping[str, Table], commit_interval: timedelta
) -> tuple[Segment, ...]:
    """Steps behind the same cuts, each segment after those it reads from.

    A cut is a reason for another clock, and holds for all that is read from behind it: a table without
    a hot tier, which commits every `commit_interval`; a step that is isolated; a table that other steps
    write too, so that its changes are only known from the store. Segments read each other's tables, and
    since cuts only add up on the way, never in a circle.

    Args:
        steps: Each after the steps that write what it reads.
        external: Tables of other flows.
        commit_interval: Of segments behind a table without a hot tier.
    """
    cuts: dict[str, frozenset[str]] = {}  # table → the cuts that its readers are behind
    grouped: dict[frozenset[str], list[PlannedStep]] = {}
    for step in steps:
        behind = frozenset[str]().union(*(cuts.get(read.table, _own(external, read.table)) for read in step.reads))
        behind |= _own_cuts(step)
        grouped.setdefault(behind, []).append(step)
        shared = {step.writes.name} if step.part else set()
        cuts[step.writes.name] = cuts.get(step.writes.name, frozenset()) | behind | shared
    order = sorted(grouped, key=lambda c: (len(c), sorted(c)))
    return tuple(
        Segment(
            name="-".join(sorted(behind)) or MAIN,
            steps=tuple(grouped[behind]),
            interval=commit_interval if _LAKE in behind else None,
        )
        for behind in order
    )


def _own(external: Mapping[str, Table], name: str) -> frozenset[str]:
    """A table of another flow that has no hot tier changes as seldom as one of ours."""
    table = external.get(name)
    return frozenset({_LAKE}) if table is not None and table.tiers.target is not Tier.HOT else frozenset()


def check_streams(flow: Flow, cut: tuple[Segment, ...], readable_tables: Mapping[str, Table]) -> None:
    """Refuse what a segment could not follow.

    Raises:
        TierError: it reads a table that other segments write and that is in the cold tier alone.
        StrategyError: it keeps the last row of each key of a log whose order its buckets do not keep.
    """
    for segment in cut:
        own = segment.tables.keys()
        for step in segment.steps:
            for read in step.reads:
                table = readable_tables.get(read.table)
                if table is None or table.name in own:
                    continue
                place = flow.places.get(f"tables.{table.name}", flow.at)
                if table.tiers.target is Tier.COLD:
                    raise TierError(
                        f"{table.name} is in the cold tier alone, which reports no changes, and {step.id} follows it",
                        at=place,
                        hint="give it a hot or warm tier as well",
                    )
                if loses_order(step, table):
                    raise _lost_order(step, table, place)


def _lost_order(step: PlannedStep, table: Table, at: Location) -> StrategyError:
    which = "first" if step.writes.first_row else "last"
    if _ordered_partitions(step, table):
        parts = f"{table.buckets} buckets"
        hint = f"give {table.name} one bucket, or a bucket_key that is part of its reader's key"
    else:
        parts, key = "partitions", ", ".join(step.writes.primary_key)
        hint = f"partition {table.name} by columns of its reader's key, which is ({key})"
    cause = f"{step.id} keeps the {which} row of each key, and {table.name} keeps no order between its {parts}"
    return StrategyError(cause, at=at, hint=hint)


def loses_order(step: PlannedStep, log: Table) -> bool:
    """Whether rows of one key may come from several buckets of a log, whose rows have no order then."""
    if step.strategy is not Strategy.MAP or not step.writes.primary_key or log.primary_key:
        return False
    one_bucket = log.buckets == 1 or (log.bucket_key and set(log.bucket_key) <= set(step.writes.primary_key))
    return not (one_bucket and _ordered_partitions(step, log))


def _ordered_partitions(step: PlannedStep, log: Table) -> bool:
    """Whether rows of one key are all in one partition of a log."""
    return set(log.partition_by) <= set(step.writes.primary_key)


def _own_cuts(step: PlannedStep) -> frozenset[str]:
    """Cuts that a step makes by itself, before its table."""
    isolated = {f"{step.writes.name}.{step.action}"} if step.isolate else set()
    return frozenset(isolated | ({_LAKE} if step.writes.tiers.target is not Tier.HOT else set()))
