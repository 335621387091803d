"""Wishes into proposals, which are kept and nothing else: a person takes them on."""

from collections.abc import Callable
from dataclasses import replace

from streamhouse.errors import NotSharedError, StreamhouseError
from streamhouse.jobs import ask as jobs
from streamhouse.mcp_server import proposals
from streamhouse.mcp_server.answers import ProposalAnswer, Sample
from streamhouse.mcp_server.arguments import AskArguments, ReviseArguments
from streamhouse.mcp_server.commands import for_client
from streamhouse.mcp_server.query import readable_tables
from streamhouse.mcp_server.rows import rows_of
from streamhouse.mcp_server.shareable import Shared
from streamhouse.mcp_server.tool_context import Serving
from streamhouse.planner.fates import Fates
from streamhouse.planner.proposal import Proposal
from streamhouse.planner.proposals import Proposals
from streamhouse.planner.workspace import Workspace
from streamhouse.ui.problem_data import ProblemError


async def ask(serving: Serving, request: AskArguments) -> ProposalAnswer:
    """What a wish becomes, read offline from what may be shown of the project.

    Raises:
        PlanningError: the wish is too long.
        DefinitionErrors: the project's files are wrong.
    """
    project = serving.desk.project
    return await _answered(serving, request.rows, lambda space, _: jobs.ask(project, request.wish, space=space))


async def revise(serving: Serving, request: ReviseArguments) -> ProposalAnswer:
    """Another proposal, with answers to the questions of one, or its Request edited.

    Raises:
        UnknownProposalError: there is no such proposal.
        NotSharedError: it reads a table that may not be shown.
        RequestShapeError: it has no Request, or the edits do not fit.
        PlanningError: the wish is too long with its answers.
        UnaskedAnswerError: an answer is to no question.
        DefinitionErrors: the project's files are wrong.
    """
    project = serving.desk.project

    def revised(space: Workspace, shared: Shared) -> Proposal:
        before = Proposals(project).get(request.proposal).proposal
        proposals.require_shareable(before, shared)
        if request.edits:
            return jobs.revise(project, request.proposal, request.edits, space=space)
        # The answers become part of the wish, so that a second round of questions has those of the first.
        wish = jobs.answered(before.wish, request.answers, space, before.questions)
        return jobs.ask(project, wish, space=space)

    return await _answered(serving, request.rows, revised)


def show_proposal(serving: Serving, name: str) -> ProposalAnswer:
    """A proposal that was kept, as far as it may be shown.

    Raises:
        UnknownProposalError: there is none.
        NotSharedError: it reads a table that may not be shown, or nobody can tell which tables it is about.
    """
    stored, shared = Proposals(serving.desk.project, serving.desk.state).get(name), serving.shared()
    found = stored.proposal
    proposals.require_shareable(found, shared)
    if shared.hidden and not found.sql:
        raise NotSharedError(
            f"proposal {name} may be about a table whose schema may not be shown",
            hint="ask again, with the tool 'ask'",
        )
    became = Fates(serving.desk.project, serving.desk.state).of(stored)
    return proposals.answer(found, shared).model_copy(update={"became": shared.cleaned(for_client(str(became)))})


async def _answered(serving: Serving, rows: int, work: Callable[[Workspace, Shared], Proposal]) -> ProposalAnswer:
    proposal, shared = await serving.work.run(lambda: _make_proposal(serving, work))
    preview = await _preview(serving, proposal, rows) if rows else Sample(why_not="no rows were asked for")
    return proposals.answer(proposal, shared, preview)


def _make_proposal(serving: Serving, work: Callable[[Workspace, Shared], Proposal]) -> tuple[Proposal, Shared]:
    shared = serving.shared()
    with serving.desk.compiling():
        # The planner reads no more than may be shown, so that no reading or question can tell more.
        return work(replace(Workspace.of(serving.desk.project), catalog=shared.catalog), shared), shared


async def _preview(serving: Serving, proposal: Proposal, rows: int) -> Sample:
    """The first rows, or why there are none."""
    if not proposal.sql:
        return Sample(why_not="there is no query")
    try:
        await serving.work.run(lambda: readable_tables(serving, proposal.sql))
        return await rows_of(serving.asker, proposal.sql, rows)
    except StreamhouseError as error:
        return Sample(why_not=for_client(error.message))
    except ProblemError as error:
        return Sample(why_not=for_client(error.problem.detail))
