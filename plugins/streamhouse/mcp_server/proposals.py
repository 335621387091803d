"""Proposals in the words of answers, as far as they may be shown; and the project's files with theirs in them."""

import re
from difflib import unified_diff
from typing import Any

from sqlglot import exp

from streamhouse.errors import Location, NotSharedError, ProposalOutdatedError, SqlSyntaxError
from streamhouse.jobs.ask import check_unchanged
from streamhouse.mcp_server.answers import (
    CheckFacts,
    DiffFile,
    ProposalAnswer,
    QuestionFacts,
    ReadingFacts,
    Sample,
)
from streamhouse.mcp_server.commands import for_client
from streamhouse.mcp_server.shareable import WITHHELD, Shared
from streamhouse.planner.proposal import FileEdit, Proposal, Status
from streamhouse.planner.proposals import Proposals
from streamhouse.planner.try_files import with_edits
from streamhouse.project.project import Project
from streamhouse.registry.files import DefinitionFiles, read_files
from streamhouse.sql.dialect import parse_query

_EXAMPLES = re.compile(r"^examples:.*\n(?:(?: .*|- .*|)\n)*", re.MULTILINE)
_NO_ROWS = Sample(why_not="no rows were asked for")


def files_with(project: Project, proposal: str, shared: Shared) -> DefinitionFiles:
    """The project's files with those of a proposal in them; on disk nothing changes.

    Raises:
        UnknownProposalError: there is none of the id.
        NotSharedError: it is about a table that may not be shown.
        ProposalOutdatedError: it has no files, or the project's have changed since.
    """
    found = Proposals(project).get(proposal).proposal
    require_shareable(found, shared)
    if not found.files:
        raise ProposalOutdatedError(f"proposal {proposal} has no files", hint="validate and plan the files as they are")
    check_unchanged(project, found)
    return with_edits(read_files(project.root), found.files)


def require_shareable(proposal: Proposal, shared: Shared) -> None:
    """Refuse a proposal that reads a table which may not be shown: a person, who knows it, asked for it.

    Raises:
        NotSharedError: it does, or nobody can tell.
    """
    if not shared.hidden:
        return
    request = proposal.request.model_dump_json() if proposal.request is not None else ""
    unread = bool(proposal.sql) and not tables_of(proposal)
    if unread or shared.names_hidden(request) or not all(map(shared.sees, tables_of(proposal))):
        raise NotSharedError(
            f"proposal {proposal.id} reads a table whose schema may not be shown",
            hint=f"a person can look at it: streamhouse proposals {proposal.id}",
        )


def answer(proposal: Proposal, shared: Shared, preview: Sample = _NO_ROWS) -> ProposalAnswer:
    """A proposal as it may be shown.

    Args:
        proposal: Of a person or of an agent, so it may have what only people may see.
        shared: What may be shown.
        preview: Rows that may be shown; what the proposal itself holds of rows is left out.
    """
    withheld = []
    if examples := any(_EXAMPLES.search(edit.after) for edit in proposal.files):
        withheld.append("examples: they hold rows; a person sees them in the files")
    tables = tables_of(proposal)
    if any(not shared.gives_rows(table) for table in tables):
        withheld.append("values that only rows have were not looked at, for tables that keep their rows back")
    data = proposal.request.model_dump(mode="json") if proposal.request is not None else None
    if data is not None and shared.names_hidden(str(data)):
        data = None
        withheld.append("the Request: it names a table whose schema may not be shown")

    def keep(text: str) -> str:
        return shared.cleaned(for_client(text))

    return ProposalAnswer(
        proposal=proposal.id,
        status=proposal.status.value,
        wish=shared.names.masked(proposal.wish),
        sentence=keep(proposal.sentence),
        table=keep(proposal.table),
        flow=proposal.flow,
        readings=tuple(ReadingFacts(phrase=keep(one.phrase), became=keep(one.became)) for one in proposal.readings),
        assumptions=tuple(map(keep, proposal.assumptions)),
        questions=tuple(
            QuestionFacts(text=keep(one.text), phrase=keep(one.phrase), choices=tuple(map(keep, one.choices)))
            for one in proposal.questions
        ),
        refusal=keep(proposal.refusal),
        sql=shared.cleaned_sql(proposal.sql),
        files=tuple(_diff(edit, shared, examples=examples) for edit in proposal.files),
        reuses=tuple(keep(f"{one.kind} {one.name}: {one.why}") for one in proposal.reuses),
        outcomes=tuple(map(keep, proposal.outcomes)),
        cost=_cleaned(proposal.cost.model_dump(mode="json"), shared),
        checks=tuple(CheckFacts(name=one.name, verdict=one.verdict, text=keep(one.text)) for one in proposal.checks),
        request=data,
        preview=preview,
        for_a_person=tuple(map(shared.cleaned, _commands(proposal))),
        withheld=tuple(withheld),
    )


def tables_of(proposal: Proposal) -> tuple[str, ...]:
    """The tables that its answer reads; empty where it has none."""
    if not proposal.sql:
        return ()
    try:
        tree = parse_query(proposal.sql, Location("proposal"))
    except SqlSyntaxError:  # of another version of Streamhouse
        return ()
    return tuple(dict.fromkeys(f"{one.db}.{one.name}" for one in tree.find_all(exp.Table) if one.db))


def _cleaned(value: Any, shared: Shared) -> Any:
    """Data without the texts, and the keys, that name what may not be shown."""
    if isinstance(value, dict):
        return {key: _cleaned(one, shared) for key, one in value.items() if not shared.names_hidden(key)}
    if isinstance(value, list):
        return [_cleaned(one, shared) for one in value]
    return shared.cleaned(value) if isinstance(value, str) else value


def _commands(proposal: Proposal) -> tuple[str, ...]:
    """What a person types; no tool does."""
    if proposal.status is not Status.PROPOSED or not proposal.files:
        return proposal.commands
    return (f"streamhouse proposals {proposal.id}", f"streamhouse proposals {proposal.id} --write", *proposal.commands)


def _diff(edit: FileEdit, shared: Shared, *, examples: bool) -> DiffFile:
    before, after = edit.before or "", edit.after
    if examples:
        before, after = (_EXAMPLES.sub("", text) for text in (before, after))
    lines = unified_diff(
        before.splitlines(),
        after.splitlines(),
        f"a/{edit.path}" if edit.before is not None else "/dev/null",
        f"b/{edit.path}",
        n=0 if shared.hidden else 3,  # what stands around may be about a table that may not be shown
        lineterm="",
    )
    shown_lines = (f"{line[:1]}{WITHHELD}" if shared.names_hidden(line) else line for line in lines)
    return DiffFile(path=edit.path, new=edit.before is None, diff="\n".join(shown_lines))
