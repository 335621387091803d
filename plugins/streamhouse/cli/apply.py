"""`streamhouse apply`: carry out what the files say. `streamhouse changes`: what was asked for, and how far it is."""

import sys
from typing import TYPE_CHECKING, Any

import click

from streamhouse.cli.app import App, shared_options
from streamhouse.cli.environment import environment_document
from streamhouse.cli.environment_name import ENVIRONMENT_NAME
from streamhouse.cli.losses import show_unreadable, unreadable_text
from streamhouse.cli.person import whoami
from streamhouse.cli.plan import built_in_environments, compared, show_diff, show_promotion

if TYPE_CHECKING:
    from streamhouse.model.outcome import Outcome
    from streamhouse.model.review import SwapGate
    from streamhouse.project.compare import PlanComparison
    from streamhouse.state.plans import Unreadable
    from streamhouse.state.records import Change, UnreadableChange

_CHOICES = ("forward", "rebuild")
_GATES = {
    "audit": "its audit passes",
    "person": "a person says so",
    "open": "it is built, whatever its audit finds",
}


def _choices(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> "dict[str, Outcome]":
    from streamhouse.model.outcome import Outcome

    chosen = {}
    for text in values:
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
  streamhouse apply orders --pause-before-swap      # rebuilt tables serve at: streamhouse changes ID --swap
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
    help="Let rebuilt tables serve also where their audit fails.",
)
@click.option(
    "--pause-before-swap",
    "gate",
    flag_value="person",
    help="Build and audit them, and let them serve when a person says so: streamhouse changes ID --swap.",
)
@click.option(
    "--env", "environment", metavar="NAME", type=ENVIRONMENT_NAME, help="Build it in an environment, beside production."
)
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

    A running flow takes the change between two epochs: no restart, no lost and no doubled row. Tables whose older rows
    must change are rebuilt beside those that serve and audited. If the audit passes, they replace the old tables; if
    not, they wait and the old tables serve on. A flow that does not run is changed by this command. You can stop it at
    any time: either the old or the new tables serve. Apply again to continue.
    """
    from streamhouse.model.review import SwapGate

    wanted, unread = _wanted(app, flows, choose, environment)
    if environment is not None and gate is not None:
        raise click.UsageError("an environment serves nothing until it is promoted: see streamhouse env promote")
    if not yes and any(one.is_change for one in wanted):
        _ask(app, flows, wanted, choose)
    lets = SwapGate(gate or SwapGate.AUDIT)
    _show_done(app, [(one, _carried_out(app, one, choose, lets, wait, environment)) for one in wanted], unread)


def _wanted(
    app: App, flows: tuple[str, ...], choices: "dict[str, Outcome]", environment: str | None
) -> "tuple[list[PlanComparison], list[UnreadableChange]]":
    """Show what would change, unless the answer is to be JSON.

    Returns:
        The flows in which something changes, and the environments that cannot be read: none of them is promoted.
    """
    unreadable: Unreadable = {}
    found = [one for name in flows or (None,) for one in compared(app, name, unreadable)]
    _refuse_unreadable(flows, found, unreadable)
    _check_choices(choices, found)
    unread: list[UnreadableChange] = []
    promotes = environment is None and not choices
    if not app.as_json:
        built = built_in_environments(app, found, unread) if promotes else {}
        show_unreadable(unread, app.output)
        for one in found:
            _show(one, app)
            if one.plan.flow in built:
                show_promotion(one.plan.flow, built[one.plan.flow], app.output)
    elif promotes:
        unread += _unread_environments(app, found)
    return [one for one in found if one.is_change or one.differs], unread


def _unread_environments(app: App, found: "list[PlanComparison]") -> "list[UnreadableChange]":
    from streamhouse.change.promotion import unread_environments

    return unread_environments(app.project, found)


def _refuse_unreadable(flows: tuple[str, ...], found: "list[PlanComparison]", unreadable: "Unreadable") -> None:
    """Refuse to apply anything while the applied plan of a flow cannot be read; what has nothing to apply needs none.

    Raises:
        StateConflictError: so it is.
    """
    from streamhouse.engine.unreadable_flows import beside
    from streamhouse.state.plans import refuse_unreadable

    refuse_unreadable(unreadable, flows)
    for flow, error in unreadable.items():
        for one in found:
            if one.is_change or one.differs:
                raise beside(one.plan.flow, f"is not applied: it is not known what {flow} reads", error)


def _show_done(app: App, done: "list[tuple[PlanComparison, Change | None]]", unread: "list[UnreadableChange]") -> None:
    from streamhouse.cli.review import show_review

    if app.as_json:
        environments = [environment_document(one) for one in unread]
        app.output.document({"flows": [_document(one, change) for one, change in done], "unreadable": environments})
        return
    for one, change in done:
        if change is not None and change.review is not None and change.review.tables:
            show_review(change.review, app.output)
        app.output.line(_outcome_text(one, change), style="green")


def _ask(app: App, flows: tuple[str, ...], wanted: "list[PlanComparison]", choices: "dict[str, Outcome]") -> None:
    """Let a person say yes.

    Raises:
        BlockedError: yes is not enough.
        NotConfirmedError: there is no terminal to ask on.
    """
    from streamhouse.change.change_request import refuse_blocked
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


def _check_choices(choices: "dict[str, Outcome]", found: "list[PlanComparison]") -> None:
    from streamhouse.errors import UnknownTableError, did_you_mean

    known = sorted({table for one in found for table in one.plan.tables})
    for table in choices:
        if table not in known:
            hint = did_you_mean(table, known, f"tables: {', '.join(known)}")
            raise UnknownTableError(f"--choose names {table}, which no flow here writes", hint=hint)


def _carried_out(
    app: App,
    one: "PlanComparison",
    choices: "dict[str, Outcome]",
    gate: "SwapGate",
    wait: bool,
    environment: str | None,
) -> "Change | None":
    from streamhouse.change.apply import apply
    from streamhouse.change.environment import build
    from streamhouse.cli.stages import StageView

    with StageView() as view:

        def say(text: str) -> None:
            view.say(f"{one.plan.flow}: {text}")

        if environment is not None:
            return build(app.project, one, environment, whoami(), choices=choices, say=say)
        return apply(app.project, one, whoami(), choices=choices, gate=gate, wait=wait, say=say)


def _show(one: "PlanComparison", app: App) -> None:
    if one.applied is None:
        app.output.line(f"{one.plan.flow}: never applied", style="green")
    elif not one.is_change and not one.rules:
        app.output.line(f"{one.plan.flow}: nothing to apply (revision {one.revision})")
    elif one.rules:
        app.output.line(f"{one.plan.flow}: what it does when something changes upstream differs", style="yellow")
    else:
        app.output.line(f"{one.plan.flow}: differs from revision {one.revision}", style="yellow")
        show_diff(one.found, app.output)


def _outcome_text(one: "PlanComparison", change: "Change | None") -> str:
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


def _document(one: "PlanComparison", change: "Change | None") -> dict[str, Any]:
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

    Of change ID it shows what the audit of its tables found, and how they differ from those that serve: all rows of
    tables with up to a million rows, of larger ones a part of the keys.
    """
    if which is not None and which.isdecimal():
        from streamhouse.state.records import Change

        found = _acted_on(app, int(which), action, wait=wait)
        if isinstance(found, Change):
            _show_change(app, found)
        else:
            _show_given_up(app, found)
        if action == "withdraw" and not app.as_json:
            _show_what_follows(app, found.flow)
    elif action is not None:
        raise click.UsageError(f"--{action} is for one change: streamhouse changes ID --{action}")
    else:
        _list(app, which, limit)


def _recent(app: App, flow: str | None, limit: int) -> "list[Change | UnreadableChange]":
    """The newest changes, the last one first, also those that cannot be read."""
    from streamhouse.state.records import newest_first

    state = app.project.existing_state()
    if state is None:
        if flow is not None:
            app.check_flow(flow)
        return []
    unreadable: list[UnreadableChange] = []
    with state:
        if flow is not None:
            app.check_flow(flow, state)
        readable = state.recent_changes(flow, limit, unreadable)
    return newest_first(readable, unreadable)


def _list(app: App, flow: str | None, limit: int) -> None:
    found = _recent(app, flow, limit)
    if app.as_json:
        app.output.document({"changes": [_change_document(change) for change in found]})
    elif not found:
        app.output.line("nothing was changed yet; see: streamhouse apply --help")
    else:
        app.output.table(
            ("id", "flow", "phase", "outcome", "rebuilt", "asked (UTC)", "by", "error"),
            [_change_row(one) for one in found],
        )


def _change_row(change: "Change | UnreadableChange") -> tuple[object, ...]:
    rebuilt, error = ", ".join(change.versions or ()) or None, unreadable_text(change) or change.error
    head = (change.id, change.flow, change.phase, change.outcome, rebuilt)
    return (*head, change.requested_at, change.requested_by, error)


def _acted_on(app: App, change_id: int, action: str | None, *, wait: bool) -> "Change | UnreadableChange":
    """The change, after it was swapped or withdrawn where that was asked for."""
    from streamhouse.change.journal import known
    from streamhouse.cli.stages import StageView

    if action == "swap":
        from streamhouse.change.apply import swap

        with StageView() as view:
            return swap(app.project, change_id, wait=wait, say=view.say)
    if action == "withdraw":
        from streamhouse.change.journal import withdraw

        return withdraw(app.project, change_id)
    return known(app.project, change_id)


def _show_change(app: App, change: "Change") -> None:
    from streamhouse.change.proposed import Origins
    from streamhouse.cli.approvals import show_proposals
    from streamhouse.cli.review import show_review

    with app.project.state() as state:
        proposals = Origins(app.project, state).of_change(change)
    if app.as_json:
        app.output.document(_change_document(change) | {"proposals": [one.id for one in proposals]})
        return
    app.output.facts(_facts(change))
    show_proposals(proposals, app.output)
    if change.review is not None:
        app.output.line()
        show_review(change.review, app.output)
    if change.waits:
        app.output.line(f"let it serve: streamhouse changes {change.id} --swap; or give it up: --withdraw")


def _facts(change: "Change") -> dict[str, object]:
    tables = ", ".join(f"{name} (v{version})" for name, version in change.versions.items())
    return {
        "change": change.id,
        "flow": change.flow,
        "phase": change.phase,
        "outcome": change.outcome,
        "rebuilt": tables or None,
        "environment": change.environment,
        "asked (UTC)": change.requested_at,
        "by": change.requested_by,
        "serves when": _GATES[change.gate.value],
        "error": change.error,
    }


def _show_given_up(app: App, change: "UnreadableChange") -> None:
    """A change that was given up and could not be read."""
    if app.as_json:
        app.output.document(_change_document(change) | {"proposals": []})
    else:
        app.output.line(f"{change.flow}: change {change.id} is given up; {unreadable_text(change)}", style="yellow")


def _show_what_follows(app: App, flow: str) -> None:
    """The change that is asked for in place of one that was given up: a flow reads on where rows come."""
    with app.project.state() as state:
        change = state.open_change(flow)
    if change is not None and change.moves:
        tables = ", ".join(f"{table} (v{one.version})" for table, one in change.moves.items())
        why = "the versions that it reads get no more rows"
        app.output.line(f"{flow}: change {change.id} is asked for, to go on in {tables}: {why}", style="yellow")


def _change_document(change: "Change | UnreadableChange") -> dict[str, Any]:
    from streamhouse.state.records import Change

    read = change if isinstance(change, Change) else None
    return {
        "id": change.id,
        "flow": change.flow,
        "phase": str(change.phase),
        "outcome": str(change.outcome),
        "versions": change.versions,
        "environment": change.environment,
        "gate": read.gate.value if read is not None else None,
        "review": read.review.model_dump(mode="json") if read is not None and read.review is not None else None,
        "asked_by": change.requested_by,
        "asked_at": change.requested_at,
        "updated_at": change.updated_at,
        "error": read.error if read is not None else unreadable_text(change),
    }
