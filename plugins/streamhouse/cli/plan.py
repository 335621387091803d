"""`streamhouse plan`: what a run would do that the last one did not."""

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from streamhouse.cli.app import App, shared_options
from streamhouse.cli.output import Output

if TYPE_CHECKING:
    from collections.abc import Mapping

    from streamhouse.model.outcome import FlowDiff
    from streamhouse.model.plan import FlowPlan

CHANGES, BLOCKS = 10, 11


@dataclass(frozen=True)
class Difference:
    """A compiled flow against what was applied last.

    Attributes:
        fingerprint: Of the compiled plan.
        revision: Of the applied plan; None: never applied.
        applied: Fingerprint of the applied plan; None: never applied.
        diff: What the change does.
    """

    plan: "FlowPlan"
    fingerprint: str
    revision: int | None
    applied: str | None
    diff: "FlowDiff"

    @property
    def is_change(self) -> bool:
        """Whether a run would do anything but record another text."""
        from streamhouse.model.outcome import Outcome

        return self.applied is None or self.diff.outcome is not Outcome.NO_OP

    @property
    def blocks(self) -> bool:
        """Whether a person must decide first."""
        from streamhouse.model.outcome import Outcome

        return self.diff.outcome is Outcome.BLOCK


@dataclass(frozen=True)
class Applied:
    """What runs: flow → revision and plan, and how long each has."""

    plans: "Mapping[str, tuple[int, FlowPlan]]"
    ages: "Mapping[str, timedelta]"


@click.command(
    short_help="Show what a run would change.",
    epilog="""\b
Outcomes:
  no-op    nothing restarts
  swap     the next epoch runs the new SQL on the same positions and tables
  forward  as swap, but rows already written keep the old meaning
  rebuild  a new version of the table, filled anew
  block    nothing happens until a person decides
\b
Exit codes: 0 nothing to do, 10 something changes, 11 something blocks.
\b
Examples:
  streamhouse plan                       # every flow
  streamhouse plan orders --explain      # strategies with reasons, types, tiers
  streamhouse plan orders --json | jq .flows[0].diff.steps
""",
)
@click.argument("flow", required=False)
@click.option("--explain", is_flag=True, help="Show the compiled flow in full.")
@shared_options
@click.pass_context
def plan(context: click.Context, flow: str | None, explain: bool) -> None:
    """Compile FLOW (all flows, without it) and tell what applying it would do to what runs. Touches nothing.

    Each step and table gets an outcome, the rule behind it (docs/outcomes.md), and the proof.
    """
    app: App = context.obj
    compiled = _compiled(app, flow)
    applied = _applied(app, compiled)
    found = [_difference(one, compiled, applied) for one in compiled.values() if flow in (None, one.flow)]
    if app.as_json:
        app.output.models({"flows": [_document(d, explain=explain) for d in found]})
    else:
        for difference in found:
            _show(difference, app.output, explain=explain)
        if not found:
            app.output.line("no flows yet; write one in flows/, or see: streamhouse init --help")
    if any(difference.blocks for difference in found):
        context.exit(BLOCKS)
    if any(difference.is_change for difference in found):
        context.exit(CHANGES)


def _compiled(app: App, flow: str | None) -> "dict[str, FlowPlan]":
    from streamhouse.errors import DefinitionErrors
    from streamhouse.runtime.check import check_project, compile_one

    if flow is not None:
        return {flow: compile_one(app.project, flow)}
    checked = check_project(app.project, processes=app.processes)
    if checked.errors:
        raise DefinitionErrors(checked.errors)
    return dict(checked.plans)


def _applied(app: App, compiled: "Mapping[str, FlowPlan]") -> Applied:
    from datetime import UTC, datetime

    from streamhouse.runtime.applied import applied_plans

    found = applied_plans(app.project, compiled)
    now = datetime.now(UTC)
    return Applied(
        {name: (one.revision, one.plan) for name, one in found.items()},
        {name: now - one.since for name, one in found.items()},
    )


def _difference(compiled: "FlowPlan", desired: "Mapping[str, FlowPlan]", applied: Applied) -> Difference:
    from streamhouse.compiler.diff import diff

    # Other flows as they run; those that never ran as their files have them.
    others = {name: plan for name, plan in desired.items() if name not in applied.plans}
    others |= {name: plan for name, (_, plan) in applied.plans.items()}
    others.pop(compiled.flow, None)
    revision, old = applied.plans.get(compiled.flow, (None, None))
    age = applied.ages.get(compiled.flow, timedelta(0))
    found = diff(old, compiled, others, age=age)
    fingerprint = compiled.fingerprint
    applied_as = fingerprint if old is compiled else old.fingerprint if old is not None else None
    return Difference(compiled, fingerprint, revision, applied_as, found)


def _show(difference: Difference, output: Output, *, explain: bool) -> None:
    compiled = difference.plan
    if explain:
        from streamhouse.compiler import explain as explained

        output.line(str(explained(compiled)))
        output.line()
    if difference.applied is None:
        output.line(f"{compiled.flow}: never applied; a run would create it", style="green")
    elif not difference.is_change:
        text = "" if difference.applied == difference.fingerprint else "; only text differs"
        output.line(f"{compiled.flow}: nothing to apply (revision {difference.revision}){text}")
    else:
        output.line(f"{compiled.flow}: differs from revision {difference.revision}, applied last", style="yellow")
    show_diff(difference.diff, output)


def show_diff(found: "FlowDiff", output: Output) -> None:
    """Print what a change does: findings by step, who reads what changes, and the work in each tier."""
    rows: list[tuple[object, ...]] = []
    for step in found.steps:
        for finding in step.findings:
            columns = "all" if finding.rows else ", ".join(finding.columns) or None
            rule = str(finding.rule) if finding.rule else None
            rows.append((finding.outcome, rule, step.change, step.step, columns, finding.proof))
    rows += [(f.outcome, str(f.rule), "setting", found.flow, None, f.proof) for f in found.settings]
    if rows:
        output.table(("outcome", "rule", "change", "step", "columns", "why"), rows)
    readers = {(c.flow, c.step): c for step in found.steps for c in step.consumers if c.flow != found.flow}
    if readers:
        output.line()
        output.line("other flows that read what changes:")
        output.table(
            ("outcome", "flow", "step", "columns", "why"),
            [
                (c.outcome, c.flow, c.step, "all" if c.rows else ", ".join(c.columns) or None, c.proof)
                for c in readers.values()
            ],
        )
    work = [
        (tier.outcome, table.table, tier.tier, "; ".join(map(str, tier.ddl)))
        for table in found.tables
        for tier in table.tiers
    ]
    if work:
        output.line()
        output.table(("outcome", "table", "tier", "what is done to it"), work)


def _document(difference: Difference, *, explain: bool) -> dict[str, Any]:
    compiled = difference.plan
    document: dict[str, Any] = {
        "flow": compiled.flow,
        "fingerprint": difference.fingerprint,
        "applied": {"revision": difference.revision, "fingerprint": difference.applied}
        if difference.applied is not None
        else None,
        "changes": difference.is_change,
        "outcome": difference.diff.outcome.value,
        "steps": {step.step: step.change for step in difference.diff.steps},
        "diff": difference.diff,
        "plan": compiled,
    }
    if explain:
        from streamhouse.compiler import explain as explained

        document["explain"] = explained(compiled).as_dict()
    return document
