"""`streamhouse plan`: what a run would do that the last one did not."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from streamhouse.cli.app import App, shared_options
from streamhouse.cli.output import Output

if TYPE_CHECKING:
    from streamhouse.model.plan import FlowPlan, PlannedStep

CHANGES = 10
_STYLES = {"new": "green", "changed": "yellow", "removed": "red"}


@dataclass(frozen=True)
class Difference:
    """A compiled flow against what was applied last.

    Attributes:
        revision: Of the applied plan; None: never applied.
        applied: Fingerprint of the applied plan; None: never applied.
        steps: Table → `new`, `changed`, `removed` or `same`, upstream first, removed ones last.
    """

    plan: "FlowPlan"
    revision: int | None
    applied: str | None
    steps: dict[str, str]

    @property
    def is_change(self) -> bool:
        """Whether a run would apply another plan than the last."""
        return self.applied != self.plan.fingerprint


@click.command(
    short_help="Show what a run would change.",
    epilog="""\b
Examples:
  streamhouse plan                       # every flow
  streamhouse plan orders --explain      # strategies with reasons, types, tiers
  streamhouse plan orders --json | jq .flows[0].steps
""",
)
@click.argument("flow", required=False)
@click.option("--explain", is_flag=True, help="Show the compiled flow in full.")
@shared_options
@click.pass_context
def plan(context: click.Context, flow: str | None, explain: bool) -> None:
    """Compile FLOW (all flows, without it) and compare it with what was applied last. Touches nothing.

    Exits with 0 when there is nothing to apply and with 10 when there is.
    """
    app: App = context.obj
    found = [_difference(app, compiled) for compiled in _compiled(app, flow)]
    if app.as_json:
        app.output.document({"flows": [_document(d, explain=explain) for d in found]})
    else:
        for difference in found:
            _show(difference, app.output, explain=explain)
        if not found:
            app.output.line("no flows yet; write one in flows/, or see: streamhouse init --help")
    if any(difference.is_change for difference in found):
        context.exit(CHANGES)


def compare(new: "FlowPlan", old: "FlowPlan | None") -> dict[str, str]:
    """Table → how its step differs from the one applied: `new`, `changed`, `removed` or `same`."""
    before: dict[str, PlannedStep] = {step.id: step for step in old.steps} if old is not None else {}
    steps = {
        step.id: "new" if step.id not in before else "same" if before[step.id] == step else "changed"
        for step in new.steps
    }
    return steps | {table: "removed" for table in before if table not in steps}


def _compiled(app: App, flow: str | None) -> "list[FlowPlan]":
    from streamhouse.errors import DefinitionErrors
    from streamhouse.runtime.check import check_project, compile_with_upstream

    if flow is not None:
        return [compile_with_upstream(app.project, app.registry, flow)]
    checked = check_project(app.project, app.registry)
    if checked.errors:
        raise DefinitionErrors(checked.errors)
    return list(checked.plans.values())


def _difference(app: App, compiled: "FlowPlan") -> Difference:
    state = app.project.existing_state()
    if state is None:
        return Difference(compiled, None, None, compare(compiled, None))
    with state:
        applied = state.plan(compiled.flow)
    if applied is None:
        return Difference(compiled, None, None, compare(compiled, None))
    revision, old = applied
    return Difference(compiled, revision, old.fingerprint, compare(compiled, old))


def _show(difference: Difference, output: Output, *, explain: bool) -> None:
    compiled = difference.plan
    if explain:
        from streamhouse.compiler import explain as explained

        output.line(str(explained(compiled)))
        output.line()
    if difference.applied is None:
        output.line(f"{compiled.flow}: never applied; a run would create it", style="green")
    elif not difference.is_change:
        output.line(f"{compiled.flow}: nothing to apply (revision {difference.revision})")
        return
    else:
        output.line(f"{compiled.flow}: differs from revision {difference.revision}, applied last", style="yellow")
    rows: list[tuple[str | None, ...]] = []
    steps = {step.id: step for step in compiled.steps}
    for table, change in difference.steps.items():
        if change == "removed":
            rows.append((change, table, None, None, "no step writes it any more"))
        elif change != "same":
            step = steps[table]
            rows.append((change, table, step.action, step.strategy.value, step.reason))
    if rows:
        output.table(("change", "table", "action", "strategy", "why this strategy"), rows)
    else:
        output.line("  every step stays the same; settings of the flow or its sources changed")


def _document(difference: Difference, *, explain: bool) -> dict[str, Any]:
    compiled = difference.plan
    document: dict[str, Any] = {
        "flow": compiled.flow,
        "fingerprint": compiled.fingerprint,
        "applied": {"revision": difference.revision, "fingerprint": difference.applied}
        if difference.applied is not None
        else None,
        "changes": difference.is_change,
        "steps": difference.steps,
        "plan": compiled.model_dump(mode="json"),
    }
    if explain:
        from streamhouse.compiler import explain as explained

        document["explain"] = explained(compiled).as_dict()
    return document
