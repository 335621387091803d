"""Restores what a project lost: its records, from what its tables tell, and its tables (docs/restore.md)."""

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from shutil import rmtree

from streamhouse.change.building import drop_version
from streamhouse.engine.lease import LeaseGuard, leased
from streamhouse.engine.loss import LaterEpoch, LossVerdict
from streamhouse.engine.traces import TracesOnce
from streamhouse.engine.unreadable_flows import beside, refuse_unknown
from streamhouse.errors import StateConflictError
from streamhouse.jobs.copies import LostCopy, drop_copy, fill_copy, keep_copies, lost_copies, tables_of_other_histories
from streamhouse.jobs.positions import FlowPositions, PositionSearch
from streamhouse.jobs.recompute import FlowRestore, Recompute
from streamhouse.jobs.refill import FlowRecords, Refill, forget_pins, go_on_at
from streamhouse.model.plan import FlowPlan
from streamhouse.model.version import table_name
from streamhouse.project.desired import desired
from streamhouse.project.project import Project
from streamhouse.runtime.lost_tables import naming_damage
from streamhouse.runtime.open import Open, opened, plan_of, readers_last
from streamhouse.runtime.owner import is_alive, this_owner
from streamhouse.state.plans import Unreadable
from streamhouse.state.store import StateStore
from streamhouse.state.troubles import RESTORE


@dataclass(frozen=True)
class Restored:
    """What was found of a flow, and done.

    Attributes:
        flow: Its name.
        did: What was put right, a sentence for each thing.
        lost: What does not come back, in the same form.
    """

    flow: str
    did: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)


def restore_flows(
    project: Project,
    flows: Collection[str] = (),
    *,
    rebuild: bool = False,
    from_sources: bool = False,
    trust: Collection[str] = (),
    dry_run: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> list[Restored]:
    """Bring the records of flows, which must not run, to what their tables tell, and lost tables back.

    Positions in a table mean nothing in one that came back. So flows that read each other's tables are restored
    together, whichever of them are named.

    Args:
        project: Holds the flows.
        flows: Their names; empty: all.
        rebuild: Drop what the flows wrote, and have them read their sources from the beginning.
        from_sources: Compute what the tables lack from what the flows read; right where all of that is still there.
        trust: `state`: it is right though hot tables that have no note end elsewhere. `files`: the flow goes on by
            their plan though another one wrote the tables, whose older rows keep what they have.
        dry_run: Look, and change nothing.
        say: Is called with what is being done.

    Returns:
        What was found and done, each flow after those whose tables it reads.

    Raises:
        LeaseHeldError: a flow runs.
        StateConflictError: it is unknown how far a flow is; nothing was changed.
        StoreError: a table cannot be read; the hint says what to type.
    """
    with opened(project, say=say) as open_:
        plans = dict(desired(project, unreadable={}).plans)
        chosen = {name: plans[name] if name in plans else plan_of(project, name) for name in flows or plans}
        if rebuild:
            return rebuild_flows(open_, chosen, dry_run=dry_run)
        together = connected(plans | chosen, chosen)
        return restore_together(open_, together, from_sources=from_sources, trust=trust, dry_run=dry_run, say=say)


def restore_flow(
    open_: Open,
    plan: FlowPlan,
    *,
    rebuild: bool = False,
    from_sources: bool = False,
    trust: Collection[str] = (),
    dry_run: bool = False,
) -> Restored:
    """The same of one flow, and those that it is connected with, over what is open; what was done of this one."""
    if rebuild:
        [done] = rebuild_flows(open_, {plan.flow: plan}, dry_run=dry_run)
        return done
    together = connected({**desired(open_.project, unreadable={}).plans, plan.flow: plan}, [plan.flow])
    done_all = restore_together(open_, together, from_sources=from_sources, trust=trust, dry_run=dry_run)
    return next(one for one in done_all if one.flow == plan.flow)


def connected(plans: Mapping[str, FlowPlan], names: Collection[str]) -> dict[str, FlowPlan]:
    """Some flows, and all that read from them or are read by them, directly or not."""
    found = set(names)
    while True:
        written = {table for name in found for table in plans[name].tables}
        read = {table.name for name in found for table in plans[name].external}
        more = {
            name
            for name, plan in plans.items()
            if name not in found and (read & plan.tables.keys() or written & {table.name for table in plan.external})
        }
        if not more:
            return {name: plans[name] for name in plans if name in found}
        found |= more


def restore_together(
    open_: Open,
    plans: Mapping[str, FlowPlan],
    *,
    from_sources: bool = False,
    trust: Collection[str] = (),
    dry_run: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> list[Restored]:
    """Restore flows that are connected, over what is open; see `restore_flows`.

    Raises:
        LeaseHeldError: a flow runs.
        StateConflictError: it is unknown how far a flow is; nothing was changed.
        StoreError: a table cannot be read; the hint says what to type.
    """
    order = readers_last(plans)
    with ExitStack() as stack:
        guards = {name: stack.enter_context(leased(open_.state, name, this_owner(), alive=is_alive)) for name in order}
        unreadable = refuse_beside(open_.state, plans)
        with naming_damage(open_.project, open_.state, plans):
            records = {name: PositionSearch(open_, plans[name], trust) for name in order}
            found = {name: records[name].look() for name in order}
            _compare_flows(records, found)
            refuse_older_state(found.values(), unreadable)
            for name in order:
                if found[name].unknown and not from_sources:
                    raise found[name].refusal()
            flows = _flow_restores(open_, order, records, found, guards)
            done = {one.plan.flow: _described(open_, one) for one in flows}
        recompute = Recompute(open_, flows, say)
        if not dry_run:
            _act(open_, flows, recompute, done, from_sources=from_sources)
        return [done[name] for name in order]


def refuse_beside(state: StateStore, plans: Mapping[str, FlowPlan]) -> Unreadable:
    """Refuse to restore flows that share a table with a flow whose plan cannot be read, or may share one.

    Args:
        state: Of the project.
        plans: Flow → its plan, as the files have it, of those that are restored together.

    Returns:
        Flow → why its plan cannot be read, of the flows beside these.

    Raises:
        StateConflictError: so it is; the hint is what to do about the plan that cannot be read.
    """
    unreadable: Unreadable = {}
    running = state.running_plans(unreadable)
    if not unreadable:
        return unreadable
    epochs = state.newest_epochs()
    for name, planned in plans.items():
        if name in unreadable:
            raise unreadable[name]
        for plan in (planned, running[name]) if name in running else (planned,):
            refuse_unknown(plan, running.values(), unreadable, epochs)
    return unreadable


def refuse_older_state(found: Iterable[FlowPositions], unreadable: Unreadable) -> None:
    """Refuse where the state store may be an older one: then its last epochs do not say what a flow read.

    Args:
        found: Of the flows that are restored together.
        unreadable: As `refuse_beside` gives it.

    Raises:
        StateConflictError: so it is.
    """
    for flow, error in unreadable.items():
        for one in found:
            if any(others is not LaterEpoch.NOT_LATER for _, others, _ in one.notes.values()):
                text = (
                    f"cannot be restored: the state store is older, so it is not known whether {flow} reads its tables"
                )
                raise beside(one.plan.flow, text, error)


def rebuild_flows(open_: Open, plans: Mapping[str, FlowPlan], *, dry_run: bool = False) -> list[Restored]:
    """Drop every version of every table of some flows, and forget how far they were.

    Raises:
        LeaseHeldError: a flow runs.
        StateConflictError: another flow writes, or reads, one of the tables; nothing was changed.
    """
    running = {**{name: plan for name, (_, plan) in open_.state.plans().items()}, **plans}
    written = {table: name for name, plan in plans.items() for table in plan.tables}
    readers = sorted(
        name
        for name, plan in running.items()
        if name not in plans and written.keys() & {table.name for table in plan.external}
    )
    if readers:
        every = " ".join([*plans, *readers])
        raise StateConflictError(
            f"{', '.join(readers)} reads tables of {', '.join(plans)}, and has positions in what would be dropped",
            hint=f"build its tables again as well: streamhouse restore {every} --rebuild",
        )
    for name, other in running.items():
        if shared := sorted(written.keys() & other.tables.keys()) if name not in plans else []:
            raise StateConflictError(
                f"{name} writes {shared[0]} too, whose rows would be dropped with those of {written[shared[0]]}",
                hint="bring the newest state store or checkpoints back",
            )
    order = readers_last(plans)
    with ExitStack() as stack:
        guards = {name: stack.enter_context(leased(open_.state, name, this_owner(), alive=is_alive)) for name in order}
        return [_begin_again(open_, plans[name], guards[name], written, dry_run=dry_run) for name in order]


def _begin_again(
    open_: Open, plan: FlowPlan, guard: LeaseGuard, dropped: Collection[str], *, dry_run: bool
) -> Restored:
    done = Restored(plan.flow, ["its tables are dropped, and its sources are read from their beginning"])
    done.lost.append("rows that its sources do not have any more")
    if dry_run:
        return done
    records, state = PositionSearch(open_, plan, ()), open_.state
    known = state.versions()
    for table in plan.tables.values():
        for version in records.versions(plan, known.get(table.name, 1)):
            drop_version(open_, table, version)
        state.troubles.mended(plan.flow, table.name, table.tiers.target, RESTORE)
    segments = {s.name for one in (plan, records.applied) if one is not None for s in one.segments}
    state.restore(guard.lease, plan, known, dict.fromkeys(segments, (None, None)))
    for folder in ("checkpoints", "cache/states"):
        rmtree(open_.project.state_dir / folder / plan.flow, ignore_errors=True)
    forget_pins(open_, plan.flow, dropped)
    state.append_event(plan.flow, "restore", done.did[0])
    return done


def _compare_flows(records: Mapping[str, PositionSearch], found: Mapping[str, FlowPositions]) -> None:
    """A flow cannot know by itself that a table of another one is lost, when the state store is lost as well.

    Nor does one whose table is older know that another flow has read more of it.
    """
    lost = {table: what for one in found.values() for seen in one.seen.values() for table, what in seen.lost.items()}
    ahead = {table: what for one in found.values() for seen in one.seen.values() for table, what in seen.ahead.items()}
    # Of a table that is lost, what was read is compared with where its own flow goes on.
    ahead = {table: what for table, what in ahead.items() if table not in lost}
    for name, one in found.items():
        ahead |= records[name].read_beyond(one, found.values())
    for name, one in found.items():
        for segment, seen in one.seen.items():
            touched = (seen.segment.reads | seen.segment.tables.keys()) & ahead.keys()
            seen.ahead.clear()
            seen.ahead.update({table: ahead[table] for table in touched})
            more = (seen.segment.reads - set(seen.segment.tables)) & lost.keys() - seen.lost_inputs.keys()
            seen.lost_inputs.update({table: lost[table] for table in more})
            records[name].judge_again(one, segment)


def _flow_restores(
    open_: Open,
    order: list[str],
    records: Mapping[str, PositionSearch],
    found: Mapping[str, FlowPositions],
    guards: Mapping[str, LeaseGuard],
) -> list[FlowRestore]:
    every = {
        name: FlowRecords(one.stored, one.last, {segment: seen.lost for segment, seen in one.seen.items()})
        for name, one in found.items()
    }
    refills = {name: Refill(open_, name, every, records[name].copies) for name in order}
    return [FlowRestore(records[name], found[name], refills[name], guards[name]) for name in order]


def _described(open_: Open, one: FlowRestore) -> Restored:
    """What is to be done about a flow, before anything is."""
    found, done = one.found, Restored(one.plan.flow)
    for name, rule in found.rules.items():
        if name in found.remedies:
            done.did.append(f"{name}: {found.remedies[name].words}")
        elif rule.verdict is LossVerdict.COMPUTE:
            done.did.append(
                f"{name}: {rule.why}: what its tables lack is computed, and it goes on where its inputs end"
            )
        elif rule.verdict is LossVerdict.LEAVE:
            recorded = found.last[name].ends
            for table, end in found.seen[name].more.items():
                rows = sum(end.values()) - sum(recorded[table].values())
                done.did.append(
                    f"{table_name(table)}: {rows:,} rows that something else wrote since the last epoch stay"
                )
    did, lost = one.refill.describe()
    done.did.extend(did)
    done.lost.extend(lost)
    of_others = tables_of_other_histories(open_, one.plan, one.records.traces)
    done.did.extend(map(str, _copies_beside(open_, one, of_others)))
    if found.remedies or (found.unknown and one.records.applied is None):
        done.lost.append("what else the state store knew since then: changes, approvals, events, counts of rows")
        if found.is_other_plan:
            done.did.append("the plan of its files is the one that wrote the tables, and taken for the applied one")
        names = [*found.remedies, *found.unknown]
        if found.is_other_plan or any(open_.state.newest_known(one.plan.flow, name) is None for name in names):
            done.lost.append("earlier plans, and since when a column has its meaning")
    return done


def _copies_beside(open_: Open, one: FlowRestore, of_others: Collection[str]) -> list[LostCopy]:
    """Lost copies of tables that are not filled themselves; arguments as of `lost_copies`."""
    filled = {missing.table.name for missing in one.refill.missing}
    return [copy for copy in lost_copies(open_, one.plan, of_others) if copy.table.name not in filled]


def _act(
    open_: Open, flows: list[FlowRestore], recompute: Recompute, done: Mapping[str, Restored], *, from_sources: bool
) -> None:
    for one in flows:
        one.records.take_over(one.found, one.guard.lease)
    for one in flows:
        one.refill.run()
    stores = open_.stores
    ends = {m.table.name: stores[m.table.tiers.target].end(m.table) for one in flows for m in one.refill.missing}
    traces = TracesOnce(stores)  # those of the look are older: tables were filled again, and positions taken over
    of_others = {one.plan.flow: tables_of_other_histories(open_, one.plan, traces) for one in flows}
    copies = {one.plan.flow: _copies_beside(open_, one, of_others[one.plan.flow]) for one in flows}
    lost_first = {table for one in flows for seen in one.found.seen.values() for table in seen.lost}
    for name, lost in copies.items():  # what is computed is read from them, too
        for copy in lost:
            if copy.table.name not in lost_first:
                done[name].lost.extend(fill_copy(open_, name, copy))
            elif not copy.is_older:
                drop_copy(open_, copy)
    if from_sources:
        for one in flows:
            keep_copies(open_, one.plan, of_others[one.plan.flow])
        recompute.run(ends)
        ends |= recompute.ends
        recompute.begin_behind()
    for one in flows:
        name = one.plan.flow
        if ends:
            go_on_at(open_, one.plan, ends, one.guard.lease)
        one.refill.done()
        for copy in (one for one in copies[name] if one.table.name in lost_first):
            done[name].lost.extend(fill_copy(open_, name, copy))
        done[name].did.extend(recompute.did.get(name, ()))
        for text in done[name].did:
            open_.state.append_event(name, "restore", text)
        for text in done[name].lost:
            open_.state.append_event(name, "loss", text)
    recompute.mark()
