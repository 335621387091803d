"""`streamhouse services`: the embedded Fluss of a project."""

from typing import TYPE_CHECKING, Any

import click

from streamhouse.cli.app import App, shared_options
from streamhouse.cli.lazy import LazyGroup

if TYPE_CHECKING:
    from streamhouse.services.services import Services, ServicesStatus

NOT_RUNNING = 4


@click.group(cls=LazyGroup, short_help="Start and stop the embedded services.")
@shared_options
def services() -> None:
    """Start, stop and look at the embedded services (Fluss, which holds the hot tables).

    Other commands start them when a hot table needs them, and stop them again: flows with warm and cold tables
    alone never do. Started here, they stay up and the next runs begin sooner.
    """


@services.command(
    epilog="""\b
Example:
  streamhouse services up
  streamhouse services up --port 9123 --json | jq -r .fluss
"""
)
@click.option("--port", type=click.IntRange(1, 65535), help="Where clients reach Fluss. [default: any free port]")
@shared_options
@click.pass_obj
def up(app: App, port: int | None) -> None:
    """Start the services that do not run, and wait until they take requests."""
    if _is_external(app):
        return
    from streamhouse.cli.stages import StageView

    with StageView() as view:
        endpoints = _services(app, port).up(view.show)
    if app.as_json:
        app.output.document({"fluss": endpoints.fluss})
    else:
        app.output.line(f"Fluss answers at {endpoints.fluss}", style="green")


@services.command(
    epilog="""\b
Example:
  streamhouse services down
"""
)
@shared_options
@click.pass_obj
def down(app: App) -> None:
    """Stop the services in order; tables and rows stay for the next start."""
    if _is_external(app):
        return
    from streamhouse.cli.stages import StageView

    with StageView() as view:
        stopped = _services(app).down(view.show)
    if app.as_json:
        app.output.document({"stopped": stopped})
    else:
        app.output.line("stopped" if stopped else "nothing was running")


@services.command(
    epilog="""\b
Example:
  streamhouse services status || streamhouse services up
"""
)
@shared_options
@click.pass_context
def status(context: click.Context) -> None:
    """Show which services run, where, and where their logs are.

    Exits with 0 when they can be used and with 4 when not.
    """
    app: App = context.obj
    if _is_external(app):
        return
    services = _services(app)
    found = services.status()
    orphans = [process.pid for process in services.orphans()]
    if app.as_json:
        app.output.document({**_document(found), "orphans": orphans})
    elif found.services:
        rows = [(s.name, "running" if s.alive else "ended", str(s.pid), str(s.port), s.log) for s in found.services]
        app.output.table(("service", "state", "pid", "port", "log"), rows)
    elif not orphans:
        app.output.line("not running (start them with: streamhouse services up)")
    if orphans and not app.as_json:
        pids = ", ".join(map(str, orphans))
        app.output.line(f"orphans of a process that was killed: {pids} (end them with: streamhouse services down)")
    if found.endpoints is None:
        context.exit(NOT_RUNNING)


def _services(app: App, port: int | None = None) -> "Services":
    from streamhouse.services.services import Services

    return Services(app.project.root, port=port, ivy_settings=app.project.settings.ivy_settings)


def _is_external(app: App) -> bool:
    """Whether the project uses a Fluss that others run; then says so."""
    fluss = app.project.settings.fluss
    if fluss is None:
        return False
    if app.as_json:
        app.output.document({"fluss": fluss, "external": True})
    else:
        app.output.line(f"this project uses the Fluss at {fluss} (streamhouse.yaml); there is nothing to start here")
    return True


def _document(found: "ServicesStatus") -> dict[str, Any]:
    return {
        "fluss": found.endpoints.fluss if found.endpoints else None,
        "services": [
            {"name": s.name, "alive": s.alive, "pid": s.pid, "port": s.port, "log": s.log} for s in found.services
        ],
    }
