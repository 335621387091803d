"""`streamhouse ui`: the page of a project."""

from typing import TYPE_CHECKING

import click

from streamhouse.cli.app import App, shared_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from streamhouse.project.project import Project


@click.command(
    short_help="Open the page: flows, graph, changes, queries.",
    epilog="""\b
Examples:
  streamhouse ui
  streamhouse ui --port 8080 --no-open
""",
)
@click.option("--port", type=click.IntRange(1, 65535), help="Where on this machine. [default: any free port]")
@click.option("--open/--no-open", "opens", default=True, help="Open it in the browser. [default: where there is one]")
@shared_options
@click.pass_obj
def ui(app: App, port: int | None, opens: bool) -> None:
    """Serve the page of this project until Ctrl-C, to this machine alone.

    The address holds a token, new at each start: who has it may look, ask and decide as you. Flows run
    elsewhere (streamhouse run); the page shows how they are doing, and starts nothing but queries.
    """
    from streamhouse.cli.person import whoami

    serve = _server()

    def ready(address: str) -> None:
        app.tell_address(address)
        if opens:
            _open(address)

    try:
        serve(app.project, whoami(), port, ready)
    except KeyboardInterrupt:
        click.echo("stopped", err=True)


def _server() -> "Callable[[Project, str, int | None, Callable[[str], None]], None]":
    from streamhouse.errors import MissingPackageError

    try:
        from streamhouse.ui.alone import serve
    except ModuleNotFoundError as error:
        if error.name not in {"fastapi", "starlette", "uvicorn"}:
            raise
        raise MissingPackageError(
            f"the Python package '{error.name}' is not installed", hint="pip install 'streamhouse[ui]'"
        ) from error
    return serve


def _open(address: str) -> None:
    """Open a browser where a person sits in front of one; a browser for terminals would take ours away."""
    import os
    import sys
    import webbrowser

    graphical = sys.platform in {"darwin", "win32"} or "DISPLAY" in os.environ or "WAYLAND_DISPLAY" in os.environ
    if graphical and sys.stdout.isatty():
        webbrowser.open(address)
