"""The route of the button "Replay" of the page "Quarantine"; it needs who may decide."""

from fastapi import APIRouter, Depends, Request

from streamhouse.ui.answers import ReplayAnswer
from streamhouse.ui.dependencies import TheAsker, deciding
from streamhouse.ui.our_page import from_our_page

router = APIRouter()


@router.post("/api/quarantine/{name}/replay", dependencies=[Depends(from_our_page), Depends(deciding)])
async def replay(name: str, asker: TheAsker, request: Request) -> ReplayAnswer:
    """Let the flow read the dead letters of a table again."""
    words = ("quarantine", "replay", "--", name)
    return ReplayAnswer.model_validate(await asker.document(words, "", request.is_disconnected))
