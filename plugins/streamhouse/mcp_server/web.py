"""The server over HTTP: for who has the token, by default on this machine alone."""

from collections.abc import Callable, Collection
from contextlib import suppress
from http import HTTPStatus

from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from streamhouse.mcp_server.access import is_token
from streamhouse.mcp_server.limits import ARGUMENT_BYTES
from streamhouse.mcp_server.server import create_server
from streamhouse.mcp_server.tool_context import Serving
from streamhouse.project.project import Project
from streamhouse.services.ports import LOOPBACK, bound
from streamhouse.ui.web_server import TellingServer, server_config

PATH = "/mcp"
_GRACE_S = 2


def guarded(app: ASGIApp, known: str) -> ASGIApp:
    """The app for who has the token alone; asked before anything of a body is read.

    Args:
        app: To be reached.
        known: Hash of the token.
    """

    async def check_token(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            given = Headers(scope=scope).getlist("authorization")
            scheme, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
            if scheme.lower() != "bearer" or not is_token(token.strip(), known):
                refused = PlainTextResponse(
                    "this server needs its token: Authorization: Bearer …; see: streamhouse mcp --help",
                    HTTPStatus.UNAUTHORIZED,
                    {"WWW-Authenticate": 'Bearer realm="streamhouse"'},
                )
                await refused(scope, receive, send)
                return
            origins = Headers(scope=scope).getlist("origin")
            if len(origins) > 1 or "" in origins:  # of several the check behind would see one, of an empty one none
                await PlainTextResponse("Invalid Origin header", HTTPStatus.FORBIDDEN)(scope, receive, send)
                return
        with suppress(ClientDisconnect):  # it left within its request: there is no one to answer
            await app(scope, receive, send)

    return check_token


def create_app(serving: Serving, known: str, hosts: Collection[str], origins: Collection[str]) -> ASGIApp:
    """The server as an app.

    Args:
        serving: The project.
        known: Hash of the token.
        hosts: Values of `Host` that are let in: a page of another site cannot reach us by a name of its own.
        origins: Values of `Origin` that are let in; a request without one, of no browser, is.
    """
    security = TransportSecuritySettings(allowed_hosts=sorted(hosts), allowed_origins=sorted(origins))
    app = create_server(serving).streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,
        max_request_body_size=2 * ARGUMENT_BYTES,
        transport_security=security,
    )
    return guarded(app, known)


def serve(
    project: Project,
    seconds: float,
    known: str,
    *,
    host: str = LOOPBACK,
    port: int | None = None,
    hosts: Collection[str] = (),
    origins: Collection[str] = (),
    ready: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve until the process gets a signal to stop.

    Args:
        project: To tell of.
        seconds: A call that takes longer is given up.
        known: Hash of the token that clients need.
        host: Address of this machine to listen on.
        port: None: any that is free.
        hosts: Other names that clients call this machine by, with the port where it is not the usual one.
        origins: Of pages of browsers that may ask.
        ready: Is called with the address when requests are taken.

    Raises:
        PortTakenError: something else listens there.
        KeyboardInterrupt: Ctrl-C, or SIGTERM.
    """
    with bound(port, host) as listening:
        number = listening.getsockname()[1]
        names = {f"{name}:{number}" for name in (host, LOOPBACK, "localhost")} | set(hosts)
        own = {f"http://{name}:{number}" for name in (LOOPBACK, "localhost")} | set(origins)
        serving = Serving.of(project, seconds)
        config = server_config(create_app(serving, known, names, own), _GRACE_S, "on")
        try:
            TellingServer(config, lambda: ready(f"http://{host}:{number}{PATH}")).run(sockets=[listening])
        finally:
            serving.close()
