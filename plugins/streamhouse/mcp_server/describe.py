"""One table, action or flow in full, as far as it may be shown."""

from streamhouse.errors import (
    NotSharedError,
    StreamhouseError,
    UnknownActionError,
    UnknownTableError,
    did_you_mean,
)
from streamhouse.mcp_server.answers import (
    ActionFacts,
    DescribeAnswer,
    FlowFacts,
    FlowStep,
)
from streamhouse.mcp_server.arguments import DescribeArguments
from streamhouse.mcp_server.describe_table import rules, table_facts
from streamhouse.mcp_server.health import error_text, freshness, losses, troubles
from streamhouse.mcp_server.rows import rows_of, selecting
from streamhouse.mcp_server.shareable import Shared
from streamhouse.mcp_server.tool_context import Serving
from streamhouse.model.plan import FlowPlan
from streamhouse.ui import actions, flows
from streamhouse.ui.desk import Desk


async def describe(serving: Serving, request: DescribeArguments) -> DescribeAnswer:
    """What somebody must know to use it.

    Raises:
        UnknownTableError: nothing is called so.
        UnknownColumnError: the table has no such column.
        NotSharedError: it may not be shown, or rows are asked for that may not.
    """
    answer, shared = await serving.work.run(lambda: _facts(serving, request))
    if not request.rows:
        return answer
    if answer.table is None:
        raise NotSharedError(f"'{request.name}' has no rows", hint="leave 'rows' out, or name a table")
    name = answer.table.name
    shared.require_rows([name])
    sample = await rows_of(serving.asker, selecting(name), request.rows)
    return answer.model_copy(update={"sample": sample})


def facts(serving: Serving, name: str, kind: str) -> DescribeAnswer:
    """The same without rows."""
    return _facts(serving, DescribeArguments.model_validate({"name": name, "kind": kind}))[0]


def _facts(serving: Serving, request: DescribeArguments) -> tuple[DescribeAnswer, Shared]:
    shared, look = serving.shared(), serving.look()
    kind = request.kind or _kind(shared, request.name)
    if kind == "table":
        found, withheld = table_facts(look, shared, request.name)
        return DescribeAnswer(kind="table", table=found, withheld=withheld), shared
    if kind == "action":
        action, withheld = _action(look, shared, request.name)
        return DescribeAnswer(kind="action", action=action, withheld=withheld), shared
    flow, withheld = _flow(look, shared, request.name)
    return DescribeAnswer(kind="flow", flow=flow, withheld=withheld), shared


def _kind(shared: Shared, name: str) -> str:
    if "." in name.partition("@")[0]:
        return "table"
    known = {"action": shared.registry.action_names, "flow": (*shared.flows, *shared.registry.broken_flows)}
    for kind, names in known.items():
        if name.partition("@")[0] in names:
            return kind
    every = [*shared.tables, *shared.actions, *shared.flows]
    raise UnknownTableError(
        f"no table, action or flow is called '{name}'",
        hint=did_you_mean(name, every, "look for it with 'search'"),
    )


def _action(look: Desk, shared: Shared, name: str) -> tuple[ActionFacts, tuple[str, ...]]:
    own = name.partition("@")[0]
    if own in shared.registry.action_names and own not in shared.actions:
        raise NotSharedError(
            f"action '{name}' may not be shown: it makes or reads a table that says `ai: {{schema: denied}}`",
            hint="a person can look at it: streamhouse action show",
        )
    if own not in shared.actions:  # a hint names only what may be shown
        raise UnknownActionError(name, shared.actions)
    page = actions.page(look, name)
    summary = page.summary
    uses = [f"{use.flow}: {use.writes}" for use in page.uses if shared.sees(use.writes)]
    keep = shared.cleaned
    withheld = ("examples: they hold rows",) if page.examples else ()
    return ActionFacts(
        name=summary.action,
        version=summary.version,
        step=summary.step,
        layer=summary.layer,
        description=keep(summary.description),
        file=page.file,
        inputs={port.port: port.columns for port in page.inputs},
        parameters=tuple(one.model_copy(update={"description": keep(one.description)}) for one in page.params),
        primary_key=page.primary_key,
        expectations=rules(page.expectations, shared),
        used_by=tuple(uses),
        deprecated=summary.deprecated,
        sql=shared.cleaned_sql(page.sql),
    ), withheld


def _flow(look: Desk, shared: Shared, name: str) -> tuple[FlowFacts, tuple[str, ...]]:
    page = flows.page(look, name)
    summary = page.summary
    try:
        plan = flows.known(look, name)[1]
    except StreamhouseError:  # its files are wrong, and it was never applied; or its plan cannot be read
        plan = None
    steps = plan.steps if plan is not None else ()
    shown_steps = [step for step in steps if shared.sees(step.writes.name)]
    return FlowFacts(
        name=summary.flow,
        description=shared.cleaned(summary.description),
        owner=summary.owner,
        tags=tuple(map(shared.cleaned, summary.tags)),
        file=page.source.file if page.source is not None else None,
        revision=summary.revision,
        edit=shared.cleaned(summary.edit) if summary.edit else None,
        sources=_sources(plan, shared) if plan is not None else {},
        steps=tuple(
            FlowStep(
                step=step.id,
                action=step.action,
                strategy=step.strategy.value,
                reads=tuple(read.table for read in step.reads if shared.sees(read.table)),
                writes=step.writes.name,
            )
            for step in shown_steps
        ),
        freshness=freshness(summary),
        error=error_text(summary.error, shared, plan.tables if plan is not None else [name]) if summary.error else None,
        troubles=troubles(summary, shared),
        lost=losses(summary.lost, shared),
    ), shared.left_out(len(steps) - len(shown_steps), "steps")


def _sources(plan: FlowPlan, shared: Shared) -> dict[str, str]:
    """Source → its kind."""
    kinds = {source.name: source.kind for source in plan.sources}
    reads = [(read.table, step.writes.name) for step in plan.steps for read in step.reads]
    return {name: kinds[name] for name in shared.sources(kinds, reads)}
