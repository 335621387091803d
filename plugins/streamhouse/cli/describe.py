"""`streamhouse describe`: what nobody wrote of tables yet, as an edit to review."""

from functools import partial
from typing import TYPE_CHECKING

import click

from streamhouse.cli.app import App, shared_options

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from streamhouse.planner.described_files import Edited


@click.command(
    short_help="Propose what tables and columns mean.",
    epilog="""\b
Examples:
  streamhouse describe
  streamhouse describe dwd.orders --values
  streamhouse describe --write && git diff
""",
)
@click.argument("tables", nargs=-1, metavar="[TABLE]...")
@click.option(
    "--values",
    is_flag=True,
    help="Read files and replays, and propose the values of columns that have few, "
    "of tables with 'ai: {rows: allowed}'.",
)
@click.option("--write", is_flag=True, help="Edit the files; comments and layout stay.")
@shared_options
@click.pass_obj
def describe(app: App, tables: tuple[str, ...], values: bool, write: bool) -> None:
    """Propose missing descriptions, units, synonyms, references, measures and dimensions of TABLEs, or of all.

    They follow from names, types and keys; no model is asked, and nothing leaves this machine. Shows a diff to review;
    files change only with --write. No plan follows from what is added.
    """
    from streamhouse.errors import DefinitionErrors
    from streamhouse.planner.build_catalog import build_catalog
    from streamhouse.planner.describe import keeps_values_back
    from streamhouse.planner.described_files import described_files
    from streamhouse.project.cache.known_values import known_values
    from streamhouse.project.check import check_project

    checked = check_project(app.project, processes=app.processes)
    if checked.errors or checked.meaning:
        raise DefinitionErrors((*checked.errors, *checked.meaning))
    say = partial(click.echo, err=True)
    known = known_values(app.project, checked.plans, say) if values else None
    catalog = build_catalog(app.registry, checked.plans, known)
    _check_tables(tables, catalog.tables)
    edited = described_files(catalog, app.registry, tables, values=values)
    kept_back = [name for name in tables or catalog.tables if values and keeps_values_back(catalog.tables[name])]
    if kept_back:
        say(f"values of {', '.join(kept_back)} are not proposed: only tables with 'ai: {{rows: allowed}}' let them out")
    if write:
        for one in edited:
            (app.project.root / one.name).write_text(one.after, encoding="utf-8", newline="\n")
    _show(app, edited, write=write)


def _check_tables(tables: tuple[str, ...], known: "Collection[str]") -> None:
    from streamhouse.errors import UnknownTableError, did_you_mean

    for table in tables:
        if table not in known:
            hint = did_you_mean(table, known, f"tables: {', '.join(known)}")
            raise UnknownTableError(f"unknown table '{table}'", hint=hint)


def _show(app: App, edited: "Sequence[Edited]", *, write: bool) -> None:
    if app.as_json:
        files = [{"file": one.name, "tables": one.tables, "diff": one.diff} for one in edited]
        app.output.document({"written": write, "files": files})
        return
    for one in edited:
        app.output.line(one.diff.rstrip("\n"))
    if not edited:
        app.output.line("nothing is missing that names, types and keys show")
    elif write:
        app.output.line(f"{len(edited)} files edited")
    else:
        app.output.line("to edit the files: streamhouse describe --write")
