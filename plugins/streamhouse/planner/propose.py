"""From an understood wish to a Proposal: files that compile, or the reason why there are none. Writes nothing."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from sqlglot import exp

from streamhouse.errors import StrategyError, StreamhouseError, TierError
from streamhouse.model.types import Strategy, format_duration
from streamhouse.planner.action_text import NewAction, ports_of
from streamhouse.planner.catalog import Catalog
from streamhouse.planner.check_request import check_request
from streamhouse.planner.compose import Composed, composed
from streamhouse.planner.contract import event_time, expectations, meanings
from streamhouse.planner.cost import cost_of
from streamhouse.planner.flow_text import new_flow, with_freshness, with_options, with_step
from streamhouse.planner.freshness import FreshnessEstimate, freshness_estimate
from streamhouse.planner.naming import layer_of, table_name
from streamhouse.planner.new_table import options_of
from streamhouse.planner.proposal import Check, FileEdit, Proposal, Reuse, Status, StepPlan, proposal_id
from streamhouse.planner.request import Block, Request, Understood
from streamhouse.planner.reuse import SameAction, SameTable, same_action, same_table
from streamhouse.planner.roll_up import RolledUp, rolled_up
from streamhouse.planner.sentence import sentence
from streamhouse.planner.sql.readable import readable
from streamhouse.planner.sql.windows import OVER_TIME
from streamhouse.planner.table_query import table_query
from streamhouse.planner.try_files import try_files
from streamhouse.planner.workspace import Workspace
from streamhouse.sql.dialect import quote_names, render_lines


@dataclass(frozen=True)
class ProposalDraft:
    """A proposal, and what its files are made from, so that examples can be added.

    Attributes:
        action: The new action; None: there is none.
        effective_request: The Request that the action computes, over the tables that it reads.
        catalog: In which `effective_request` was composed.
        step: As the flow gets it.
        flow: Whose file is edited or new.
        alone: Whether only the action is wanted.
        freshness: That the flow is to promise, where no Request says so.
        assumed: What the reading of the wish assumed; what the files assume is found again.
    """

    proposal: Proposal
    action: NewAction | None = None
    effective_request: Request | None = None
    catalog: Catalog | None = None
    step: Mapping[str, Any] = field(default_factory=dict)
    flow: str = ""
    alone: bool = False
    freshness: timedelta | None = None
    assumed: tuple[str, ...] = ()


def propose(
    understood: Understood, wish: str, space: Workspace, *, flow: str | None = None, alone: bool = False
) -> ProposalDraft:
    """The proposal of a wish that was read; equal arguments give an equal one.

    Args:
        understood: How the wish was read.
        wish: As a person wrote it.
        space: The project.
        flow: That gets the step; one that is not there is made. None: the flow that writes what is read.
        alone: Only the action, and no step that uses it.
    """
    return replace(_of(understood, wish, space, flow, alone=alone), assumed=understood.assumptions)


def _of(understood: Understood, wish: str, space: Workspace, flow: str | None, *, alone: bool) -> ProposalDraft:
    request = understood.request
    base = Proposal(
        id=proposal_id(wish, request),
        wish=wish,
        status=Status.PROPOSED,
        request=request,
        sentence=sentence(request) if request is not None else "",
        readings=understood.readings,
        assumptions=understood.assumptions,
    )
    if understood.refusal:
        return _refused(base, understood.refusal)
    if understood.questions:
        return ProposalDraft(base.model_copy(update={"status": Status.QUESTION, "questions": understood.questions}))
    if request is None:
        return _refused(base, "the wish was not understood")
    try:
        check_request(request, space.catalog)
        return _proposed(base, request, space, flow, alone=alone)
    except StreamhouseError as error:
        return _refused(base, str(error), Check(name="request", verdict="failed", text=str(error)))


def finished(draft: ProposalDraft, space: Workspace, examples: tuple[Mapping[str, Any], ...]) -> ProposalDraft:
    """The same draft with examples in its new action, checked again."""
    if draft.action is None or not examples or draft.proposal.status is not Status.PROPOSED:
        return draft
    found = with_files(replace(draft, action=draft.action.with_examples(examples)), space)
    return replace(found, assumed=draft.assumed)


def plain_sql(found: Composed, request: Request) -> str:
    """The answer as one SELECT that `streamhouse query` takes, rows in the order in which people read them."""
    tree = readable(found.query)
    assert isinstance(tree, exp.Query)
    keys = [exp.Ordered(this=exp.column(name), nulls_first=True) for name in found.key if name in found.columns]
    if request.ranking is not None:
        best = exp.Ordered(this=exp.column(request.ranking.by), desc=request.ranking.descending, nulls_first=False)
        per = [exp.Ordered(this=exp.column(name), nulls_first=True) for name in request.ranking.per]
        keys = [*per, best, *(key for key in keys if key.this.name not in {request.ranking.by, *request.ranking.per})]
    if keys:
        tree.set("order", exp.Order(expressions=keys))
        quote_names(tree)
    return render_lines(tree)


def _refused(base: Proposal, why: str, *checks: Check) -> ProposalDraft:
    return ProposalDraft(base.model_copy(update={"status": Status.REFUSED, "refusal": why, "checks": checks}))


def _later_than_wished(existing: SameTable, request: Request, space: Workspace) -> list[str]:
    """That an existing table is promised later than the wish wants it; else nothing."""
    promised, wished = space.plans[existing.flow].freshness, request.freshness
    if wished is None or wished >= promised:
        return []
    there = f"{existing.table} is promised within {format_duration(promised)} of its source"
    return [f"{there}, not within {format_duration(wished)}: `freshness` of flow {existing.flow}"]


def _proposed(base: Proposal, request: Request, space: Workspace, flow: str | None, *, alone: bool) -> ProposalDraft:
    answer = composed(request, space.catalog)
    notes = [*base.assumptions, *_gaps(request, answer)]
    plain, folded = RolledUp(request, space.catalog, "", ""), rolled_up(request, space.catalog, space.plans)
    existing_table = _existing_table([plain, *folded], space) if not alone else None
    if existing_table is not None:
        notes += _later_than_wished(existing_table, request, space)
        return ProposalDraft(of_table(base, existing_table, notes))
    # A new action alone computes the whole answer, and so may one that is there.
    forms = [plain, *folded] if alone else [*folded, plain]
    form, known = _existing_action(forms, space) or (forms[0], None)
    effective_request, catalog = form.request, form.catalog
    reuses = (Reuse(kind="table", name=form.table, why=form.why),) if form.table else ()
    answer = answer if form is plain else composed(effective_request, catalog)
    base = base.model_copy(update={"sql": plain_sql(answer, effective_request), "reuses": reuses})
    wanted = table_query(effective_request, catalog)
    notes += wanted.assumptions
    if known is not None:
        return _with_action(base, known, request, space, flow, notes, alone=alone)
    table = table_name(request, taken_names(space))
    action = _new_action(
        table.partition(".")[2], effective_request, request, wanted.composed, catalog, base.sentence, space
    )
    if not action.key and not _appends(effective_request, catalog):
        return without_table(base.model_copy(update={"assumptions": tuple(notes)}))
    home = flow or home_of(tuple(action.reads.values()), catalog, space, table)
    reads: dict[str, Any] = dict(action.reads)
    looked_up = [port for port, name in reads.items() if not action.key and name != effective_request.block.base]
    if looked_up:
        reads |= {port: {"table": reads[port], "as": "lookup"} for port in looked_up}
        names = " and ".join(action.reads[port] for port in looked_up)
        notes.append(
            f"rows of {names} are looked up when a row of {effective_request.block.base} comes;"
            " later edits change no older row"
        )
    step = {"use": action.name, "reads": reads, "writes": table}
    base = base.model_copy(update={"table": table, "action": action.name, "flow": home, "assumptions": tuple(notes)})
    return with_files(ProposalDraft(base, action, effective_request, catalog, step, home, alone), space)


def _existing_table(forms: Sequence[RolledUp], space: Workspace) -> SameTable | None:
    """The table that a step computes with the same query as one of the forms of a Request."""
    for one in forms:
        spellings = (composed(one.request, one.catalog), composed(one.request, one.catalog, parametrise=True))
        found = same_table(spellings, space.plans, one.catalog)
        if found is not None:
            return found
    return None


def _existing_action(forms: Sequence[RolledUp], space: Workspace) -> tuple[RolledUp, SameAction] | None:
    """The first form of the Request that an action gives, with this action."""
    for one in forms:
        known = same_action(composed(one.request, one.catalog, parametrise=True), space.registry.actions, one.catalog)
        if known is not None:
            return one, known
    return None


def _new_action(
    name: str,
    effective_request: Request,
    request: Request,
    found: Composed,
    catalog: Catalog,
    description: str,
    space: Workspace,
) -> NewAction:
    sql, inputs, reads = ports_of(found, catalog)
    return NewAction(
        name=name,
        layer=layer_of(request),
        description=description,
        sql=sql,
        inputs=inputs,
        reads=reads,
        params=found.params,
        key=found.key,
        event_time=event_time(effective_request, found, catalog),
        columns=meanings(request, found, space.catalog),
        expect=expectations(request, found),
    )


def _with_action(
    base: Proposal,
    known: SameAction,
    request: Request,
    space: Workspace,
    flow: str | None,
    notes: list[str],
    *,
    alone: bool,
) -> ProposalDraft:
    """A step that uses an action that there is already."""
    layer = space.registry.actions[known.name].step.layer
    table = "" if alone else table_name(request.model_copy(update={"layer": layer}), table_names(space))
    home = flow or home_of(tuple(known.reads.values()), space.catalog, space, table)
    step: dict[str, Any] = {"use": known.name, "reads": dict(known.reads), "writes": table}
    if known.values:
        step["with"] = dict(known.values)
    reuse = Reuse(kind="action", name=known.name, why=known.why)
    base = base.model_copy(
        update={
            "table": table,
            "action": known.name,
            "flow": "" if alone else home,
            "values": dict(known.values),
            "reuses": (*base.reuses, reuse),
            "assumptions": tuple(notes),
        }
    )
    if alone:
        return ProposalDraft(
            _identified(base.model_copy(update={"commands": (f"streamhouse action show {known.name}",)}))
        )
    return with_files(ProposalDraft(base, step=step, flow=home), space)


def with_files(draft: ProposalDraft, space: Workspace) -> ProposalDraft:
    """The draft with its files, compiled: one that does not compile becomes a refusal that says why."""
    space.refuse_unreadable(draft.flow)
    base = draft.proposal
    flow_edit, notes = _flow_edit(draft, space)
    edits = [FileEdit(path=draft.action.path, after=draft.action.text)] if draft.action is not None else []
    edits.append(flow_edit)
    try:
        tried = try_files(space.project, space.files, edits, draft.flow, space.applied, space.plans, space.registry)
    except StrategyError as error:
        if draft.action is not None and not draft.action.key:
            return without_table(base)
        return _refused(base, f"no table can hold this: {error}", _failed(error))
    except StreamhouseError as error:
        if isinstance(error, TierError) and Strategy.RECOMPUTE not in draft.step.values():
            # The store of a cold table adds nothing to what a row has; its groups are computed again.
            return with_files(replace(draft, step={**draft.step, "strategy": Strategy.RECOMPUTE.value}), space)
        why = f"the proposed files do not compile: {error}"
        return _refused(base, why, _failed(error))
    shown = edits[:1] if draft.alone else edits
    step = next(one for one in tried.plan.steps if one.writes.name == base.table)
    cost, promised = cost_of(step, tried.plan, space.applied.rows), _promised(draft)
    checks = [Check(name="compile", verdict="passed", text=f"{len(tried.plan.steps)} steps of flow {draft.flow}")]
    if promised is not None and not draft.alone:
        estimate = freshness_estimate(promised, step, tried.plan, space.epoch_work_ms(draft.flow))
        if estimate.holds is False:
            return _too_fresh(base, promised, estimate)
        if estimate.holds is None:
            cost = cost.model_copy(update={"notes": (*cost.notes, estimate.text)})
        else:
            checks.append(Check(name="freshness", verdict="passed", text=estimate.text))
    checks += [Check(name="notice", verdict="notice", text=str(notice)) for notice in tried.notices]
    if step.strategy is Strategy.FULL:
        checks.append(Check(name="freshness", verdict="notice", text="every epoch reads all rows; see the cost"))
    done = base.model_copy(
        update={
            "files": tuple(sorted(shown, key=lambda edit: edit.path)),
            "assumptions": tuple(dict.fromkeys([*base.assumptions, *notes])),
            "steps": (
                StepPlan(table=base.table, action=step.action, strategy=step.strategy.value, reason=step.reason),
            ),
            "outcomes": () if draft.alone else tried.outcomes,
            "cost": cost,
            "checks": tuple(checks),
            "table": "" if draft.alone else base.table,
            "flow": "" if draft.alone else base.flow,
            "commands": _commands(draft),
        }
    )
    if draft.alone:
        return replace(draft, proposal=_identified(done))
    return replace(draft, proposal=_identified(done))


def _promised(draft: ProposalDraft) -> timedelta | None:
    """How fresh the wish asks the table to be; None: it does not say."""
    request = draft.proposal.request
    return request.freshness if request is not None else draft.freshness


def _too_fresh(base: Proposal, promised: timedelta, estimate: FreshnessEstimate) -> ProposalDraft:
    least = format_duration(estimate.least or promised)
    why = (
        f"{base.table} cannot be fresh within {format_duration(promised)}: {estimate.text}; "
        f"a row takes at least {least}, so ask for a longer freshness, or for none"
    )
    return _refused(base, why, Check(name="freshness", verdict="failed", text=estimate.text))


def _failed(error: StreamhouseError) -> Check:
    return Check(name="compile", verdict="failed", text=str(error))


def without_table(base: Proposal) -> ProposalDraft:
    """The answer as a query alone."""
    text = "no key identifies the rows of the answer, so no table can be kept up to date; the query answers the wish"
    done = base.model_copy(
        update={
            "table": "",
            "flow": "",
            "action": "",
            "assumptions": (*base.assumptions, text),
            "checks": (Check(name="table", verdict="notice", text=text),),
            "commands": (_query(base),),
        }
    )
    return ProposalDraft(_identified(done))


def _commands(draft: ProposalDraft) -> tuple[str, ...]:
    if draft.alone:
        return (f"streamhouse action test {draft.action.name}",) if draft.action is not None else ()
    tests = (f"streamhouse action test {draft.action.name}",) if draft.action is not None else ()
    return (*tests, f"streamhouse plan {draft.flow}", f"streamhouse apply {draft.flow}")


def _flow_edit(draft: ProposalDraft, space: Workspace) -> tuple[FileEdit, list[str]]:
    freshness, table = _promised(draft), draft.proposal.table
    options, notes = _options(draft, space)
    known = space.registry.flows.get(draft.flow)
    if known is None:
        text = new_flow(draft.flow, draft.proposal.sentence, "", freshness, dict(draft.step), options)
        return FileEdit(path=f"flows/{draft.flow}.yaml", after=text), [f"a new flow: {draft.flow}", *notes]
    before = space.registry.files[known.at.file].text()
    after = with_step(before, dict(draft.step), known.at.file)
    if options:
        after = with_options(after, table, options, known.at.file)
    if freshness is not None and freshness < known.freshness:
        after = with_freshness(after, freshness, known.at.file)
        notes.append(f"the whole flow {draft.flow} is to be fresh within what was asked, which is stricter than it was")
    return FileEdit(path=known.at.file, before=before, after=after), notes


def _options(draft: ProposalDraft, space: Workspace) -> tuple[dict[str, Any], list[str]]:
    """What the flow says of the new table, and why; an action alone says nothing of a table."""
    if draft.alone:
        return {}, []
    reads = [one["table"] if isinstance(one, Mapping) else one for one in draft.step["reads"].values()]
    return options_of(draft.proposal.table, reads, space.catalog, space.plans)


def of_table(base: Proposal, existing_table: SameTable, notes: list[str]) -> Proposal:
    """A proposal to read a table that holds the answer."""
    reuse = Reuse(kind="table", name=existing_table.table, why=existing_table.why)
    done = base.model_copy(
        update={
            "table": existing_table.table,
            "flow": existing_table.flow,
            "sql": render_lines(readable(existing_table.query)),
            "reuses": (reuse,),
            "assumptions": tuple(notes),
            "checks": (Check(name="reuse", verdict="passed", text=existing_table.why),),
        }
    )
    return _identified(done.model_copy(update={"commands": (_query(done),)}))


def _identified(done: Proposal) -> Proposal:
    return done.model_copy(update={"id": proposal_id(done.wish, done.request, done.files, done.table)})


def _query(done: Proposal) -> str:
    return f"streamhouse query {shlex.quote(' '.join(done.sql.split()))}"  # a text in it may be any


def home_of(tables: tuple[str, ...], catalog: Catalog, space: Workspace, table: str) -> str:
    """The flow that writes all that is read; several: the one that writes the most, else a new one."""
    flows = {catalog.tables[name].flow for name in tables}
    if len(flows) == 1:
        return next(iter(flows))
    name = table.partition(".")[2]
    free, number = name, 2
    while free in space.registry.flows:
        free, number = f"{name}_{number}", number + 1
    return free


def taken_names(space: Workspace) -> dict[str, str]:
    """Name of a table without its layer, or of an action → what has it."""
    return {name: f"the action {name}" for name in space.registry.action_names} | table_names(space)


def table_names(space: Workspace) -> dict[str, str]:
    """Name of a table without its layer → what has it: all that a table of an existing action must differ from."""
    every = ((flow, table) for flow, plan in space.plans.items() for table in plan.tables)
    return {table.partition(".")[2]: f"the table {table} of flow {flow}" for flow, table in every}


def _appends(request: Request, catalog: Catalog) -> bool:
    """Whether rows come one by one from rows that are only appended: such a table needs no key."""
    block = request.block
    plain = not (block.measures or block.dimensions or block.sessions or block.pick or block.inner or block.derived)
    return plain and request.ranking is None and block.base is not None and not catalog.tables[block.base].primary_key


def _gaps(request: Request, answer: Composed) -> list[str]:
    if not answer.compares or answer.timeline is None:
        return []
    grain = answer.timeline.grain.value.replace("_", " ")
    shifted = [one for block in _blocks(request.block) for one in block.derived if one.kind in OVER_TIME]
    notes = []
    if any(one.kind in ("change", "previous") for one in shifted):
        notes.append(
            f"a {grain} is compared with the {grain} before it by the calendar; where that has no rows, with nothing"
        )
    if any(one.kind == "moving" for one in shifted):
        notes.append(f"a {grain} without rows does not count in averages over several")
    return notes


def _blocks(block: Block) -> tuple[Block, ...]:
    return (block, *(_blocks(block.inner) if block.inner is not None else ()))
