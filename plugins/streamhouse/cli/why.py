"""`streamhouse why`: which hop of a table's path takes the time, and what is out of order."""

from typing import TYPE_CHECKING

import click

from streamhouse.cli.app import App, shared_options
from streamhouse.cli.output import CommandOutput, duration_text

if TYPE_CHECKING:
    from streamhouse.mcp_server.answers import FlowDiagnosis, Hop
    from streamhouse.model.plan import FlowPlan


@click.command(
    short_help="Say why a table is late.",
    epilog="""\b
Examples:
  streamhouse why dws.revenue_by_product
  streamhouse why orders --json | jq -r '.flows[0].findings[]'
""",
)
@click.argument("name", required=False, metavar="[TABLE|FLOW|LAYER]")
@shared_options
@click.pass_obj
def why(app: App, name: str | None) -> None:
    """Say why a table, a flow or a layer is late; without a name, of all flows.

    Walks the path of the rows from the sources to the table, hop by hop, with the times of the last 100 epochs, and
    marks the slowest hop. Below are the findings, the most important one first: a process that does not run, tables
    that wait for a person, tiers that fail, rows that wait for an epoch, edits that were not applied.
    Reads the state store only: it needs no server and no Spark.
    """
    from streamhouse.mcp_server.diagnose import diagnosis
    from streamhouse.mcp_server.look import Look
    from streamhouse.mcp_server.shareable import Unrestricted
    from streamhouse.ui.desk import Desk

    desk = Desk(app.project)
    try:
        look = Look(desk)
        found = diagnosis(look, Unrestricted.of(look), name)
        plans = {flow: plan for flow, (_, plan) in look.shown().items()}
    finally:
        desk.close()
    flows = [_of_path(flow, plans.get(flow.flow), name) for flow in found.flows]
    if app.as_json:
        app.output.models({"flows": [flow.model_dump(mode="json") for flow in flows], "left_out": found.left_out})
        return
    if not flows:
        app.output.line("there is no flow yet")
    for number, flow in enumerate(flows):
        if number:
            app.output.line()
        _show(flow, name, app.output)
    if found.left_out:
        app.output.line(f"{found.left_out} further flows; name one")


def _of_path(flow: "FlowDiagnosis", plan: "FlowPlan | None", name: str | None) -> "FlowDiagnosis":
    """The diagnosis with only the hops that rows of a table pass; of a flow or a layer as it is."""
    if plan is None or name not in plan.tables:
        return flow
    above = {name}
    for step in reversed(plan.steps):
        if step.writes.name in above:
            above |= {read.table for read in step.reads}
    hops = tuple(hop for hop in flow.hops if above & set(hop.tables))
    slowest = max(hops, key=lambda hop: hop.p50_ms, default=None)
    return flow.model_copy(update={"hops": hops, "slowest": slowest})


def _show(flow: "FlowDiagnosis", name: str | None, output: CommandOutput) -> None:
    subject = f"{name} (flow {flow.flow})" if name is not None and "." in name else flow.flow
    state = "late" if flow.late else "on time"
    output.line(f"{subject}: {flow.freshness.state}, {state}; target {duration_text(flow.freshness.target_ms)}")
    if flow.hops:
        output.table(
            ["from", "to", "last", "median", "95 %", "", "tables"], [_row(hop, flow.slowest) for hop in flow.hops]
        )
    else:
        output.line("no epoch has ended yet: there are no times")
    if flow.error:
        output.line(f"error: {flow.error}", style="red")
    for finding in flow.findings:
        output.line(f"- {finding}")
    if not flow.findings:
        output.line("nothing is out of order")


def _row(hop: "Hop", slowest: "Hop | None") -> list[str]:
    times = [duration_text(time) for time in (hop.last_ms, hop.p50_ms, hop.p95_ms)]
    return [hop.before, hop.layer, *times, "slowest" if hop == slowest else "", ", ".join(hop.tables)]
