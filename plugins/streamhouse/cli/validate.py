"""`streamhouse validate`: every error of every file."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from streamhouse.cli.app import App, shared_options

if TYPE_CHECKING:
    from streamhouse.errors import Location
    from streamhouse.model.notice import Notice
    from streamhouse.project.check import Checked

FAILED = 3


@click.command(
    short_help="Check every action and flow.",
    epilog="""\b
Examples:
  streamhouse validate
  streamhouse validate flows/orders.yaml
  streamhouse validate --json | jq -r '.errors[].message'
""",
)
@click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path))
@shared_options
@click.pass_context
def validate(context: click.Context, paths: tuple[Path, ...]) -> None:
    """Check actions and flows; show every error with its place, cause and remedy.

    With PATHS (files or folders) the whole project is checked, but only errors in these are shown.
    Needs neither Java nor running services. Declared columns of topics are compared with their schemas if the
    schema registry answers. Exits with 3 when there are errors.
    """
    from streamhouse.errors import Location
    from streamhouse.project.autopilot_flows import unknown_flows
    from streamhouse.project.check import check_project
    from streamhouse.project.contracts import check_contracts

    app: App = context.obj
    began = time.monotonic()
    checked = check_project(app.project, processes=app.processes)
    contracts = check_contracts(app.project, checked.plans)
    seconds = time.monotonic() - began
    wanted = [path.resolve() for path in paths]
    limits = unknown_flows(app.project, app.flow_names(None)).values() if app.project.settings.autopilot.flows else ()
    every = sorted(
        (*checked.errors, *checked.meaning, *contracts.errors, *limits), key=lambda error: error.at or Location("")
    )
    errors = [error for error in every if _is_in(error.at, wanted, app.project.root)]
    notices = [
        notice for notice in (*checked.notices, *contracts.notices) if _is_in(notice.at, wanted, app.project.root)
    ]
    if app.as_json:
        app.output.document(_document(checked, errors, notices, seconds))
    else:
        for one in (*errors, *notices):
            click.echo(str(one), err=True)
        _summarise(app, checked, errors, wanted, seconds)
    if errors:
        context.exit(FAILED)


def _is_in(at: "Location | None", wanted: list[Path], root: Path) -> bool:
    if not wanted or at is None:
        return True
    file = (root / at.file).resolve()
    return any(path == file or path in file.parents for path in wanted)


def _summarise(app: App, checked: "Checked", errors: list[Any], wanted: list[Path], seconds: float) -> None:
    what = f"{_count(checked.actions, 'action')} and {_count(checked.flows, 'flow')}"
    where = f" in {_count(len(wanted), 'path')}" if wanted else ""
    if errors:
        files = len({error.at.file for error in errors if error.at}) or 1
        app.output.line(f"{_count(len(errors), 'error')} in {_count(files, 'file')}", style="red")
    else:
        app.output.line(f"{what}: no errors{where} ({seconds:.2f} s)", style="green")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _document(checked: "Checked", errors: list[Any], notices: "list[Notice]", seconds: float) -> dict[str, Any]:
    from streamhouse.cli.failures import error_document

    return {
        "ok": not errors,
        "errors": [error_document(error) for error in errors],
        "notices": [notice.document() for notice in notices],
        "actions": checked.actions,
        "flows": checked.flows,
        "plans": {flow: plan.fingerprint for flow, plan in checked.plans.items()},
        "seconds": round(seconds, 3),
    }
