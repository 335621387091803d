"""Wishes and proposals, for the page. Nothing but proposals is written here."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from difflib import unified_diff
from typing import Any

from streamhouse.errors import EnvironmentProblem, StreamhouseError
from streamhouse.planner.catalog import Catalog
from streamhouse.planner.fates import Fates
from streamhouse.planner.proposal import FileEdit, Preview, Proposal
from streamhouse.planner.proposals import Proposals, Stored
from streamhouse.ui.answers import Graph
from streamhouse.ui.chips import chips
from streamhouse.ui.desk import Desk
from streamhouse.ui.graph import graph as drawn
from streamhouse.ui.proposal_answers import DiffLine, FileDiff, ProposalEvent, ProposalPage, ProposalSummary
from streamhouse.ui.query_process import cell

MOST = 200
"""So many proposals the history shows."""


def ask(desk: Desk, wish: str, *, rows: bool) -> ProposalPage:
    """What a wish becomes, read offline and without rows.

    Args:
        desk: The project.
        wish: In plain words.
        rows: Whether who asks may see rows.

    Raises:
        PlanningError: the wish is too long.
        DefinitionErrors: the project's files are wrong.
        EnvironmentProblem: the proposal cannot be kept.
    """
    from streamhouse.jobs.ask import ask as ask_offline

    return _new_page(desk, lambda: ask_offline(desk.project, wish), rows=rows)


def answer(desk: Desk, name: str, answers: Mapping[str, str], *, rows: bool) -> ProposalPage:
    """What a wish becomes once its questions are answered: each choice takes the place of its phrase in the wish.

    Raises:
        UnknownProposalError: there is no such proposal.
        PlanningError: the wish is too long with its answers.
        UnaskedAnswerError: an answer is to no question.
        DefinitionErrors: the project's files are wrong.
        EnvironmentProblem: the proposal cannot be kept.
    """
    from streamhouse.jobs.ask import answered
    from streamhouse.planner.workspace import Workspace

    before = stored_proposal(desk, name)
    wish = answered(before.wish, answers, Workspace.of(desk.project), before.questions)
    found = ask(desk, wish, rows=rows)
    replaced(desk, name, found.proposal.id)
    return found


def revise(desk: Desk, name: str, edits: Mapping[str, Any], *, rows: bool) -> ProposalPage:
    """Another proposal, of the Request with parts replaced.

    Raises:
        UnknownProposalError: there is no such proposal.
        RequestShapeError: it has no Request, or the edits do not fit.
        DefinitionErrors: the project's files are wrong.
        EnvironmentProblem: the proposal cannot be kept.
    """
    from streamhouse.jobs.ask import revise as revised

    return _new_page(desk, lambda: revised(desk.project, name, edits), rows=rows)


def page(desk: Desk, name: str, *, rows: bool) -> ProposalPage:
    """A proposal that was kept.

    Raises:
        UnknownProposalError: there is none.
    """
    return _page(desk, Proposals(desk.project, desk.state).get(name), rows=rows)


def history(desk: Desk) -> list[ProposalSummary]:
    """The newest proposals, with what became of each."""
    fates = Fates(desk.project, desk.state)
    return [_summary(fates, one) for one in Proposals(desk.project, desk.state).all()[:MOST]]


def graph(desk: Desk, name: str) -> Graph | None:
    """The flow of a proposal as it would be, with what would be new; None: it has none.

    Raises:
        UnknownProposalError: there is no such proposal.
        StreamhouseError: its files do not compile with those of the project as they are.
    """
    from streamhouse.planner.try_files import try_files
    from streamhouse.planner.workspace import Workspace

    proposal = Proposals(desk.project, desk.state).get(name).proposal
    if not proposal.flow:
        return None
    with desk.compiling():
        space = Workspace.of(desk.project)
        now = space.plans.get(proposal.flow)
        then = now
        if proposal.files:
            tried = try_files(
                desk.project, space.files, proposal.files, proposal.flow, space.applied, space.plans, space.registry
            )
            then = tried.plan
    if then is None:
        return None
    known = now.tables if now is not None else {}
    found = drawn(then, None, space.applied.rows, {}, {})
    nodes = [one.model_copy(update={"new": one.id in then.tables and one.id not in known}) for one in found.nodes]
    return found.model_copy(update={"nodes": tuple(nodes)})


def replaced(desk: Desk, before: str, after: str) -> None:
    """Note that one proposal became another one."""
    if before != after:
        with _writing():
            Proposals(desk.project, desk.state).note(before, "revised", after)


def stored_proposal(desk: Desk, name: str) -> Proposal:
    """A proposal by its id.

    Raises:
        UnknownProposalError: there is none.
    """
    return Proposals(desk.project, desk.state).get(name).proposal


def _new_page(desk: Desk, work: Callable[[], Proposal], *, rows: bool) -> ProposalPage:
    with desk.compiling(), _writing():
        proposal = work()
    return page(desk, proposal.id, rows=rows)


@contextmanager
def _writing() -> Iterator[None]:
    """Tell what cannot be written, as an error of ours.

    Raises:
        EnvironmentProblem: see above.
    """
    try:
        yield
    except OSError as error:
        raise EnvironmentProblem(
            f"the page cannot write {error.filename or 'into the project'}: {error.strerror or error}",
            hint="let the page write there, or do it in a terminal: streamhouse ask",
        ) from error


def _page(desk: Desk, stored: Stored, *, rows: bool) -> ProposalPage:
    proposal, fates = stored.proposal, Fates(desk.project, desk.state)
    built = fates.environment(stored)
    return ProposalPage(
        proposal=proposal.model_copy(update={"preview": _preview(proposal.preview, rows=rows)}),
        chips=chips(proposal.request, _catalog(desk)) if proposal.request is not None else (),
        diffs=tuple(_diff(edit) for edit in proposal.files),
        events=tuple(ProposalEvent(at=one.at, what=one.what, detail=one.detail) for one in stored.events),
        written=fates.is_written(proposal),
        built=built,
        apply=_apply(proposal, built),
    )


def _preview(found: Preview, *, rows: bool) -> Preview:
    if not rows and found.rows:
        return Preview(why_not="who looks may not query tables here")
    return found.model_copy(update={"rows": tuple(tuple(cell(value) for value in row) for row in found.rows)})


def _catalog(desk: Desk) -> Catalog:
    """What the planner knows; nothing where files are wrong: chips then offer less."""
    from streamhouse.planner.workspace import Workspace

    try:
        with desk.compiling():
            return Workspace.of(desk.project).catalog
    except StreamhouseError:
        return Catalog({})


def _apply(proposal: Proposal, built: str | None) -> tuple[str, ...]:
    if not proposal.flow or not proposal.files:
        return ()
    if built is not None:
        at = f"{proposal.flow} {built}"
        return (f"streamhouse env diff {at}", f"streamhouse env promote {at}")
    return (f"streamhouse plan {proposal.flow}", f"streamhouse apply {proposal.flow}")


def _diff(edit: FileEdit) -> FileDiff:
    before = edit.before.splitlines() if edit.before is not None else []
    lines = [_line(text) for text in list(unified_diff(before, edit.after.splitlines(), lineterm=""))[2:]]
    return FileDiff(
        path=edit.path,
        is_new=edit.before is None,
        added=sum(line.sign == "+" for line in lines),
        removed=sum(line.sign == "-" for line in lines),
        lines=tuple(lines),
        after=edit.after,
    )


def _line(text: str) -> DiffLine:
    if text.startswith("@@"):
        return DiffLine(sign="@", text=text.strip("@ "))
    return DiffLine.model_validate({"sign": text[:1] or " ", "text": text[1:]})


def _summary(fates: Fates, stored: Stored) -> ProposalSummary:
    one, became = stored.proposal, fates.of(stored)
    return ProposalSummary(
        id=one.id,
        wish=one.wish,
        sentence=one.sentence,
        status=one.status,
        table=one.table,
        became=became.what,
        detail=became.detail,
        at=became.at,
    )
