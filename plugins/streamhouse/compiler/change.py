"""What carrying out a change takes: which tables are built anew, by which plan, and whether a running stream can go on.

Pure; `runtime/reconcile.py` acts on it.
"""

from collections.abc import Collection, Iterator, Mapping

from streamhouse.compiler.segments import loses_order
from streamhouse.model.outcome import FlowDiff, Outcome, TableChange
from streamhouse.model.plan import FlowPlan
from streamhouse.model.types import History, Strategy
from streamhouse.model.version import Versions, at_versions, stored_name

_REKEYED = frozenset({29})  # another key finds other rows equal
_IN_PLACE = frozenset({"create", "add column", "stop filling", "drop later"})


def taken_up(old: FlowPlan | None, new: FlowPlan, ever: Mapping[str, Collection[str]]) -> frozenset[str]:
    """Tables that get a column again which they once had: stores still hold what it was then.

    Args:
        old: As applied.
        new: The plan wanted.
        ever: Table → every column that a plan of the flow gave it.
    """
    before = old.tables if old is not None else {}
    return frozenset(
        name
        for name, table in new.tables.items()
        if name in before and set(table.column_names) - set(before[name].column_names) & set(ever.get(name, ()))
    )


def tables_anew(found: FlowDiff, new: FlowPlan, known: Collection[str], again: Collection[str] = ()) -> frozenset[str]:
    """The tables of which another version is filled, to serve instead of the one there is.

    Args:
        found: What `new` changes.
        new: The plan wanted.
        known: Every table that was ever applied: one that a step took up again holds rows of another time.
        again: From `taken_up`.
    """
    anew = {*again} | {change.table for change in found.tables if _needs_version(change)}
    for change in found.steps:
        rebuilt = any(f.outcome is Outcome.REBUILD for f in change.findings)
        has_history = change.change == "new" and any(f.restate for f in change.findings)
        if rebuilt or has_history or (change.change == "new" and change.table in known):
            anew.add(change.table)
    anew &= {step.writes.name for step in new.steps}
    while more := _unordered(new, anew):
        anew |= more
    return frozenset(anew)


def copied(found: FlowDiff, new: FlowPlan, anew: Collection[str], again: Collection[str] = ()) -> frozenset[str]:
    """Of the tables that are built anew those whose rows go on as they are: only how they are stored changes.

    They keep their history, and each of their rows comes of the rows of one epoch; or they are `again`.
    """
    steps = {step.id: step for step in new.steps}
    in_order = _unordered(new, anew, written=True)
    copies = set()
    for change in found.steps:
        step = steps.get(change.step)
        if step is None or step.part or change.change == "new" or change.table in in_order:
            continue
        rebuilt = [finding for finding in change.findings if finding.outcome is Outcome.REBUILD]
        keeps = step.history is History.KEEP and step.strategy is Strategy.MAP
        stays = all(finding.keeps_values and finding.rule not in _REKEYED for finding in rebuilt)
        if change.table in anew and (stays if keeps else change.table in again and not rebuilt):
            copies.add(change.table)
    return frozenset(copies)


def marks(found: FlowDiff, anew: Collection[str], copies: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Table → its columns that mean something else, or nothing, in the rows that are there."""
    return {
        change.table: change.marks
        for change in found.steps
        if change.marks and change.change != "new" and (change.table not in anew or change.table in copies)
    }


def _unordered(plan: FlowPlan, anew: Collection[str], *, written: bool = False) -> set[str]:
    """Logs whose order only the step that writes them knows: whoever reads one to fill a table fills it as well.

    Those that are not built anew already; with `written` all of them.
    """
    tables = plan.tables
    return {
        read.table
        for step in plan.steps
        if step.writes.name in anew
        for read in step.reads
        if read.table in tables and (written or read.table not in anew) and loses_order(step, tables[read.table])
    }


def _needs_version(change: TableChange) -> bool:
    return any(
        tier.outcome is Outcome.REBUILD or any(ddl.kind not in _IN_PLACE for ddl in tier.ddl) for tier in change.tiers
    )


def followers(found: FlowDiff) -> dict[str, set[str]]:
    """Other flow → its tables that must be built anew once a change is done: they rest on tables that are."""
    tables: dict[str, set[str]] = {}
    for change in found.steps:
        for consumer in change.consumers:
            if consumer.flow != found.flow and consumer.outcome is Outcome.REBUILD:
                tables.setdefault(consumer.flow, set()).add(consumer.step.partition(":")[0])
    return tables


def candidate(plan: FlowPlan, anew: Collection[str], versions: Versions, name: str) -> FlowPlan:
    """The steps that fill new versions, as a flow of their own, over the names that stores hold.

    Args:
        plan: The plan wanted, over the names that people know.
        anew: Tables that are built anew, at least one.
        versions: Of all tables, as they will be.
        name: Of that flow.
    """
    stored = at_versions(plan, versions)
    wanted = {stored_name(table, versions.get(table, 1)) for table in anew}
    segments = tuple(
        segment.model_copy(update={"steps": steps})
        for segment in stored.segments
        if (steps := tuple(step for step in segment.steps if step.writes.name in wanted))
    )
    reads = {read.table for segment in segments for step in segment.steps for read in step.reads}
    return stored.model_copy(
        update={
            "flow": name,
            "sources": tuple(source for source in stored.sources if source.name in reads),
            "external": tuple(t for t in stored.readable if t.name in reads and t.name not in wanted),
            "segments": segments,
        }
    )


def same_streams(old: FlowPlan, new: FlowPlan) -> bool:
    """Whether the streaming queries of `old` can carry `new`: their sources know what a segment reads, and how fast."""
    return list(_streams(old)) == list(_streams(new))


def _streams(plan: FlowPlan) -> Iterator[object]:
    sources = {s.name: s.model_copy(update={"columns": ()}) for s in plan.sources}
    tables = {table.name: table.tiers.target for table in plan.readable}
    for segment in plan.segments:
        outer = sorted(segment.reads - set(segment.tables))
        waits = sorted(str(step.interval) for step in segment.steps if step.strategy is Strategy.FULL)
        yield segment.name, segment.interval, sorted(segment.loads_first), waits
        yield [(name, sources.get(name), tables.get(name)) for name in outer]
    yield plan.freshness, plan.max_rows_per_epoch
