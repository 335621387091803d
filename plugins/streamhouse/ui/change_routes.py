"""Routes of what changes: plans, questions, the journal, what happened upstream. Answers need who may decide."""

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request

from streamhouse.ui import changes
from streamhouse.ui.answers import ApprovalAnswer, ChangeAnswer, DecisionRequest, EventAnswer, PlanPage
from streamhouse.ui.bodies import read_body
from streamhouse.ui.dependencies import At, Deciding, deciding
from streamhouse.ui.our_page import from_our_page

router = APIRouter()


# FastAPI reads the body of a request before it asks who sends it; this reads it afterwards.
async def _decision(request: Request, _: Deciding) -> DecisionRequest:
    return await read_body(request, DecisionRequest)


Decision = Annotated[DecisionRequest, Depends(_decision)]


@router.get("/api/plan")
def plan(at: At) -> PlanPage:
    """What the files would change."""
    return changes.plan(at)


@router.get("/api/approvals")
def approvals(at: At) -> list[ApprovalAnswer]:
    """Questions that wait for a person."""
    return changes.approvals(at)


@router.post("/api/approvals/{name}/{answer}", dependencies=[Depends(from_our_page)])
def decide(name: str, answer: Literal["approve", "refuse"], body: Decision, at: At, person: Deciding) -> ApprovalAnswer:
    """Answer a question."""
    return changes.decide(at, name, grant=answer == "approve", by=person.name, reason=body.reason)


@router.get("/api/changes")
def journal(at: At, limit: Annotated[int, Query(ge=1, le=200)] = 30) -> list[ChangeAnswer]:
    """Changes that were asked for, the newest first."""
    return changes.journal(at, limit)


@router.post("/api/changes/{change}/{answer}", dependencies=[Depends(from_our_page), Depends(deciding)])
def go_on(change: int, answer: Literal["swap", "withdraw"], body: Decision, at: At) -> ChangeAnswer:
    """Let what a change built serve, or give it up."""
    del body  # the journal keeps no reason; asked for so that only JSON is taken
    return changes.go_on(at, change, serve=answer == "swap")


@router.get("/api/events")
def events(at: At, limit: Annotated[int, Query(ge=1, le=500)] = 100) -> list[EventAnswer]:
    """What changed upstream, the newest first."""
    return changes.upstream(at, limit)
