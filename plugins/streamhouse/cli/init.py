"""`streamhouse init`: a small project that works."""

import shutil
from importlib.resources import as_file, files
from pathlib import Path

import click

from streamhouse.cli.app import App, shared_options
from streamhouse.errors import FolderNotEmptyError
from streamhouse.install.disk import writing_to

_RENAMED = {"gitignore": ".gitignore"}  # under its own name git would obey it here
_MAY_EXIST = {".git"}


@click.command(
    short_help="Make a small working project.",
    epilog="""\b
Example:
  streamhouse init shop && cd shop
  streamhouse run orders --once
""",
)
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
@shared_options
@click.pass_obj
def init(app: App, folder: Path) -> None:
    """Make a small working project in DIR: three actions, one flow and a CSV file to read.

    DIR is made when it is missing; one that holds files is refused.
    """
    written = write_project(folder)
    if app.as_json:
        app.output.document({"project": folder.resolve(), "files": written})
        return
    for path in written:
        app.output.line(f"  {folder / path}")
    app.output.line(f"made a project in {folder}; next:")
    app.output.line(f"  cd {folder}")
    app.output.line("  streamhouse run orders --once")
    app.output.line("  streamhouse query 'SELECT * FROM dws.revenue_by_product'")


def write_project(folder: Path) -> list[str]:
    """Write the files of a new project into `folder`; return their paths in it, in order.

    Raises:
        FolderNotEmptyError: it holds something already; nothing was written.
        EnvironmentProblem: it cannot be made.
    """
    with writing_to(folder):
        if folder.is_dir() and (present := sorted({path.name for path in folder.iterdir()} - _MAY_EXIST)):
            shown = ", ".join(present[:3]) + (", …" if len(present) > 3 else "")
            raise FolderNotEmptyError(f"{folder} is not empty: it holds {shown}", hint="name a new folder")
        with as_file(files("streamhouse.cli") / "templates" / "shop") as template:
            sources = sorted(path for path in template.rglob("*") if path.is_file())
            written = []
            for source in sources:
                path = source.relative_to(template)
                target = folder / path.with_name(_RENAMED.get(path.name, path.name))
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)
                written.append(target.relative_to(folder).as_posix())
        return written
