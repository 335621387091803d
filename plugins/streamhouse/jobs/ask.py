"""A wish into a proposal, a proposal into another one, and its files into a project: for the CLI, MCP and the page."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from streamhouse.errors import (
    ProposalFailedError,
    ProposalOutdatedError,
    RequestShapeError,
    StreamhouseError,
    UnaskedAnswerError,
)
from streamhouse.errors.base import printable
from streamhouse.install.whole_file import write_whole
from streamhouse.jobs.answers import with_answers, with_live_choices
from streamhouse.jobs.ask_options import Options, Say
from streamhouse.jobs.write_target import check_folders, target_of
from streamhouse.planner.fates import PROJECT
from streamhouse.planner.proposal import Check, Preview, Proposal, Status
from streamhouse.planner.proposals import Asked, Proposals
from streamhouse.planner.propose import ProposalDraft, finished, propose
from streamhouse.planner.request import Question, Request, Understood
from streamhouse.planner.still_meant import request_check
from streamhouse.planner.still_true import still_true
from streamhouse.planner.try_files import try_files
from streamhouse.planner.wish_length import check_length
from streamhouse.planner.workspace import Workspace
from streamhouse.project.project import Project
from streamhouse.registry.read_action import read_action

if TYPE_CHECKING:
    from streamhouse.jobs.query import QueryService

_NONE = Options()
_MOST_TABLES = 200  # of a catalog over which each choice of a question is tried: a reading of 1,000 takes 0.2 s


def ask(
    project: Project,
    wish: str,
    options: Options = _NONE,
    *,
    request: Request | None = None,
    say: Say = lambda _: None,
    keep: bool = True,
    space: Workspace | None = None,
) -> Proposal:
    """The proposal of a wish; nothing of the project changes.

    Args:
        project: Its files are read, and its tables where examples or a preview are wanted.
        wish: In plain words.
        options: What a person says beside it.
        request: Replaces the reading of the wish.
        say: Is called with what is being waited for.
        keep: Whether the proposal is kept for `streamhouse proposals`.
        space: What the planner may know of the project; None: everything.

    Raises:
        PlanningError: the wish, with its answers, is too long.
        UnaskedAnswerError: an answer is to no question.
        DefinitionErrors: the project's files are wrong.
        NoEnvironmentError: there is no environment whose tables could be read.
    """
    from streamhouse.jobs.ask_model import ModelAnswer, may_ask_model, with_model

    for text in (wish, *options.answers.values()):
        check_length(text)
    if options.environment is not None:
        from streamhouse.change.environment import require_environment

        require_environment(project, options.environment)
    space = space or Workspace.of(project)
    if request is not None and options.answers:
        raise UnaskedAnswerError(next(iter(options.answers)), ())
    words = answered(wish, options.answers, space, may_be_of_model=may_ask_model(options, project.settings))

    def make_draft(understood: Understood) -> ProposalDraft:
        return _draft(understood, wish, space, options)

    if request is not None:
        found = ModelAnswer(make_draft(Understood(request=request)))
    else:
        found = with_model(words, space, options, lambda: _read_for_a_person(words, space), make_draft, say)
    proposal = _finished(found.draft, space, options, say)
    if keep:
        Proposals(project).add(proposal, asked=_asked(options, found.draft.assumed))
    if found.sent is not None:
        found.sent.belongs_to(proposal.id)
    return proposal


def revise(
    project: Project,
    proposal_id: str,
    edits: Mapping[str, Any],
    options: Options = _NONE,
    *,
    say: Say = lambda _: None,
    space: Workspace | None = None,
) -> Proposal:
    """Another proposal, of the Request with some parts replaced.

    Args:
        project: As for `ask`.
        proposal_id: Of a proposal that has a Request. The other one is for the same flow, or an action alone as well.
        edits: Path of a part of the Request, such as `ranking` or `block.filters`, → what it is to be, as JSON has it.
            Without any, the proposal is made again, with the examples and the preview that the options want.
        options: As for `ask`.
        say: As for `ask`.
        space: As for `ask`.

    Raises:
        UnknownProposalError: there is no such proposal.
        RequestShapeError: it has no Request, or the edits do not fit.
    """
    stored = Proposals(project).get(proposal_id)
    before, asked = stored.proposal, stored.asked
    if before.request is None:
        raise RequestShapeError("the proposal has no Request that could be revised", hint="ask again in other words")
    request = edited(before.request, edits)
    space = space or Workspace.of(project)
    options = replace(
        options,
        flow=options.flow or asked.flow,
        alone=options.alone or asked.alone,
        build_in=options.build_in or asked.build_in,
    )
    understood = Understood(
        request=request,
        readings=still_true(before.readings, lambda one: one.became, before.request, request),
        assumptions=still_true(asked.assumptions, str, before.request, request),
    )
    found = _proposal(understood, before.wish, space, options, say)
    Proposals(project).add(found, asked=_asked(options, understood.assumptions))
    if found.id != before.id:
        Proposals(project).note(before.id, "revised", found.id)
    return found


def write(
    project: Project,
    proposal: Proposal,
    target: Path | None = None,
    *,
    trial: bool = True,
    say: Say = lambda _: None,
) -> list[Path]:
    """Write the files of a proposal, after a final check; nothing that serves changes before they are applied.

    Args:
        project: That the proposal was made of.
        proposal: Proposed, with files.
        target: A folder for them; None, and the project's own folder: into the project.
        trial: Whether its step is tried first, which starts Spark: see `prove`. A folder gets files that were not.
        say: Is called with what is being waited for.

    Returns:
        The files written.

    Raises:
        ProposalOutdatedError: there is nothing to write, or the project's files have changed since.
        ProposalFailedError: what was tried did not come out as it must; nothing is written.
        WriteTargetError: the target is a file, or a folder of the project that Streamhouse reads; or a file's folder
            is a link.
        DefinitionError, DefinitionErrors: the files do not compile any more.
    """
    target = target_of(project.root, target)
    if proposal.status is not Status.PROPOSED or not proposal.files:
        raise ProposalOutdatedError("the proposal has no files to write")
    check_unchanged(project, proposal)
    proposal = _tried(project, proposal, say, proves=trial and target is None)
    root = target if target is not None else project.root
    check_folders(root, [edit.path for edit in proposal.files])
    written = [root / edit.path for edit in proposal.files]
    for file, edit in zip(written, proposal.files, strict=True):
        write_whole(file, edit.after)
    Proposals(project).add(proposal, "written", str(target) if target is not None else PROJECT)
    return written


def _tried(project: Project, proposal: Proposal, say: Say, *, proves: bool) -> Proposal:
    """The proposal after its files were compiled and, where that is asked for, its step was tried on rows."""
    space = Workspace.of(project)
    if proposal.flow:
        space.refuse_unreadable(proposal.flow)
        try_files(project, space.files, proposal.files, proposal.flow, space.applied, space.plans, space.registry)
    else:
        for edit in proposal.files:
            read_action(edit.after, edit.path)
    meant = request_check(proposal, space)
    proposal = _kept(proposal, (meant,) if meant is not None else (), space)
    return proved(proposal, space, say) if proves else proposal


def proved(proposal: Proposal, space: Workspace, say: Say = lambda _: None) -> Proposal:
    """The proposal with what was tried with its files; kept with it, also where it failed.

    Raises:
        ProposalFailedError: something did not come out as it must.
    """
    from streamhouse.jobs.prove import prove

    return _kept(proposal, prove(proposal, space, say), space)


def _kept(proposal: Proposal, tried: tuple[Check, ...], space: Workspace) -> Proposal:
    names = {check.name for check in tried}
    checks = (*(check for check in proposal.checks if check.name not in names), *tried)
    found = proposal.model_copy(update={"checks": checks})
    failed = [f"{check.name}: {check.text}" for check in tried if check.verdict == "failed"]
    if failed:
        Proposals(space.project).add(found, "failed", "; ".join(failed))
        raise ProposalFailedError(
            f"nothing was written: {'; '.join(failed)}",
            hint="say the wish in another way, or look at the files: streamhouse ask WISH --write DIR",
        )
    return found


def read_wish(wish: str, space: Workspace) -> Understood:
    """How a wish is read offline.

    An error that no rule of the planner foresaw goes on to the command, the page or the MCP server, each of which
    refuses with SH000 and keeps the trace. The trace then names the wish.
    """
    from streamhouse.planner.understand import understand

    try:
        return understand(wish, space.catalog)
    except Exception as error:
        error.add_note(f"while this wish was read: {printable(wish)}")
        raise


def _read_for_a_person(wish: str, space: Workspace) -> Understood:
    found = read_wish(wish, space)
    if len(space.catalog.tables) > _MOST_TABLES:
        return found
    return with_live_choices(wish, found, lambda text: read_wish(text, space))


def answered(
    wish: str,
    answers: Mapping[str, str],
    space: Workspace,
    asked: Sequence[Question] = (),
    *,
    may_be_of_model: bool = False,
) -> str:
    """The wish with its questions answered: see `with_answers`.

    Raises:
        UnaskedAnswerError: an answer is to no question.
        PlanningError: the wish, with its answers, is too long.
    """
    if not answers:
        return wish
    words = with_answers(
        wish, answers, lambda text: read_wish(text, space), asked=asked, may_be_of_model=may_be_of_model
    )
    check_length(words)
    return words


def edited(request: Request, edits: Mapping[str, Any]) -> Request:
    """A Request with parts replaced.

    Raises:
        RequestShapeError: a path leads nowhere, or a value does not fit there.
    """
    data = request.model_dump(mode="json")
    for path, value in edits.items():
        part: Any = data
        names = path.split(".")
        try:
            for name in names[:-1]:
                part = part[int(name) if isinstance(part, list) else name]
            last = int(names[-1]) if isinstance(part, list) else names[-1]
            if isinstance(part, dict) and last not in part:
                raise KeyError(last)
            part[last] = value
        except (KeyError, IndexError, ValueError, TypeError) as error:
            known = ", ".join(part) if isinstance(part, dict) else f"0 to {len(part) - 1}" if part else "none"
            hint = f"name a part that is there, such as 'block.filters'; there: {known}"
            raise RequestShapeError(f"a Request has no part '{path}'", hint=hint) from error
    return parsed_request(data)


def parsed_request(data: Any) -> Request:
    """A Request from plain data.

    Raises:
        RequestShapeError: it is none; the message names the first part that is wrong.
    """
    try:
        return Request.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise RequestShapeError(f"this is no Request: {place}: {first['msg']}") from error


def _asked(options: Options, assumptions: tuple[str, ...]) -> Asked:
    return Asked(flow=options.flow, alone=options.alone, build_in=options.build_in, assumptions=assumptions)


def _proposal(understood: Understood, wish: str, space: Workspace, options: Options, say: Say) -> Proposal:
    return _finished(_draft(understood, wish, space, options), space, options, say)


def _finished(draft: ProposalDraft, space: Workspace, options: Options, say: Say) -> Proposal:
    proposal = _for_environment(_tried_on_rows(draft, space, options, say).proposal, options.build_in)
    unread = [Check(name="values", verdict="notice", text=text) for text in space.unread]
    if proposal.flow:
        unknown = {flow: f"it is not known what {flow} reads: {why.message}" for flow, why in space.unreadable.items()}
        unread += [Check(name="readers", verdict="notice", text=text) for text in unknown.values()]
    return proposal.model_copy(update={"checks": (*proposal.checks, *unread)}) if unread else proposal


def _draft(understood: Understood, wish: str, space: Workspace, options: Options) -> ProposalDraft:
    request = understood.request
    if request is not None:
        requested_values = {"name": options.name, "layer": options.layer, "freshness": options.freshness}
        overrides = {key: value for key, value in requested_values.items() if value is not None}
        understood = understood.model_copy(update={"request": parsed_request(request.model_dump() | overrides)})
    return propose(understood, wish, space, flow=options.flow, alone=options.alone)


def _for_environment(proposal: Proposal, environment: str | None) -> Proposal:
    """The same proposal, whose next steps build it in an environment, beside production."""
    if environment is None:
        return proposal
    apply = f"streamhouse apply {proposal.flow}"
    commands = tuple(f"{one} --env {environment}" if one == apply else one for one in proposal.commands)
    return proposal.model_copy(update={"commands": commands})


def _tried_on_rows(draft: ProposalDraft, space: Workspace, options: Options, say: Say) -> ProposalDraft:
    """The draft with a preview and examples, as far as they are wanted and tables have rows."""
    if draft.proposal.status is not Status.PROPOSED:
        return draft
    project = space.project
    examples = options.examples if options.examples is not None else bool(space.applied.rows)
    examples = examples and draft.action is not None and draft.effective_request is not None
    if not options.preview and not examples:
        return draft
    if not space.applied.flows:
        return _shown(draft, Preview(why_not="nothing has run yet, so no table has rows"))
    from streamhouse.jobs.query import QueryService
    from streamhouse.runtime.query_environment import only_what_a_query_needs

    with only_what_a_query_needs(project.settings), QueryService(project, options.environment, say) as asking:
        if options.preview:
            draft = _shown(draft, preview(asking, draft.proposal.sql, options.preview))
        return _with_examples(draft, space, asking, say) if examples else draft


def _with_examples(draft: ProposalDraft, space: Workspace, asking: "QueryService", say: Say) -> ProposalDraft:
    from streamhouse.jobs.ask_examples import NoExampleError, example_of, examples_check

    assert draft.action is not None
    assert draft.effective_request is not None
    assert draft.catalog is not None
    try:
        say("computing examples")
        example = example_of(draft.action, draft.effective_request, draft.catalog, asking, asking.session())
        draft = finished(draft, space, (example,))
        assert draft.action is not None
        check = examples_check(draft.action, asking.session())
    except (NoExampleError, StreamhouseError, ValueError) as error:
        check = Check(name="examples", verdict="skipped", text=str(error))
    proposal = draft.proposal
    updates: dict[str, Any] = {"checks": (*proposal.checks, check)}
    if check.verdict == "failed":  # the same rows gave other rows: nothing to keep a table up to date with
        updates |= {"status": Status.REFUSED, "refusal": f"the action fails its own example: {check.text}", "files": ()}
    return replace(draft, proposal=proposal.model_copy(update=updates))


def _shown(draft: ProposalDraft, shown: Preview) -> ProposalDraft:
    return replace(draft, proposal=draft.proposal.model_copy(update={"preview": shown}))


def preview(asking: "QueryService", sql: str, rows: int) -> Preview:
    """The first rows of a query over the tables as they are, or why there are none."""
    from streamhouse.stores.arrow_values import python_rows

    try:
        found = asking.ask(sql, limit=rows).rows
    except StreamhouseError as error:
        return Preview(why_not=error.message)
    return Preview(columns=tuple(found.column_names), rows=tuple(tuple(map(_json, row)) for row in python_rows(found)))


def _json(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [_json(part) for part in value]
    if isinstance(value, dict):
        return {str(key): _json(part) for key, part in value.items()}
    return str(value)


def check_unchanged(project: Project, proposal: Proposal) -> None:
    """Refuse a proposal whose files somebody edited since.

    Raises:
        ProposalOutdatedError: a file says neither what it said then, nor what it is to say.
    """
    from streamhouse.registry.files import read_files

    files = read_files(project.root)
    now = {file.name: file.text() for file in (*files.actions, *files.flows) if file.content is not None}
    for edit in proposal.files:
        if now.get(edit.path) not in (edit.before, edit.after):
            raise ProposalOutdatedError(
                f"{edit.path} has changed since the proposal was made",
                hint="ask again; streamhouse ask WISH",
            )
