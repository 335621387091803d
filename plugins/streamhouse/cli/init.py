"""`streamhouse init`: a small project that works, of one of several kinds."""

import shutil
from collections.abc import Iterator
from importlib.resources import as_file, files
from pathlib import Path
from typing import NamedTuple

import click

from streamhouse.cli.app import App, shared_options
from streamhouse.errors import FolderNotEmptyError
from streamhouse.install.disk import writing_to

_RENAMED = {"gitignore": ".gitignore"}  # under its own name git would obey it here
_MAY_EXIST = {".git"}


class Template(NamedTuple):
    """A kind of project that `init` writes.

    Attributes:
        about: What it shows.
        flow: The name of its flow; empty: it has none.
        table: A table of that flow to look at.
    """

    about: str
    flow: str = ""
    table: str = ""


TEMPLATES = {
    "orders": Template("CSV files of order lines become revenue by product", "orders", "dws.revenue_by_product"),
    "cdc": Template("change events of two database tables, joined and summed", "customers", "dws.orders_by_city"),
    "iot": Template("readings of sensors in spans of ten minutes, with alerts", "readings", "ads.alerts"),
    "attribution": Template("purchases by first campaign", "attribution", "dws.revenue_by_campaign"),
    "empty": Template("folders and settings, no flow"),
}
"""Name → kind; the first is the default."""
_EPILOG = """\b
Example:
  streamhouse init shop && cd shop
  streamhouse run orders --once
  streamhouse init sensors --template iot

\b
Templates:
""" + "".join(f"  {name:<12} {template.about}\n" for name, template in TEMPLATES.items())


@click.command(
    short_help="Make a small working project.",
    epilog=_EPILOG,
)
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--template",
    type=click.Choice(list(TEMPLATES)),
    default="orders",
    show_default=True,
    help="Which kind of project; see below.",
)
@shared_options
@click.pass_obj
def init(app: App, folder: Path, template: str) -> None:
    """Make a small working project in DIR: actions, one flow and files to read.

    DIR is made when it is missing; one that holds files is refused.
    """
    written = write_project(folder, template)
    if app.as_json:
        app.output.document({"project": folder.resolve(), "files": written})
        return
    for path in written:
        app.output.line(f"  {folder / path}")
    app.output.line(f"made a project in {folder}; next:")
    app.output.line(f"  cd {folder}")
    chosen = TEMPLATES[template]
    if chosen.flow:
        app.output.line(f"  streamhouse run {chosen.flow} --once")
        app.output.line(f"  streamhouse query 'SELECT * FROM {chosen.table}'")
    else:
        app.output.line("  streamhouse action add --help")


def write_project(folder: Path, template: str = "orders") -> list[str]:
    """Write the files of a new project into `folder`; return their paths in it, in order.

    Args:
        folder: Made when it is missing.
        template: One of `TEMPLATES`.

    Raises:
        FolderNotEmptyError: it holds something already; nothing was written.
        EnvironmentProblem: it cannot be made.
    """
    from streamhouse.project.schemas import write_schemas

    with writing_to(folder):
        if folder.is_dir() and (present := sorted({path.name for path in folder.iterdir()} - _MAY_EXIST)):
            shown = ", ".join(present[:3]) + (", …" if len(present) > 3 else "")
            raise FolderNotEmptyError(f"{folder} is not empty: it holds {shown}", hint="name a new folder")
        with as_file(files("streamhouse.cli") / "templates") as templates:
            written = [path for part in ("common", template) for path in _copy(templates / part, folder)]
        return [*sorted(written), *write_schemas(folder)]


def _copy(template: Path, folder: Path) -> Iterator[str]:
    for source in sorted(path for path in template.rglob("*") if path.is_file()):
        path = source.relative_to(template)
        target = folder / path.with_name(_RENAMED.get(path.name, path.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        yield target.relative_to(folder).as_posix()
