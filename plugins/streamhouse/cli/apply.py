"""`streamhouse apply`: carry out what the files say. `streamhouse changes`: what was asked for, and how far it is."""

import sys
from typing import TYPE_CHECKING, Any

import click

from streamhouse.cli.app import App, shared_options
from streamhouse.cli.person import whoami
from streamhouse.cli.plan import compared, show_diff

if TYPE_CHECKING:
    from streamhouse.model.outcome import Outcome
    from streamhouse.model.review import Gate
    from streamhouse.project.compare import Compared
    from streamhouse.state.records import Change

_CHOICES = ("forward", "rebuild")
_GATES = {
    "audit": "its audit passes",
    "person": "a person says so",
    "open": "it is built, whatever its audit finds",
}


def _choices(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> "dict[str, Outcome]":
    from streamhouse.model.outcome import Outcome

    chosen = {}
    for text in given:
        table, found, outcome = text.partition("=")
        if not table or not found or outcome not in _CHOICES:
            raise click.BadParameter(f"'{text}' is not TABLE=forward or TABLE=rebuild")
        chosen[table] = Outcome(outcome)
    return chosen


@click.command(
    short_help="Carry out what the files say, also in a flow that runs.",
    epilog="""\b
Examples:
  streamhouse apply orders
  streamhouse apply orders --yes --no-wait          # the runner does it when an epoch ends
  streamhouse apply orders --choose dwd.orders=rebuild   # where the plan blocks
  streamhouse apply orders --pause-before-swap      # what is built anew serves at: streamhouse changes ID --swap
  streamhouse apply orders --env dev                # beside production; see: streamhouse env
  streamhouse apply --yes --json | jq .flows[0].change
""",
)
@click.argument("flows", nargs=-1, metavar="[FLOW]...")
@click.option("--yes", "-y", is_flag=True, help="Do not ask before. Needed without a terminal, and with --json.")
@click.option("--wait/--no-wait", default=True, show_default=True, help="Return when it is done, or when it is asked.")
@click.option(
    "--accept-audit",
    "gate",
    flag_value="open",
    help="Let tables that are built anew serve also where their audit fails.",
)
@click.option(
    "--pause-before-swap",
    "gate",
    flag_value="person",
    help="Build and audit them, and let them serve when a person says so: streamhouse changes ID --swap.",
)
@click.option("--env", "environment", metavar="NAME", help="Build it in an environment, beside production.")
@click.option(
    "--choose",
    multiple=True,
    metavar="TABLE=OUTCOME",
    callback=_choices,
    help="What to do with a table whose change blocks: forward (older rows keep their meaning) or rebuild.",
)
@shared_options
@click.pass_obj
def apply(
    app: App,
    flows: tuple[str, ...],
    yes: bool,
    wait: bool,
    gate: str | None,
    choose: "dict[str, Outcome]",
    environment: str | None,
) -> None:
    """Show what would change in each FLOW (all flows, without one), and carry it out.

    A flow that runs takes the change over between two epochs: no restart, no lost and no doubled row. Tables whose
    older rows must change are filled anew beside those that serve, audited, and then serve instead; where the audit
    fails they wait, and what served goes on. A flow that does not run is changed here. Stopped at any moment, old or
    new serves, never neither; apply it again to go on.
    """
    from streamhouse.cli.review import show_review
    from streamhouse.model.review import Gate

    found = [one for name in flows or (None,) for one in compared(app, name)]
    _check_choices(choose, found)
    if not app.as_json:
        for one in found:
            _show(one, app)
    wanted = [one for one in found if one.is_change or one.differs]
    if environment is not None and gate is not None:
        raise click.UsageError("an environment serves nothing until it is promoted: see streamhouse env promote")
    if not yes and any(one.is_change for one in wanted):
        _ask(app, flows, wanted, choose)
    lets = Gate(gate or Gate.AUDIT)
    done = [(one, _carried_out(app, one, choose, lets, wait=wait, environment=environment)) for one in wanted]
    if app.as_json:
        app.output.document({"flows": [_document(one, change) for one, change in done]})
        return
    for one, change in done:
        if change is not None and change.review is not None and change.review.tables:
            show_review(change.review, app.output)
        app.output.line(_told(one, change), style="green")


def _ask(app: App, flows: tuple[str, ...], wanted: "list[Compared]", choices: "dict[str, Outcome]") -> None:
    """Let a person say yes.

    Raises:
        BlockedError: yes is not enough.
        NotConfirmedError: there is no terminal to ask on.
    """
    from streamhouse.change.ask import refuse_blocked
    from streamhouse.errors import NotConfirmedError

    for one in wanted:
        refuse_blocked(one.plan.flow, one.decided(choices))
    if app.as_json or not sys.stdin.isatty():
        names = "".join(f" {name}" for name in flows)
        raise NotConfirmedError(
            "nothing was applied: there is no terminal to ask on, and --yes is not given",
            hint=f"see what it does: streamhouse plan{names if len(flows) == 1 else ''}; "
            f"then: streamhouse apply{names} --yes",
        )
    if not click.confirm("apply?", err=True):
        raise click.Abort


def _check_choices(choices: "dict[str, Outcome]", found: "list[Compared]") -> None:
    from streamhouse.errors import UnknownTableError, did_you_mean

    known = sorted({table for one in found for table in one.plan.tables})
    for table in choices:
        if table not in known:
            hint = did_you_mean(table, known, f"tables: {', '.join(known)}")
            raise UnknownTableError(f"--choose names {table}, which no flow here writes", hint=hint)


def _carried_out(
    app: App, one: "Compared", choices: "dict[str, Outcome]", gate: "Gate", *, wait: bool, environment: str | None
) -> "Change | None":
    from streamhouse.change.apply import apply
    from streamhouse.change.environment import build
    from streamhouse.cli.stages import StageView
    from streamhouse.install.stage import Stage

    with StageView() as view:
        if environment is not None:
            return build(
                app.project,
                one,
                environment,
                whoami(),
                choices=choices,
                say=lambda text: view.show(Stage(f"{one.plan.flow}: {text}")),
            )
        return apply(
            app.project,
            one,
            whoami(),
            choices=choices,
            gate=gate,
            wait=wait,
            say=lambda text: view.show(Stage(f"{one.plan.flow}: {text}")),
        )


def _show(one: "Compared", app: App) -> None:
    if one.applied is None:
        app.output.line(f"{one.plan.flow}: never applied", style="green")
    elif not one.is_change and not one.rules:
        app.output.line(f"{one.plan.flow}: nothing to apply (revision {one.revision})")
    elif one.rules:
        app.output.line(f"{one.plan.flow}: what it does when something changes upstream differs", style="yellow")
    else:
        app.output.line(f"{one.plan.flow}: differs from revision {one.revision}", style="yellow")
        show_diff(one.found, app.output)


def _told(one: "Compared", change: "Change | None") -> str:
    if one.rules:
        return f"{one.plan.flow}: applied: it follows changes upstream as its files say"
    if change is None:
        return f"{one.plan.flow}: applied; its first run makes the tables: streamhouse run {one.plan.flow}"
    if change.environment is not None:
        tables = ", ".join(change.versions)
        return (
            f"{change.flow}: {tables} are built in {change.environment}; keep them up to date: streamhouse run "
            f"{change.flow} --env {change.environment}; let them serve: streamhouse env promote {change.flow} "
            f"{change.environment}"
        )
    if change.waits:
        return f"{change.flow}: change {change.id} is ready; let it serve: streamhouse changes {change.id} --swap"
    if change.is_open:
        return f"{change.flow}: change {change.id} is asked for; see: streamhouse changes {change.flow}"
    return f"{change.flow}: change {change.id} is applied"


def _document(one: "Compared", change: "Change | None") -> dict[str, Any]:
    return {
        "flow": one.plan.flow,
        "outcome": one.found.outcome.value,
        "change": _change_document(change) if change is not None else None,
    }


@click.command(
    short_help="List changes of flows, and how far each is; let one serve, or give it up.",
    epilog="""\b
Phases: asked, building (new versions of tables are filled), waiting (they are ready, and a person lets them serve),
applied, failed, withdrawn.
\b
Examples:
  streamhouse changes
  streamhouse changes orders --json | jq .changes[0].phase
  streamhouse changes 7                 # its audit, and how what it built differs from what serves
  streamhouse changes 7 --swap          # let that serve, whatever the audit found
  streamhouse changes 7 --withdraw
""",
)
@click.argument("which", required=False, metavar="[FLOW|ID]")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1), help="How many, the newest first.")
@click.option("--swap", "action", flag_value="swap", help="Let what change ID built serve.")
@click.option("--withdraw", "action", flag_value="withdraw", help="Give change ID up.")
@click.option(
    "--wait/--no-wait", default=True, show_default=True, help="With --swap: return when it is done, or asked."
)
@shared_options
@click.pass_obj
def changes(app: App, which: str | None, limit: int, action: str | None, wait: bool) -> None:
    """List what was asked of FLOW (of all flows, without one) by `apply` and `run`, the newest first; or show one.

    Of change ID it tells what the audit of its tables found, and how they differ from those that serve: all rows of
    tables with up to a million rows, of larger ones a part of the keys.
    """
    if which is not None and which.isdecimal():
        _one(app, int(which), action, wait=wait)
    elif action is not None:
        raise click.UsageError(f"--{action} is for one change: streamhouse changes ID --{action}")
    else:
        _list(app, which, limit)


def _list(app: App, flow: str | None, limit: int) -> None:
    state = app.project.existing_state()
    found: list[Change] = []
    if state is None:
        if flow is not None:
            app.check_flow(flow)
    else:
        with state:
            if flow is not None:
                app.check_flow(flow, state)
            found = state.recent_changes(flow, limit)
    if app.as_json:
        app.output.document({"changes": [_change_document(change) for change in found]})
        return
    if not found:
        app.output.line("nothing was changed yet; see: streamhouse apply --help")
        return
    app.output.table(
        ("id", "flow", "phase", "outcome", "built anew", "asked (UTC)", "by", "error"),
        [
            (c.id, c.flow, c.phase, c.outcome, ", ".join(c.versions) or None, c.asked_at, c.asked_by, c.error)
            for c in found
        ],
    )


def _one(app: App, change_id: int, action: str | None, *, wait: bool) -> None:
    from streamhouse.change.journal import known
    from streamhouse.cli.review import show_review
    from streamhouse.cli.stages import StageView
    from streamhouse.install.stage import Stage

    if action == "swap":
        from streamhouse.change.apply import swap

        with StageView() as view:
            change = swap(app.project, change_id, wait=wait, say=lambda text: view.show(Stage(text)))
    elif action == "withdraw":
        from streamhouse.change.journal import withdraw

        change = withdraw(app.project, change_id)
    else:
        change = known(app.project, change_id)
    if app.as_json:
        app.output.document(_change_document(change))
        return
    tables = ", ".join(f"{name} (v{version})" for name, version in change.versions.items())
    app.output.facts(
        {
            "change": change.id,
            "flow": change.flow,
            "phase": change.phase,
            "outcome": change.outcome,
            "built anew": tables or None,
            "environment": change.environment,
            "asked (UTC)": change.asked_at,
            "by": change.asked_by,
            "serves when": _GATES[change.gate.value],
            "error": change.error,
        }
    )
    if change.review is not None:
        app.output.line()
        show_review(change.review, app.output)
    if change.waits:
        app.output.line(f"let it serve: streamhouse changes {change.id} --swap; or give it up: --withdraw")


def _change_document(change: "Change") -> dict[str, Any]:
    return {
        "id": change.id,
        "flow": change.flow,
        "phase": change.phase.value,
        "outcome": change.outcome.value,
        "versions": change.versions,
        "environment": change.environment,
        "gate": change.gate.value,
        "review": change.review.model_dump(mode="json") if change.review is not None else None,
        "asked_by": change.asked_by,
        "asked_at": change.asked_at,
        "updated_at": change.updated_at,
        "error": change.error,
    }
