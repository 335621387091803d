"""The page as a FastAPI app: JSON under `api/`, files under `static/`, all behind one guard."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import Depends, FastAPI, HTTPException, Query, Request, Response
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from streamhouse.errors import StreamhouseError
from streamhouse.runtime.command import Command
from streamhouse.ui import actions, changes, flows, graph, problems, tables
from streamhouse.ui.answers import (
    About,
    ActionPage,
    ActionSummary,
    ApprovalAnswer,
    ChangeAnswer,
    DecisionRequest,
    EventAnswer,
    FlowPage,
    FlowSummary,
    Found,
    Graph,
    LineagePage,
    PlanPage,
    Problem,
    QuarantineAnswer,
    QueryAnswer,
    QueryRequest,
    TablePage,
)
from streamhouse.ui.asking import Asker
from streamhouse.ui.bodies import read_body
from streamhouse.ui.desk import Desk

STATIC = Path(__file__).parent / "static"
OURS = "x-streamhouse"
"""Header that our own page sends with whatever changes something: another site's page cannot."""

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


@dataclass(frozen=True)
class Person:
    """Who asks, and what that person may do besides looking."""

    name: str
    may_decide: bool
    may_query: bool


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
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        dependencies=[Depends(guard)],
        responses={"default": {"model": Problem}},
    )
    problems.install(app)
    app.add_middleware(_Headers)
    Someone = Annotated[Person, Depends(guard)]  # noqa: N806  a type
    At = Annotated[Desk, Depends(desk)]  # noqa: N806  a type
    Engine = Annotated[Command | None, Depends(engine)]  # noqa: N806  a type
    static = StaticFiles(directory=STATIC)

    def deciding(person: Someone) -> Person:
        if not person.may_decide:
            raise HTTPException(403, f"{person.name} may look at flows here, and not decide about them")
        return person

    def querying(person: Someone) -> Person:
        if not person.may_query:
            raise HTTPException(403, f"{person.name} may look at flows here, and not query their tables")
        return person

    # FastAPI reads the body of a request before it asks who sends it; these read it afterwards.
    async def decision(request: Request, _: Annotated[Person, Depends(deciding)]) -> DecisionRequest:
        return await read_body(request, DecisionRequest)

    async def question(request: Request, _: Annotated[Person, Depends(querying)]) -> QueryRequest:
        return await read_body(request, QueryRequest)

    Decision = Annotated[DecisionRequest, Depends(decision)]  # noqa: N806  a type
    Question = Annotated[QueryRequest, Depends(question)]  # noqa: N806  a type

    @app.get("/")
    def index() -> FileResponse:
        return FileResponse(STATIC / "index.html", headers={"Cache-Control": "no-cache"})

    @app.get("/static/{path:path}")
    async def file(path: str, request: Request) -> Response:
        found = await static.get_response(path, request.scope)
        found.headers["Cache-Control"] = "no-cache"  # each file has an ETag: a look costs no bytes
        return found

    @app.get("/api/project")
    def project(at: At, person: Someone, command: Engine) -> About:
        asker = Asker(at.project.root, command)
        return About(
            name=at.project.root.name,
            root=str(at.project.root),
            version=_version(),
            where=where,
            person=person.name,
            may_decide=person.may_decide,
            may_query=person.may_query and not asker.note,
            query_note=asker.note or ("" if person.may_query else f"{person.name} may not query tables here"),
            broken=tuple(problems.trouble(error) for error in at.registry.errors),
        )

    @app.get("/api/flows")
    def every_flow(at: At) -> list[FlowSummary]:
        return flows.summaries(at)

    @app.get("/api/flows/{name}")
    def one_flow(name: str, at: At) -> FlowPage:
        return flows.page(at, name)

    @app.get("/api/flows/{name}/graph")
    def flow_graph(name: str, at: At) -> Graph:
        return _graph(at, name)

    @app.get("/api/tables/{name}")
    def table(name: str, at: At, flow: str | None = None) -> TablePage:
        return tables.page(at, name, flow)

    @app.get("/api/lineage/{name}")
    def lineage(name: str, at: At) -> LineagePage:
        return tables.lineage(at, name)

    @app.get("/api/plan")
    def plan(at: At) -> PlanPage:
        return changes.plan(at)

    @app.get("/api/approvals")
    def approvals(at: At) -> list[ApprovalAnswer]:
        return changes.approvals(at)

    @app.post("/api/approvals/{name}/{answer}", dependencies=[Depends(_from_our_page)])
    def decide(
        name: str,
        answer: Literal["approve", "refuse"],
        body: Decision,
        at: At,
        person: Annotated[Person, Depends(deciding)],
    ) -> ApprovalAnswer:
        return changes.decide(at, name, grant=answer == "approve", by=person.name, reason=body.reason)

    @app.get("/api/changes")
    def journal(at: At, limit: Annotated[int, Query(ge=1, le=200)] = 30) -> list[ChangeAnswer]:
        return changes.journal(at, limit)

    @app.post("/api/changes/{change}/{answer}", dependencies=[Depends(_from_our_page), Depends(deciding)])
    def go_on(change: int, answer: Literal["swap", "withdraw"], body: Decision, at: At) -> ChangeAnswer:
        del body  # the journal keeps no reason; asked for so that only JSON is taken
        return changes.go_on(at, change, serve=answer == "swap")

    @app.get("/api/events")
    def events(at: At, limit: Annotated[int, Query(ge=1, le=500)] = 100) -> list[EventAnswer]:
        return changes.upstream(at, limit)

    @app.get("/api/actions")
    def every_action(at: At, q: str = "") -> list[ActionSummary]:
        return actions.summaries(at, q)

    @app.get("/api/actions/{name}")
    def action(name: str, at: At) -> ActionPage:
        return actions.page(at, name)

    @app.get("/api/quarantine")
    def quarantine(at: At) -> list[QuarantineAnswer]:
        return tables.quarantines(at)

    @app.get("/api/search")
    def search(at: At, q: str = "", limit: Annotated[int, Query(ge=1, le=100)] = 12) -> list[Found]:
        return actions.find(at, q, limit)

    askers: dict[Path, Asker] = {}

    @app.post("/api/query", dependencies=[Depends(_from_our_page), Depends(querying)])
    async def query(body: Question, at: At, command: Engine, request: Request) -> QueryAnswer:
        asker = askers.setdefault(at.project.root, Asker(at.project.root, command))
        asker.engine = command
        return await asker.ask(body.sql, body.limit, request.is_disconnected)

    return app


def _graph(desk: Desk, name: str) -> Graph:
    revision, plan = flows.known(desk, name)
    state = desk.state
    rows = state.rows_written() if state is not None else {}
    try:
        outcomes = next((graph.outcomes_of(one) for one in desk.compared(name)), {})
    except StreamhouseError:
        outcomes = {}  # files that are wrong change nothing yet; the page tells of them elsewhere
    standing = state.upstream.standing(name) if state is not None else frozenset()
    return graph.graph(
        plan, revision, rows, flows.rates_now(desk, name), outcomes, standing, flows.troubles_of(desk, name)
    )


def _from_our_page(request: Request) -> None:
    """Refuse what a page of another site may have sent: it can neither set our header nor this content type."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    site = request.headers.get("sec-fetch-site", "same-origin")
    if request.headers.get(OURS) != "1" or kind != "application/json" or site not in {"same-origin", "none"}:
        raise HTTPException(403, "this request does not come from the page of Streamhouse")


def _version() -> str:
    try:
        return version("streamhouse")
    except PackageNotFoundError:  # run from its sources
        return ""


class _Headers:
    """Tells browsers what the page may do: nothing but itself."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
            await send(message)

        await self.app(scope, receive, sent if scope["type"] == "http" else send)
