"""`streamhouse mcp`: the project as tools of a language model's client."""

import os
from typing import TYPE_CHECKING, Any

import click

from streamhouse.cli.app import App, shared_options
from streamhouse.cli.intervals import SECONDS

if TYPE_CHECKING:
    from types import ModuleType

SECONDS_OF_A_CALL = 60.0
_PACKAGES = frozenset({"mcp", "mcp_types", "uvicorn", "starlette", "anyio"})


@click.group(
    invoke_without_command=True,
    short_help="Serve the project's tools to an AI client (MCP).",
    epilog="""\b
A client that starts the server itself (stdio) is configured like this:
  {"mcpServers": {"streamhouse": {
      "command": "streamhouse", "args": ["mcp", "--project", "/path/of/project"]}}}
\b
Over HTTP: make a token, start the server, and give the client address and token:
  streamhouse mcp token
  streamhouse mcp --http --port 8765
  {"mcpServers": {"streamhouse": {"url": "http://127.0.0.1:8765/mcp",
      "headers": {"Authorization": "Bearer THE_TOKEN"}}}}
\b
Tools: search, describe, validate, plan, ask, revise, query, diagnose (docs/mcp.md).
""",
)
@click.option("--http", is_flag=True, help="Serve over HTTP, for who has the token. [default: stdio]")
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Where to listen, with --http.")
@click.option("--port", type=click.IntRange(1, 65535), help="With --http. [default: any free port]")
@click.option(
    "--allow-host", "hosts", multiple=True, metavar="NAME[:PORT]", help="Another name that clients call this server by."
)
@click.option("--allow-origin", "origins", multiple=True, metavar="URL", help="Origin of pages that may ask.")
@click.option(
    "--timeout", "seconds", type=SECONDS, default=SECONDS_OF_A_CALL, show_default=True, help="The most for one call."
)
@shared_options
@click.pass_context
def mcp(
    context: click.Context,
    http: bool,
    host: str,
    port: int | None,
    hosts: tuple[str, ...],
    origins: tuple[str, ...],
    seconds: float,
) -> None:
    """Serve this project to a client of the Model Context Protocol, until it closes the connection or Ctrl-C.

    No tool changes what serves. A wish becomes a proposal in the state store, which a person takes on
    here: streamhouse ask/proposals, then plan and apply. Rows leave only for tables that say `ai: {rows: allowed}`,
    and no schema of a table that says `ai: {schema: denied}`.
    """
    if context.invoked_subcommand is not None:
        return
    app: App = context.obj
    http_options = {"--host": host != "127.0.0.1", "--port": port, "--allow-host": hosts, "--allow-origin": origins}
    if not http and (stray := [name for name, value in http_options.items() if value]):
        raise click.UsageError(f"{stray[0]} is for a server over HTTP; add --http")
    try:
        if not http:
            _imported("stdio").serve(app.project, seconds)
            return
        from streamhouse.mcp_server.access import known_hash

        known = known_hash(app.project)
        _imported("web").serve(
            app.project, seconds, known, host=host, port=port, hosts=hosts, origins=origins, ready=app.tell_address
        )
    except KeyboardInterrupt:
        click.echo("stopped", err=True)
        if not http:
            os._exit(0)  # a thread waits for standard input, which only the client can end


@mcp.command(
    short_help="Make the token that clients need over HTTP.",
    epilog="""\b
Example:
  streamhouse mcp token
""",
)
@shared_options
@click.pass_obj
def token(app: App) -> None:
    """Make a new token for clients over HTTP and show it, this once: only its hash is kept.

    The token before is good for nothing once the server starts again. The environment variable STREAMHOUSE_MCP_TOKEN
    can name one in its place.
    """
    from streamhouse.mcp_server.access import file_of, new_token

    fresh_token = new_token(app.project)
    if app.as_json:
        app.output.document({"token": fresh_token, "file": file_of(app.project)})
        return
    app.output.line(fresh_token)
    click.echo(f"its hash is in {file_of(app.project)}; the token is not shown again", err=True)


def _imported(module: str) -> "ModuleType | Any":
    """A module of the server, whose packages are an extra.

    Raises:
        MissingPackageError: they are not installed.
    """
    from importlib import import_module

    from streamhouse.errors import MissingPackageError

    try:
        return import_module(f"streamhouse.mcp_server.{module}")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _PACKAGES:
            raise
        raise MissingPackageError(
            f"the Python package '{error.name}' is not installed", hint="pip install 'streamhouse[mcp]'"
        ) from error
