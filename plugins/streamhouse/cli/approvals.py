"""`streamhouse approvals`, `approve` and `refuse`: what a person is asked, and the answer."""

from typing import TYPE_CHECKING, Any

import click

from streamhouse.cli.app import App, shared_options
from streamhouse.cli.output import CommandOutput
from streamhouse.cli.person import whoami

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streamhouse.planner.proposal import Proposal
    from streamhouse.state.approvals import Approval
    from streamhouse.state.store import StateStore
    from streamhouse.state.waits import Wait

_STYLES = {"open": "yellow", "granted": "green", "refused": "red"}


@click.command(
    short_help="Show what waits for a person's decision.",
    epilog="""\b
Examples:
  streamhouse approvals               # what waits
  streamhouse approvals 4f2a91c0      # one question, with its evidence
  streamhouse approvals --all         # also what was decided, and what nobody decided in time
  streamhouse approve 4f2a91c0 --reason "agreed with finance"
""",
)
@click.argument("name", required=False, metavar="[FLOW|ID]")
@click.option("--all", "every", is_flag=True, help="Also those that were decided, or expired.")
@shared_options
@click.pass_obj
def approvals(app: App, name: str | None, every: bool) -> None:
    """Show the questions of FLOW (of all, without it), or the question ID with its evidence.

    A question is asked where a change would lose something or where its policy is 'freeze'. Readers of what
    changed are paused meanwhile, at their positions: their rows wait, and nothing is lost.

    What was granted and failed is shown, too: it is tried again, and the grant may be taken back (streamhouse refuse).
    So is whatever else waits, with whom it waits for and what to do.
    """
    found, is_one, waits = _find_questions(app, name, every=every)
    if app.as_json:
        behind = _proposals(app, found)
        documents = [_document(one) | {"proposals": [p.id for p in behind[one.id]]} for one in found]
        app.output.document({"approvals": documents, "waits": [{"flow": w.flow, **w.document()} for w in waits]})
        return
    if is_one:
        _show(found[0], app.output, _proposals(app, found)[found[0].id])
    elif found:
        rows = [(q.id, q.flow, q.state, q.asks, q.requested_at, q.expires_at, q.decided_by) for q in found]
        app.output.table(("id", "flow", "state", "would", "asked (UTC)", "expires (UTC)", "decided by"), rows)
    elif not waits:
        app.output.line("nothing waits for a decision")
    for one in waits:
        app.output.line(f"{one.flow}: {one.text}", style="red" if one.whom == "repair" else "yellow")
        app.output.line(f"  hint: {one.remedy}")


def _find_questions(app: App, name: str | None, *, every: bool) -> "tuple[list[Approval], bool, list[Wait]]":
    """The questions of a flow, or the one that has this name; whether it is that one; and what waits beside them."""
    from streamhouse.errors import UnknownApprovalError
    from streamhouse.state.waits import waits_of

    state = app.project.existing_state()
    if state is None:
        if name is not None and name not in app.flow_names(None):
            raise UnknownApprovalError(name, [])
        return [], False, []
    with state:
        known = {question.flow for question in state.approvals.list(every=True)} | app.flow_names(state)
        if name is not None and name not in known:
            question = state.approvals.get(name)
            return [question], True, [w for w in waits_of(state, question.flow) if w.question == question.id]
        found = state.approvals.list(name, every=every)
        if not every:
            found = sorted([*found, *state.approvals.failed(name)], key=lambda one: one.requested_at)
        is_open = {one.id for one in found if one.state == "open"}
        waits = [w for flow in ([name] if name else sorted(known)) for w in waits_of(state, flow)]
        return found, False, [w for w in waits if w.question not in is_open]


def _proposals(app: App, questions: "list[Approval]") -> "dict[str, tuple[Proposal, ...]]":
    """Question → what the planner proposed and it came from."""
    if not questions:
        return {}
    from streamhouse.change.proposed import Origins

    with app.project.state() as state:
        origins = Origins(app.project, state)
        return {one.id: origins.of_question(one) for one in questions}


@click.command(
    short_help="Grant what a flow asks for.",
    epilog="""\b
Examples:
  streamhouse approve 4f2a91c0
  streamhouse approve 4f2a --reason "agreed with finance" --json
""",
)
@click.argument("name", metavar="ID")
@click.option("--reason", help="Why; kept with the decision.")
@shared_options
@click.pass_obj
def approve(app: App, name: str, reason: str | None) -> None:
    """Grant the question ID, or the beginning of it: the change is carried out at the next look of the trigger.

    Paused readers continue from their positions. See first what would happen: streamhouse approvals ID.
    """
    _decide(app, name, grant=True, reason=reason)


@click.command(
    short_help="Refuse what a flow asks for.",
    epilog="""\b
Examples:
  streamhouse refuse 4f2a91c0
  streamhouse refuse 4f2a --reason "upstream takes it back tomorrow"
""",
)
@click.argument("name", metavar="ID")
@click.option("--reason", help="Why; kept with the decision.")
@shared_options
@click.pass_obj
def refuse(app: App, name: str, reason: str | None) -> None:
    """Refuse the question ID, or the beginning of it: the flow goes on as if nothing had changed.

    That is what the policy 'ignore' does. Where even that cannot be, such as after a change of the primary
    key, readers go on standing still. A grant may be taken back so when what was granted failed.
    """
    _decide(app, name, grant=False, reason=reason)


def _decide(app: App, name: str, *, grant: bool, reason: str | None) -> None:
    from streamhouse.errors import UnknownApprovalError

    state: StateStore | None = app.project.existing_state()
    if state is None:
        raise UnknownApprovalError(name, [])
    with state:
        done = state.approvals.decide(name, grant=grant, by=whoami(), reason=reason)
    if app.as_json:
        app.output.document(_document(done))
    else:
        then = "it is carried out at the next look of the trigger" if grant else f"{done.flow} goes on without it"
        app.output.line(f"{done.state} {done.id} of {done.flow}: {done.asks}; {then}", style=_STYLES[done.state])


def _show(question: "Approval", output: CommandOutput, proposals: "Sequence[Proposal]") -> None:
    output.line(f"{question.flow}: {question.asks}", style=_STYLES.get(question.state, ""))
    output.facts(
        {
            "id": question.id,
            "state": question.state.value,
            "asked": question.requested_at,
            "expires": question.expires_at,
            "decided": question.decided_at,
            "by": question.decided_by,
            "reason": question.reason,
            "about": question.subject,
        }
    )
    output.line()
    output.line(question.evidence)
    show_proposals(proposals, output)
    if question.state == "open":
        output.line()
        output.line(f"streamhouse approve {question.id}   or   streamhouse refuse {question.id}")


def show_proposals(proposals: "Sequence[Proposal]", output: CommandOutput) -> None:
    """Print what the planner proposed and a change came from."""
    from streamhouse.planner.proposal_text import proposal_text

    for one in proposals:
        output.line()
        output.line(proposal_text(one))


def _document(question: "Approval") -> dict[str, Any]:
    return {
        "id": question.id,
        "flow": question.flow,
        "subject": question.subject,
        "asks": question.asks,
        "state": question.state.value,
        "asked_at": question.requested_at,
        "expires_at": question.expires_at,
        "decided_at": question.decided_at,
        "decided_by": question.decided_by,
        "reason": question.reason,
        "evidence": {"text": question.evidence, "document": question.document},
    }
