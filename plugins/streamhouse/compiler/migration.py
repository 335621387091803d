"""How a flow migrates from one plan to another: which tables are rebuilt, by which plan, which streams can go on.

Pure; `change/` carries it out.
"""

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType

from streamhouse.compiler.diff import replaced
from streamhouse.compiler.diff.beside import Beside
from streamhouse.compiler.segments import loses_order
from streamhouse.model.bad_rows import OPTION
from streamhouse.model.outcome import Finding, FlowDiff, Outcome, TableChange, worst
from streamhouse.model.plan import FlowPlan, Segment
from streamhouse.model.types import History, Strategy
from streamhouse.model.version import Versions, at_versions, stored_name, table_name

_BEYOND = 1 << 63  # any position


def taken_up(old: FlowPlan | None, new: FlowPlan, ever: Mapping[str, Collection[str]]) -> frozenset[str]:
    """Tables that get a column again which they once had: stores still have its former values.

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


def tables_to_rebuild(
    found: FlowDiff, new: FlowPlan, known: Collection[str], again: Collection[str] = ()
) -> frozenset[str]:
    """The tables that an edit rebuilds: a new version of each is filled, and then serves instead of the old one.

    Args:
        found: What `new` changes.
        new: The plan after the edit.
        known: Every table that was ever applied: one of these may still have rows when a new step writes it.
        again: Tables that get a column again which they once had; see `taken_up`.
    """
    to_rebuild = {*again} | {change.table for change in found.tables if _is_rebuilt(change)}
    for change in found.steps:
        rebuilt = any(f.outcome is Outcome.REBUILD for f in change.findings)
        has_history = change.change == "new" and any(f.restate for f in change.findings)
        if rebuilt or has_history or (change.change == "new" and change.table in known):
            to_rebuild.add(change.table)
    to_rebuild &= {step.writes.name for step in new.steps}
    added = {change.step for change in found.steps if change.change == "new"}
    while more := _unordered(new, to_rebuild) | _begun_behind(new, to_rebuild, added):
        to_rebuild |= more
    return frozenset(to_rebuild)


def _begun_behind(plan: FlowPlan, to_rebuild: Collection[str], added: Collection[str]) -> set[str]:
    """Tables of new steps that would begin at the end of what they follow, which is filled with its history."""
    return {
        step.writes.name
        for step in plan.steps
        if step.id in added and step.writes.name not in to_rebuild and not step.follows.isdisjoint(to_rebuild)
    }


def overtaken(
    old: FlowPlan,
    new: FlowPlan,
    to_rebuild: Collection[str],
    others: Iterable[FlowPlan] = (),
    following: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> dict[str, str]:
    """Table → a rebuilt one that its step follows, with rows that no position of that step stands for.

    A step goes on at the end of the version that is to serve. So that must have been made of what the one before was
    made of, or it holds rows that the step never gets. The same is true of a table that it did not follow before.

    Args:
        old: As applied.
        new: The plan wanted.
        to_rebuild: Tables that are rebuilt.
        others: Other flows, as they run.
        following: Other flow → its tables that are rebuilt afterwards; see `followers`.
    """
    before = {step.id: step.follows for step in old.steps}
    fresh = set(replaced(old, new))
    for step in new.steps:  # upstream first
        if step.writes.name in to_rebuild and not step.follows <= before.get(step.id, frozenset()) - fresh:
            fresh.add(step.writes.name)
    fresh &= set(to_rebuild)
    found: dict[str, str] = {}
    for plan in (new, *others):
        built = to_rebuild if plan is new else following.get(plan.flow, ())
        for step in plan.steps:
            if step.writes.name in built or step.strategy.sees_all:
                continue
            passed = before.get(step.id, frozenset()) if plan is new else step.follows
            if missed := step.follows & (fresh | (set(to_rebuild) - passed)):
                found[step.writes.name] = min(missed)
    return found


def copied(found: FlowDiff, new: FlowPlan, to_rebuild: Collection[str], again: Collection[str] = ()) -> frozenset[str]:
    """Of the tables that are rebuilt those whose rows go on as they are: only how they are stored changes.

    They keep their history, and each of their rows comes of the rows of one epoch; or they are `again`.
    """
    steps = {step.id: step for step in new.steps}
    in_order = _unordered(new, to_rebuild, written=True)
    copies = set()
    for change in found.steps:
        step = steps.get(change.step)
        if step is None or step.part or change.change == "new" or change.table in in_order:
            continue
        rebuilt = [f for f in change.findings if f.outcome is Outcome.REBUILD]
        keeps = step.history is History.KEEP and step.strategy is Strategy.MAP
        stays = all(finding.keeps_values for finding in rebuilt)
        if change.table in to_rebuild and (
            stays if keeps else change.table in again and all(f.rule == 0 and f.keeps_values for f in rebuilt)
        ):
            copies.add(change.table)
    return frozenset(copies)


def _unordered(plan: FlowPlan, to_rebuild: Collection[str], *, written: bool = False) -> set[str]:
    """Logs whose order only the step that writes them knows: a step that reads one to fill a table fills it as well.

    Those that are not rebuilt already; with `written` all of them.
    """
    tables = plan.tables
    return {
        read.table
        for step in plan.steps
        if step.writes.name in to_rebuild
        for read in step.reads
        if read.table in tables and (written or read.table not in to_rebuild) and loses_order(step, tables[read.table])
    }


def tables_apart(found: FlowDiff, new: FlowPlan) -> frozenset[str]:
    """The tables that an environment has of its own: those that change in any way, and all made from them."""
    apart = {step.table for step in found.steps if step.outcome is not Outcome.NO_OP}
    for step in new.steps:
        if any(read.table in apart for read in step.reads):
            apart.add(step.writes.name)
    while more := _unordered(new, apart):
        apart |= more
    return frozenset(apart & {step.writes.name for step in new.steps})


def _is_rebuilt(change: TableChange) -> bool:
    return any(tier.outcome is Outcome.REBUILD for tier in change.tiers)


def followers(found: FlowDiff) -> dict[str, set[str]]:
    """Other flow → its tables that must be rebuilt once a change is done: they rest on tables that are."""
    tables: dict[str, set[str]] = {}
    for change in found.steps:
        for consumer in change.consumers:
            if consumer.flow != found.flow and consumer.outcome is Outcome.REBUILD:
                tables.setdefault(consumer.flow, set()).add(consumer.step.partition(":")[0])
    return tables


def candidate(plan: FlowPlan, to_rebuild: Collection[str], versions: Versions, name: str) -> FlowPlan:
    """The steps that fill new versions, as a flow of their own, over the names that stores hold.

    Args:
        plan: The plan wanted, over the names that people know.
        to_rebuild: Tables that are rebuilt, at least one.
        versions: Of all tables, as they will be.
        name: Of that flow.
    """
    stored = at_versions(plan, versions)
    wanted = {stored_name(table, versions.get(table, 1)) for table in to_rebuild}
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


def without_lost(old: FlowPlan, new: FlowPlan, parts: Mapping[str, Collection[str]]) -> FlowPlan:
    """`old`, so that its epochs can end though rows of their ranges are gone.

    Of a table that is read from its beginning they read nothing more: what is made of it is rebuilt.

    Args:
        old: As applied, over any names.
        new: The plan wanted.
        parts: Table that is read from its beginning, as people know it → its parts that positions tell of.
    """
    everything = {name: dict.fromkeys(found, ((0, _BEYOND),)) for name, found in parts.items()}
    if not everything and new.given_up == old.given_up:
        return old
    return old.model_copy(update={"given_up": {**old.given_up, **new.given_up, **everything}})


def touched(old: FlowPlan, new: FlowPlan) -> set[str]:
    """Tables of `old` that another plan writes otherwise, as a step or what it reads changed; also quarantines."""
    after = {step.id: step for step in new.steps}
    found: set[str] = set()
    other = {n for n in {*old.adapted, *new.adapted} if old.adapted.get(n) != new.adapted.get(n)}
    removed = {source.name: source.truncated for source in old.sources}
    other |= {s.name for s in new.sources if s.truncated != removed.get(s.name, s.truncated)}
    other |= {n for n in {*old.given_up, *new.given_up} if old.given_up.get(n) != new.given_up.get(n)}
    lacks = {source.name: source.given_up for source in old.sources}
    other |= {s.name for s in new.sources if s.given_up != lacks.get(s.name, s.given_up)}
    for step in old.steps:  # upstream first
        if after.get(step.id) != step or any(read.table in found | other for read in step.reads):
            found.add(step.writes.name)
            if step.quarantine is not None:
                found.add(step.quarantine.name)
    return found


def same_streams(old: FlowPlan, new: FlowPlan) -> bool:
    """Whether the streaming queries of `old` can carry `new`: they have its segments, with the clocks they have.

    A step that becomes part of another segment goes on where it stood, which that one may not be. An input that a
    query did not read is read from its beginning; so it must be new to the flow.
    """
    if (old.freshness, [_clock(s) for s in old.segments]) != (new.freshness, [_clock(s) for s in new.segments]):
        return False
    was = {table_name(step.id): segment.name for segment in old.segments for step in segment.steps}
    if any(was.get(table_name(step.id), s.name) != s.name for s in new.segments for step in s.steps):
        return False
    known, wanted = _origins(old), _origins(new)
    for before, after in zip(old.segments, new.segments, strict=True):
        read = before.reads - set(before.tables)
        for name in after.reads - set(after.tables):
            if wanted[name] != known.get(name) if name in read else name in known:
                return False
    return True


def _clock(segment: Segment) -> tuple[object, ...]:
    return segment.name, segment.interval


def _origins(plan: FlowPlan) -> dict[str, object]:
    """Source or table → what its positions depend on."""
    sources: dict[str, object] = {
        s.name: s.model_copy(
            update={
                "columns": (),
                "loads_first": False,
                "truncations": "kept",
                "truncated": {},
                "given_up": {},
                "options": {name: value for name, value in s.options.items() if name != OPTION},
            }
        )
        for s in plan.sources
    }
    tables = {t.name: (t.tiers.target, plan.again.get(table_name(t.name))) for t in plan.readable}
    return {**sources, **tables}


def shared(plan: FlowPlan, to_rebuild: Collection[str], others: Mapping[str, FlowPlan]) -> dict[str, str]:
    """Table → why it cannot be rebuilt: other flows write columns of it."""
    beside = Beside.of(others)
    return {
        table: f"{owners[-1]} writes columns of {table} as well, and a version of it would lack them"
        for table in sorted(to_rebuild)
        if (owners := [flow for flow in beside.writers(table) if flow != plan.flow])
    }


def blocked(found: FlowDiff, why: Mapping[str, str], *, final: bool = False) -> FlowDiff:
    """The difference, in which some tables block, whatever else happens to them.

    Args:
        found: As compared.
        why: Table → the proof.
        final: Nobody may choose otherwise.
    """
    steps = tuple(
        step.model_copy(
            update={
                "outcome": Outcome.BLOCK,
                "findings": (
                    Finding(rule=0, outcome=Outcome.BLOCK, proof=why[step.table], final=final),
                    *step.findings,
                ),
            }
        )
        if step.table in why
        else step
        for step in found.steps
    )
    tables = tuple(
        table.model_copy(update={"outcome": Outcome.BLOCK}) if table.table in why else table for table in found.tables
    )
    outcome = worst(found.outcome, *(step.outcome for step in steps))
    return found.model_copy(update={"steps": steps, "tables": tables, "outcome": outcome})


def decided(found: FlowDiff, choices: Mapping[str, Outcome]) -> FlowDiff:
    """What a change does once a person chose for tables that block for another reason than what the change means.

    A table whose rows are recomputed all the same is not one whose older rows may keep their meaning.

    Args:
        found: As compared.
        choices: Table → FORWARD, older rows keep their meaning; or REBUILD.
    """
    steps = tuple(
        step.model_copy(
            update={"outcome": choices[step.table], "findings": _chosen(step.findings, choices[step.table])}
        )
        if step.outcome is Outcome.BLOCK and step.table in choices and _may(step.findings, choices[step.table])
        else step
        for step in found.steps
    )
    tables = tuple(
        table.model_copy(update={"outcome": choices[table.table]})
        if table.outcome is Outcome.BLOCK and table.table in choices
        else table
        for table in found.tables
    )
    outcome = worst(*(step.outcome for step in steps), *(finding.outcome for finding in found.settings))
    return found.model_copy(update={"steps": steps, "tables": tables, "outcome": outcome})


def _may(findings: tuple[Finding, ...], choice: Outcome) -> bool:
    rebuilt = any(f.outcome is Outcome.REBUILD and not f.keeps_values for f in findings)
    return not any(f.final for f in findings) and not (choice is Outcome.FORWARD and rebuilt)


def _chosen(findings: tuple[Finding, ...], choice: Outcome) -> tuple[Finding, ...]:
    return tuple(
        f.model_copy(update={"outcome": choice, "proof": f"{f.proof}; a person chose {choice}", "keeps_values": False})
        if f.outcome is Outcome.BLOCK
        else f
        for f in findings
    )
