"""Routes of the page "Ask". A wish needs who may query or decide; its files need who may decide."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Depends, HTTPException, Request

from streamhouse.ui import proposals
from streamhouse.ui.answers import Graph
from streamhouse.ui.bodies import read_body
from streamhouse.ui.dependencies import At, Parts, Someone, TheAsker
from streamhouse.ui.our_page import from_our_page
from streamhouse.ui.person import Person
from streamhouse.ui.proposal_answers import (
    AnswersRequest,
    EditsRequest,
    NoneRequest,
    Progress,
    ProposalPage,
    ProposalSummary,
    WishRequest,
    WriteRequest,
    Written,
)
from streamhouse.ui.query_process import Asker

if TYPE_CHECKING:
    from streamhouse.planner.proposal import Proposal

PREVIEW_ROWS = 10
WRITE_S = 900.0
"""So long may it take to try a proposal's files and to build their tables in an environment."""


router = APIRouter()


async def _asking(person: Someone) -> Person:
    if not person.may_ask:
        raise HTTPException(403, f"{person.name} may look at flows here, and not ask for new ones")
    return person


Asking = Annotated[Person, Depends(_asking)]


async def _trying(person: Asking) -> Person:
    if not person.may_query:
        raise HTTPException(403, f"{person.name} may look at flows here, and not query their tables")
    return person


async def _writing(person: Someone) -> Person:
    if not person.may_decide:
        raise HTTPException(403, f"{person.name} may ask for flows here, and not write their files")
    return person


# FastAPI reads the body of a request before it asks who sends it; these read it afterwards.
async def _wish(request: Request, _: Asking) -> WishRequest:
    return await read_body(request, WishRequest)


async def _answers(request: Request, _: Asking) -> AnswersRequest:
    return await read_body(request, AnswersRequest)


async def _edits(request: Request, _: Asking) -> EditsRequest:
    return await read_body(request, EditsRequest)


async def _nothing_to_try(request: Request, _: Annotated[Person, Depends(_trying)]) -> NoneRequest:
    return await read_body(request, NoneRequest)


async def _place(request: Request, _: Annotated[Person, Depends(_writing)]) -> WriteRequest:
    return await read_body(request, WriteRequest)


@router.post("/api/ask", dependencies=[Depends(from_our_page)])
def ask(body: Annotated[WishRequest, Depends(_wish)], at: At, person: Asking) -> ProposalPage:
    """What a wish becomes."""
    return proposals.ask(at, body.wish, rows=person.may_query)


@router.get("/api/proposals", dependencies=[Depends(_asking)])
def every(at: At) -> list[ProposalSummary]:
    """Proposals that are kept, the newest first."""
    return proposals.history(at)


@router.get("/api/proposals/{name}")
def one(name: str, at: At, person: Asking) -> ProposalPage:
    """One proposal."""
    return proposals.page(at, name, rows=person.may_query)


@router.get("/api/proposals/{name}/graph", dependencies=[Depends(_asking)])
def graph(name: str, at: At) -> Graph | None:
    """The flow of a proposal to be drawn."""
    return proposals.graph(at, name)


@router.post("/api/proposals/{name}/answer", dependencies=[Depends(from_our_page)])
def answer(name: str, body: Annotated[AnswersRequest, Depends(_answers)], at: At, person: Asking) -> ProposalPage:
    """The proposal when its questions are answered so."""
    return proposals.answer(at, name, body.answers, rows=person.may_query)


@router.post("/api/proposals/{name}/revise", dependencies=[Depends(from_our_page)])
def revise(name: str, body: Annotated[EditsRequest, Depends(_edits)], at: At, person: Asking) -> ProposalPage:
    """The proposal with its Request edited."""
    return proposals.revise(at, name, body.edits, rows=person.may_query)


@router.get("/api/proposals/{name}/progress", dependencies=[Depends(_asking)])
def progress(name: str, parts: Parts) -> Progress:
    """What is being done for a proposal."""
    return Progress(said=parts.said.get(name, ""))


@router.post("/api/proposals/{name}/write", dependencies=[Depends(from_our_page)])
async def write(
    name: str, body: Annotated[WriteRequest, Depends(_place)], at: At, asker: TheAsker, parts: Parts, request: Request
) -> Written:
    """Write the files of a proposal."""
    proposals.stored_proposal(at, name)
    return await _written(name, body.environment, asker, request, parts.said)


@router.post("/api/proposals/{name}/try", dependencies=[Depends(from_our_page), Depends(_nothing_to_try)])
async def try_on_rows(name: str, at: At, asker: TheAsker, parts: Parts, request: Request) -> ProposalPage:
    """The proposal with examples and the first rows, which the engine computes."""
    found = await _tried(proposals.stored_proposal(at, name), asker, request, parts.said)
    return proposals.page(at, found, rows=True)


async def _written(name: str, environment: str | None, asker: Asker, request: Request, said: dict[str, str]) -> Written:
    """Write the files of a proposal by the command that tries them first, and build them beside what serves."""
    words = ("proposals", name, "--write", *(("--env", environment) if environment is not None else ()))
    with _telling(name, said) as say:
        document = await asker.document(words, "", request.is_disconnected, seconds=WRITE_S, say=say)
        last = said[name]
    files = tuple(Path(file).relative_to(asker.root).as_posix() for file in document["written"])
    return Written(files=files, built=document.get("built"), said=last)


async def _tried(proposal: "Proposal", asker: Asker, request: Request, said: dict[str, str]) -> str:
    """Have the engine compute examples and the first rows of a proposal; the id of the one that has them."""
    if proposal.request is None:
        raise HTTPException(422, "the proposal has no Request; ask again in other words")
    words = ("proposals", proposal.id, "--preview", str(PREVIEW_ROWS))
    with _telling(proposal.id, said) as say:
        document = await asker.document(words, "", request.is_disconnected, seconds=WRITE_S, say=say)
    return str(document["id"])


@contextmanager
def _telling(name: str, said: dict[str, str]) -> Iterator[Callable[[str], None]]:
    """Keeps the messages about a proposal while something is done for it."""

    def say(line: str) -> None:
        said[name] = line or said[name]

    said[name] = ""
    try:
        yield say
    finally:
        said.pop(name, None)
