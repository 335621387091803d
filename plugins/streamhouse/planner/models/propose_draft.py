"""From SQL that a model wrote to a Proposal, through the same gate as a Request's: reuse, files that compile, plan."""

from typing import Any

from sqlglot import exp

from streamhouse.planner.action_text import NewAction, ports_of
from streamhouse.planner.models.drafted import Drafted
from streamhouse.planner.naming import free_name, own_name
from streamhouse.planner.proposal import Proposal, Reuse, Status, proposal_id
from streamhouse.planner.propose import (
    ProposalDraft,
    home_of,
    of_table,
    table_names,
    taken_names,
    with_files,
    without_table,
)
from streamhouse.planner.reuse import same_action, same_table
from streamhouse.planner.sql.readable import readable
from streamhouse.planner.workspace import Workspace
from streamhouse.sql.dialect import quote_names, render_lines


def propose_draft(
    found: Drafted,
    wish: str,
    space: Workspace,
    *,
    flow: str | None = None,
    alone: bool = False,
    is_named: bool = False,
) -> ProposalDraft:
    """The proposal of a draft; equal arguments give an equal one.

    Args:
        found: Checked over the tables that the model may read.
        wish: As a person wrote it.
        space: The project.
        flow: That gets the step; one that is not there is made. None: the flow that writes what is read.
        alone: Only the action, and no step that uses it.
        is_named: Whether a person gave the draft's name, which is then not numbered.

    Raises:
        RequestShapeError: something has the name that a person gave.
        StreamhouseError: names that a table cannot have.
    """
    draft, answer = found.draft, found.composed
    notes = [*draft.assumptions, *found.notes]
    base = Proposal(
        id=proposal_id(wish, None),
        wish=wish,
        status=Status.PROPOSED,
        sentence=draft.description,
        assumptions=tuple(notes),
        sql=_plain_sql(found),
        planner="model",
    )
    existing_table = same_table((answer,), space.plans, space.catalog)
    if existing_table is not None and not alone:
        return ProposalDraft(of_table(base, existing_table, notes))
    known = same_action(answer, space.registry.actions, space.catalog)
    name_of = own_name if is_named else free_name
    step: dict[str, Any]
    if known is not None:
        layer = space.registry.actions[known.name].step.layer
        table = f"{layer.value}.{draft.name if alone else name_of(draft.name, table_names(space))}"
        step = {"use": known.name, "reads": dict(known.reads), "writes": table}
        step |= {"with": dict(known.values)} if known.values else {}
        reuse = Reuse(kind="action", name=known.name, why=known.why)
        base = base.model_copy(
            update={"table": table, "action": known.name, "values": dict(known.values), "reuses": (reuse,)}
        )
        if alone:
            update = {"table": "", "commands": (f"streamhouse action show {known.name}",)}
            return ProposalDraft(base.model_copy(update=update | {"id": proposal_id(wish, None, (), known.name)}))
        home = flow or home_of(tuple(known.reads.values()), space.catalog, space, table)
        base = base.model_copy(update={"flow": home})
        return with_files(ProposalDraft(base, step=step, flow=home, alone=alone, freshness=draft.freshness), space)
    if not answer.key:
        return without_table(base)
    name = name_of(draft.name, taken_names(space))
    action, table = _action(name, found, space), f"{draft.layer.value}.{name}"
    if not found.is_key_known:
        notes.append(f"the model says that {' and '.join(answer.key)} identify rows: nothing proves it")
    home = flow or home_of(tuple(action.reads.values()), space.catalog, space, table)
    step = {"use": name, "reads": dict(action.reads), "writes": table}
    base = base.model_copy(update={"table": table, "action": name, "flow": home, "assumptions": tuple(notes)})
    return with_files(ProposalDraft(base, action, None, space.catalog, step, home, alone, draft.freshness), space)


def examples_of(draft: ProposalDraft, found: Drafted) -> tuple[dict[str, Any], ...]:
    """The examples that the model wrote, over the ports of the action."""
    assert draft.action is not None
    ports = {table: port for port, table in draft.action.reads.items()}
    return tuple(
        {
            "given": {port: list(one.given.get(table, ())) for table, port in ports.items()},
            "expect": list(one.expect),
        }
        for one in found.draft.examples
    )


def _action(name: str, found: Drafted, space: Workspace) -> NewAction:
    draft = found.draft
    sql, inputs, reads = ports_of(found.composed, space.catalog)
    return NewAction(
        name=name,
        layer=draft.layer,
        description=draft.description,
        sql=sql,
        inputs=inputs,
        reads=reads,
        params={},
        key=found.composed.key,
        event_time=draft.event_time.lower() if draft.event_time else None,
        columns={column.lower(): {"description": text} for column, text in draft.columns.items() if text},
    )


def _plain_sql(found: Drafted) -> str:
    tree = readable(found.composed.query)
    assert isinstance(tree, exp.Query)
    if found.composed.key and not tree.args.get("order"):
        keys = [exp.Ordered(this=exp.column(name), nulls_first=True) for name in found.composed.key]
        tree.set("order", exp.Order(expressions=keys))
        quote_names(tree)
    return render_lines(tree)
