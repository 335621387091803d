"""The page as a FastAPI app: JSON under `api/`, files under `static/`, all behind one guard."""

from collections.abc import Callable
from dataclasses import asdict
from http import HTTPStatus
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote

from fastapi import APIRouter, Depends, FastAPI, Request, Response
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from streamhouse.project.shortcuts import noted_shortcuts
from streamhouse.runtime.command import Command
from streamhouse.ui import (
    change_routes,
    flow_routes,
    problem_data,
    problems,
    proposal_routes,
    query_routes,
    replay_routes,
)
from streamhouse.ui.answers import About, Problem, ProblemDetail, ShortcutsAnswer
from streamhouse.ui.dependencies import At, Engine, PageParts, Parts, Someone, admission
from streamhouse.ui.desk import Desk
from streamhouse.ui.problem_data import new_problem
from streamhouse.ui.query_process import Asker

STATIC = Path(__file__).parent / "static"
router = APIRouter()
_static = StaticFiles(directory=STATIC)

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


def create_app(
    desk: Callable[[], Desk],
    guard: Callable[..., Any],
    *,
    where: Literal["alone", "airflow"],
    engine: Callable[[], Command | None],
) -> FastAPI:
    """The app.

    Args:
        desk: Gives the project; asked at every request, so that a project that is broken at start can be mended.
        guard: A FastAPI dependency that gives the `Person`, or refuses the request. It stands before every route.
        where: Which shell is around the page.
        engine: Gives the command that answers queries; asked at every request. None: there is no engine.
    """
    app = FastAPI(
        title="Streamhouse",
        openapi_url=None,  # and no pages that show it
        dependencies=[Depends(admission(guard))],
        responses={"default": {"model": Problem}},
    )
    app.state.parts = PageParts(desk, engine, where)
    problems.install(app)
    app.add_middleware(_Headers)
    pages = (flow_routes, change_routes, query_routes, proposal_routes, replay_routes)
    for part in (router, *(page.router for page in pages)):
        app.include_router(part)
    return app


@router.get("/")
def index() -> FileResponse:
    """The page itself."""
    return FileResponse(STATIC / "index.html", headers={"Cache-Control": "no-cache"})


@router.get("/static/{path:path}")
async def file(path: str, request: Request) -> Response:
    """What the page is made of."""
    found = await _static.get_response(path, request.scope)
    found.headers["Cache-Control"] = "no-cache"  # each file has an ETag: a look costs no bytes
    return found


@router.get("/api/project")
def project(at: At, person: Someone, command: Engine, parts: Parts) -> About:
    """The project, and what who asks may do with it."""
    asker, taken = Asker(at.project.root, command), noted_shortcuts(at.project.state_dir)
    return About(
        name=at.project.root.name,
        root=str(at.project.root),
        version=_version(),
        where=parts.where,
        person=person.name,
        may_decide=person.may_decide,
        may_query=person.may_query and not asker.note,
        may_ask=person.may_ask,
        engine_note=asker.note,
        query_note=asker.note or ("" if person.may_query else f"{person.name} may not query tables here"),
        broken=tuple(problem_data.trouble(error) for error in at.registry.errors),
        not_looked_at={tier.value: why for tier, why in at.losses().unseen.items()},
        shortcuts=ShortcutsAnswer(**asdict(taken)) if taken is not None else None,
    )


def _version() -> str:
    try:
        return version("streamhouse")
    except PackageNotFoundError:  # run from its sources
        return ""


class _Headers:
    """Says to browsers what the page may do: nothing but itself. Refuses addresses that no file can have."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
            await send(message)

        if scope["type"] != "http":
            await self.app(scope, receive, send)
        elif "\0" in unquote(f"{scope['path']}?{scope['query_string'].decode('latin-1')}"):
            detail = ProblemDetail(code="http", message="an address with a NUL names nothing")
            await problems.response(new_problem(HTTPStatus.BAD_REQUEST, [detail]))(scope, receive, sent)
        else:
            await self.app(scope, receive, sent)
