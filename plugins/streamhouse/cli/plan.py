"""`streamhouse plan`: what applying the files would change."""

from typing import TYPE_CHECKING, Any

import click

from streamhouse.cli.app import App, shared_options
from streamhouse.cli.environment_name import ENVIRONMENT_NAME
from streamhouse.cli.losses import LOST, lost_documents, seen_losses, show_lost, show_unseen, unreadable_plans
from streamhouse.cli.output import CommandOutput

if TYPE_CHECKING:
    from streamhouse.change.built_already import BuiltAlready
    from streamhouse.change.environment import EnvironmentOutlook
    from streamhouse.model.notice import Notice
    from streamhouse.model.outcome import FlowDiff
    from streamhouse.model.plan import FlowPlan
    from streamhouse.project.compare import PlanComparison
    from streamhouse.runtime.lost_tables import SeenLosses
    from streamhouse.state.plans import Unreadable
    from streamhouse.state.records import UnreadableChange

CHANGES, BLOCKS = 10, 11


@click.command(
    short_help="Show what applying the files would change.",
    epilog="""\b
Outcomes:
  no-op    nothing restarts
  swap     the next epoch runs the new SQL on the same positions and tables
  forward  as swap, but rows already written keep the old meaning
  rebuild  a new version of the table, filled from its history
  block    nothing happens until a person decides
\b
Exit codes: 0 nothing to do, 6 something is lost, damaged or of another version (docs/restore.md),
10 something changes, 11 something blocks.
\b
Examples:
  streamhouse plan                       # every flow
  streamhouse plan orders --explain      # strategies with reasons, types, tiers
  streamhouse plan orders --env dev      # what 'apply orders --env dev' would build
  streamhouse plan orders --json | jq .flows[0].diff.steps
""",
)
@click.argument("flow", required=False)
@click.option("--explain", is_flag=True, help="Show the compiled flow in full.")
@click.option(
    "--env",
    "environment",
    metavar="NAME",
    type=ENVIRONMENT_NAME,
    help="Show what 'apply --env NAME' would build beside production.",
)
@shared_options
@click.pass_context
def plan(context: click.Context, flow: str | None, explain: bool, environment: str | None) -> None:
    """Compile FLOW (all flows, without it) and show what applying it would change. Touches nothing.

    Each step and table gets an outcome, the rule behind it (docs/outcomes.md), and the proof.
    """
    app: App = context.obj
    unreadable: Unreadable = {}
    found = compared(app, flow, unreadable)
    unknown = [name for name in unreadable if flow in (None, name)]
    if environment is not None:
        refused = unreadable_plans({name: unreadable[name] for name in unknown})
        context.exit(show_outlooks(app, found, environment, refused, explain=explain))
    plans = {difference.plan.flow: difference.plan for difference in found}
    lost = seen_losses(app, desired=plans).of({*plans, *unknown})
    built = built_in_environments(app, found)
    if app.as_json:
        documents = [
            _document(d, lost, explain=explain) | {"promotes": _promoted(built.get(d.plan.flow))} for d in found
        ]
        app.output.models({"flows": [*documents, *_unknown_documents(lost, unknown)]})
    else:
        show_lost(lost, app.output)
        for difference in found:
            _show(difference, app.output, explain=explain, built=built.get(difference.plan.flow))
        if not found and not unknown:
            app.output.line("no flows yet; write one in flows/, or see: streamhouse init --help")
        show_unseen(lost, app.output)
    if lost.lost:
        context.exit(LOST)
    if any(difference.blocks for difference in found):
        context.exit(BLOCKS)
    if any(difference.is_change for difference in found):
        context.exit(CHANGES)


def _unknown_documents(lost: "SeenLosses", unknown: "list[str]") -> "list[dict[str, Any]]":
    """Flows of which it is not known what applying them would change, for `--json`."""
    return [{"flow": flow, "changes": None, "outcome": None, **lost_documents(lost.of([flow]))} for flow in unknown]


def built_in_environments(
    app: App, found: "list[PlanComparison]", unreadable: "list[UnreadableChange] | None" = None
) -> "dict[str, BuiltAlready]":
    """Flow → the environment that has what applying the flow would build; `unreadable` as for `built_before`."""
    if not any(one.changes_applied for one in found):
        return {}
    from streamhouse.change.promotion import built_before

    return built_before(app.project, found, unreadable)


def _promoted(built: "BuiltAlready | None") -> str | None:
    """The environment that applying promotes; None: it promotes none."""
    return built.change.environment if built is not None and not built.is_running else None


def compared(app: App, flow: str | None, unreadable: "Unreadable | None" = None) -> "list[PlanComparison]":
    """What applying a flow would do; None: all flows; `unreadable` as for `compare_project`."""
    from streamhouse.project.compare import compare_project

    return compare_project(app.project, flow, processes=app.processes, unreadable=unreadable)


def show_promotion(flow: str, built: "BuiltAlready", output: CommandOutput) -> None:
    """Say that an environment has what applying a flow would build, and whether applying promotes it."""
    text, style = f"{flow}: environment {built.change.environment} has exactly this: ", "green"
    if built.is_running:
        text += "a process runs it, so applying builds its tables again; to promote it, end that process first"
        style = "yellow"
    else:
        text += "applying promotes it, and builds nothing again"
    output.line()
    output.line(text, style=style)


def show_outlooks(
    app: App, found: "list[PlanComparison]", environment: str, unreadable: "SeenLosses", *, explain: bool
) -> int:
    """Show what building flows in an environment would do, and of which flows that is not known; the exit code."""
    from streamhouse.runtime.lost_tables import SeenLosses

    looks, unread = _looks(app, found, environment)
    unreadable = SeenLosses([*unreadable.lost, *unread.lost])
    if app.as_json:
        documents = [
            _document(one, None, explain=explain) | _outlook_document(look, environment) for one, look in looks
        ]
        app.output.models(
            {"flows": [*documents, *_unknown_documents(unreadable, [one.flow for one in unreadable.lost])]}
        )
    else:
        show_lost(unreadable, app.output)
        for one, look in looks:
            _show_outlook(one, look, environment, app.output, explain=explain)
    if unreadable.lost:
        return LOST
    to_build = [(one, look) for one, look in looks if look.tables and not look.is_built]
    if any(one.blocks or not look.has_run for one, look in to_build):
        return BLOCKS
    return CHANGES if to_build else 0


def _looks(
    app: App, found: "list[PlanComparison]", environment: str
) -> "tuple[list[tuple[PlanComparison, EnvironmentOutlook]], SeenLosses]":
    """What building each flow would do, and the flows of which the environment cannot be read."""
    from streamhouse.change.environment import outlook
    from streamhouse.state.plans import noting

    looks: list[tuple[PlanComparison, EnvironmentOutlook]] = []
    unreadable: Unreadable = {}
    for one in found:
        with noting(unreadable, one.plan.flow):
            looks.append((one, outlook(app.project, one, environment)))
    return looks, unreadable_plans(unreadable)


def _show_outlook(
    one: "PlanComparison", look: "EnvironmentOutlook", environment: str, output: CommandOutput, *, explain: bool
) -> None:
    flow = one.plan.flow
    if not look.has_run:
        text = (
            f"has not run, so nothing serves beside which {environment} could be built; run it: streamhouse run {flow}"
        )
        output.line(f"{flow}: {text}", style="yellow")
    elif not look.tables:
        output.line(f"{flow}: nothing differs from production, so there is nothing to build in {environment}")
    elif look.is_built:
        text = f"{environment} has exactly this: {', '.join(look.tables)}"
        output.line(f"{flow}: {text}; let it serve: streamhouse env promote {flow} {environment}", style="green")
    else:
        _show(one, output, explain=explain)
        how = "is made again with" if look.exists else "is made with"
        output.line()
        output.line(f"{flow}: {environment} {how} tables of its own: {', '.join(look.tables)}", style="yellow")


def _outlook_document(look: "EnvironmentOutlook", environment: str) -> dict[str, Any]:
    return {
        "environment": {
            "name": environment,
            "has_run": look.has_run,
            "exists": look.exists,
            "is_built": look.is_built,
            "tables": list(look.tables),
        }
    }


def _show(
    difference: "PlanComparison", output: CommandOutput, *, explain: bool, built: "BuiltAlready | None" = None
) -> None:
    wanted = difference.plan
    if explain:
        from streamhouse.compiler import explain as explained

        output.line(str(explained(wanted)))
        output.line()
    if difference.applied is None:
        output.line(f"{wanted.flow}: never applied; a run would create it", style="green")
    elif not difference.is_change:
        text = "; only text differs" if difference.differs else ""
        text = "; what it does when something changes upstream differs" if difference.rules else text
        output.line(f"{wanted.flow}: nothing to apply (revision {difference.revision}){text}")
    else:
        output.line(f"{wanted.flow}: differs from revision {difference.revision}, applied last", style="yellow")
    show_diff(difference.found, output)
    if built is not None:
        show_promotion(wanted.flow, built, output)
    for notice in _notices(wanted):
        output.line(str(notice))


def _notices(plan: "FlowPlan") -> "list[Notice]":
    return sorted({notice: None for step in plan.steps for notice in step.notices}, key=lambda notice: notice.at)


def show_diff(found: "FlowDiff", output: CommandOutput) -> None:
    """Print what a change does: findings by step, who reads what changes, and the work in each tier."""
    rows = _findings(found)
    if rows:
        output.table(("outcome", "rule", "change", "step", "columns", "why"), rows)
    _show_readers(found, output)
    work = [
        (tier.outcome, table.table, tier.tier, "; ".join(map(str, tier.ddl)))
        for table in found.tables
        for tier in table.tiers
    ]
    if work:
        output.line()
        output.table(("outcome", "table", "tier", "what is done to it"), work)
    _show_versions(found, output)
    rebuilt = [(table.table, str(table.reading)) for table in found.tables if table.reading is not None]
    if rebuilt:
        output.line()
        output.table(("rebuilt", "from a history of"), rebuilt)


def _findings(found: "FlowDiff") -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for step in found.steps:
        for finding in step.findings:
            columns = "all" if finding.rows else ", ".join(finding.columns) or None
            rule = str(finding.rule) if finding.rule else None
            rows.append((finding.outcome, rule, step.change, step.step, columns, finding.proof))
    rows += [(f.outcome, str(f.rule), "setting", found.flow, None, f.proof) for f in found.settings]
    return rows


def _show_readers(found: "FlowDiff", output: CommandOutput) -> None:
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


def _show_versions(found: "FlowDiff", output: CommandOutput) -> None:
    if found.versions:
        output.line()
        output.line("actions whose version should change with the edit (streamhouse action show NAME: who uses it):")
        output.table(
            ("action", "applied", "now", "at least", "why"),
            [(v.action, v.was, v.now, v.least, v.why) for v in found.versions],
        )


def _document(difference: "PlanComparison", lost: "SeenLosses | None", *, explain: bool) -> dict[str, Any]:
    wanted = difference.plan
    document: dict[str, Any] = {
        "flow": wanted.flow,
        "fingerprint": difference.fingerprint,
        "applied": {"revision": difference.revision, "fingerprint": difference.applied_fingerprint}
        if difference.applied is not None
        else None,
        "changes": difference.is_change,
        "outcome": difference.found.outcome.value,
        "steps": {step.step: step.change for step in difference.found.steps},
        "diff": difference.found,
        "plan": wanted,
        "notices": [notice.document() for notice in _notices(wanted)],
        **(lost_documents(lost.of([wanted.flow])) if lost is not None else {}),
    }
    if explain:
        from streamhouse.compiler import explain as explained

        document["explain"] = explained(wanted).as_dict()
    return document
