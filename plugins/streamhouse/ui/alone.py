"""The page alone: on this machine's loopback, for the user who started it and nobody else."""

import contextlib
import secrets
from collections.abc import Callable
from http import HTTPStatus
from urllib.parse import parse_qs

from fastapi import HTTPException, Request
from starlette.datastructures import MutableHeaders
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from streamhouse.errors import StreamhouseError
from streamhouse.project.project import Project
from streamhouse.services.ports import LOOPBACK, bound
from streamhouse.ui import flows, problem_data, problems
from streamhouse.ui.answers import ProblemDetail
from streamhouse.ui.app import create_app
from streamhouse.ui.desk import Desk
from streamhouse.ui.person import Person
from streamhouse.ui.query_process import engine_command
from streamhouse.ui.web_server import TellingServer, server_config

_NO_TOKEN = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Streamhouse</title>
<h1>This page needs its token</h1><p>Open the address that <code>streamhouse ui</code> printed: it ends in
<code>?token=…</code> and is good until that command ends.</p></html>"""

_GRACE_S = 2
_MISSING = "the token of this start is missing; see: streamhouse ui"


class Gate:
    """Lets in who has the token of this start, from the address or from the cookie that it became.

    Other people of the machine know neither; a page of another site cannot make the browser send the cookie
    (SameSite) nor, by a name of its own for our address, be taken for us (Host).
    """

    def __init__(self, port: int, name: str, token: str | None = None) -> None:
        self.token = token or secrets.token_urlsafe(24)
        self._cookie = f"streamhouse-{port}"  # cookies do not tell ports apart
        self._hosts = {f"{LOOPBACK}:{port}", f"localhost:{port}"}
        self._person = Person(name, may_decide=True, may_query=True)

    async def person(self, request: Request) -> Person:
        """Who asks; the guard of every route.

        Raises:
            HTTPException: 401: the request has no token of this page.
        """
        if not self._has_token(request):
            raise HTTPException(HTTPStatus.UNAUTHORIZED, _MISSING)
        return self._person

    def around(self, app: ASGIApp) -> ASGIApp:
        """The app behind the check of its address, and the token becoming a cookie."""

        async def gated(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":
                await app(scope, receive, send)
                return
            token = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
            if (refusal := self._refusal(scope, token)) is not None:
                await refusal(scope, receive, send)
                return
            await app(scope, receive, self._giving_cookie(send) if self._is_ours(token) else send)

        return gated

    def _refusal(self, scope: Scope, token: str) -> Response | None:
        """The answer to a request that is not let in, before anything of its body is read; None: it is."""
        named = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        if len(named) != 1 or named[0] not in self._hosts:
            return PlainTextResponse("unknown host", HTTPStatus.MISDIRECTED_REQUEST)
        if scope["path"] == "/" and not token and f"{self._cookie}=" not in _cookies(scope):
            return HTMLResponse(_NO_TOKEN, HTTPStatus.UNAUTHORIZED)
        if not self._has_token(Request(scope)):
            problem = problem_data.new_problem(HTTPStatus.UNAUTHORIZED, [ProblemDetail(code="http", message=_MISSING)])
            return problems.response(problem)
        return None

    def _giving_cookie(self, send: Send) -> Send:
        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).append(
                    "Set-Cookie", f"{self._cookie}={self.token}; Path=/; HttpOnly; SameSite=Strict"
                )
            await send(message)

        return sent

    def _has_token(self, request: Request) -> bool:
        bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
        tokens = (request.cookies.get(self._cookie, ""), request.query_params.get("token", ""), bearer)
        return any(self._is_ours(one) for one in tokens)

    def _is_ours(self, token: str) -> bool:
        return secrets.compare_digest(token.encode(), self.token.encode())


def serve(project: Project, person: str, port: int | None, ready: Callable[[str], None]) -> None:
    """Serve the page until the process gets a signal to stop.

    Args:
        project: To show.
        person: Who decides, for the record.
        port: On loopback; None: any that is free.
        ready: Is called with the address, token included, when it can be opened.

    Raises:
        PortTakenError: something else listens there.
        KeyboardInterrupt: Ctrl-C, or SIGTERM; what was served is closed.
    """
    with bound(port) as listening:
        number = listening.getsockname()[1]
        gate = Gate(number, person)
        desk = Desk(project)
        app = create_app(lambda: desk, gate.person, where="alone", engine=engine_command)
        config = server_config(gate.around(app), _GRACE_S, "off")
        try:
            _warm(desk)
            TellingServer(config, lambda: ready(f"http://{LOOPBACK}:{number}/?token={gate.token}")).run(
                sockets=[listening]
            )
        finally:
            desk.close()


def _warm(desk: Desk) -> None:
    """Load what the first look needs, modules and plans, so that it finds them."""
    with contextlib.suppress(StreamhouseError):  # the page shows the error
        flows.summaries(desk)
        desk.shown()


def _cookies(scope: Scope) -> str:
    return "; ".join(value.decode("latin-1") for name, value in scope["headers"] if name == b"cookie")
