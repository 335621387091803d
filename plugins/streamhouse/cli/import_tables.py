"""`streamhouse import`: a flow of the tables of a database or a lake, or of the topics of a schema registry."""

from typing import TYPE_CHECKING, Any

import click

from streamhouse.cli.app import App, shared_options

if TYPE_CHECKING:
    from streamhouse.jobs.import_tables import Import

CHANGES = 10
_SHOWN = 20


@click.command(
    "import",
    short_help="Make a flow of the tables of a database or a lake.",
    epilog="""\b
Examples:
  streamhouse import shop
  streamhouse import shop --tables 'public.*' --exclude '*_old' --join
  streamhouse import schemas --tables 'shop.*' --servers broker-1:9092 --flow topics
  streamhouse import shop --dry-run > flows/shop.yaml
""",
)
@click.argument("connection", metavar="CONNECTION")
@click.option(
    "--tables",
    multiple=True,
    metavar="PATTERN",
    help="Which tables: schema.table, database.table or topic, with * and ?. May be repeated. [default: all]",
)
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Tables that are left out. May be repeated.")
@click.option("--flow", metavar="NAME", help="Of the new flow. [default: CONNECTION]")
@click.option("--join", is_flag=True, help="Write actions that join tables by their foreign keys, and tables in dwd.")
@click.option("--servers", default="", metavar="HOST:PORT,...", help="Of Kafka, for a schema registry.")
@click.option("--dry-run", is_flag=True, help="Print the flow and write nothing; exits with 10.")
@shared_options
@click.pass_context
def import_tables(
    context: click.Context,
    connection: str,
    tables: tuple[str, ...],
    exclude: tuple[str, ...],
    flow: str | None,
    join: bool,
    servers: str,
    dry_run: bool,
) -> None:
    """Write a flow that reads tables of CONNECTION: types, primary keys, comments, references and event times.

    CONNECTION is a name under 'connections' in streamhouse.yaml: a database, a lake with Iceberg or Paimon tables, or a
    schema registry, whose topics are read. A database is asked for its catalog only. A column or a table that cannot be
    read is left out, and a comment says why. A file that exists is never changed. The files that are written are
    checked first, as 'validate' does.
    """
    from streamhouse.jobs.import_tables import ImportRequest, write_import
    from streamhouse.jobs.import_tables import import_tables as found_import
    from streamhouse.planner.found_tables import TablePatterns

    app: App = context.obj
    wanted = ImportRequest(connection, TablePatterns(tables, exclude), flow or connection, join, servers)
    found = found_import(app.project, wanted)
    if not dry_run:
        write_import(app.project, found)
    if app.as_json:
        app.output.document({"written": not dry_run, **_document(found)})
    elif dry_run:
        _show_files(app, found)
    else:
        _show(app, found)
        if join and not found.joins:
            app.output.line("nothing to join: no foreign key leads to a table that is imported")
    if dry_run:
        context.exit(CHANGES)


def _show_files(app: App, found: "Import") -> None:
    """The flow alone can be sent into a file; what else would be written is named beside."""
    *others, flow = found.files
    app.output.line(flow.after.rstrip("\n"))
    for edit in others:
        click.echo(f"would write {edit.path}, too", err=True)


def _show(app: App, found: "Import") -> None:
    for edit in found.files:
        app.output.line(f"wrote {edit.path}", style="green")
    columns = sum(len(table.columns) for table in found.tables)
    app.output.line(f"{len(found.tables)} tables with {columns} columns")
    for one in found.left_out[:_SHOWN]:
        app.output.line(f"left out: {one}")
    if (more := len(found.left_out) - _SHOWN) > 0:
        app.output.line(f"left out: {more} more; comments in {found.files[-1].path} name each")
    app.output.line("next:")
    app.output.line("  streamhouse validate")
    app.output.line(f"  streamhouse run {found.flow} --once")


def _document(found: "Import") -> dict[str, Any]:
    return {
        "flow": found.flow,
        "files": [{"file": edit.path, "text": edit.after} for edit in found.files],
        "tables": [
            {
                "from": one.found.name,
                "table": one.table,
                "columns": one.types,
                "primary_key": one.found.primary_key,
                "event_time": one.event_time,
                "foreign_keys": [vars(key) for key in one.found.foreign_keys],
            }
            for one in found.tables
        ],
        "joins": found.joins,
        "left_out": [
            {"table": one.table, "column": one.column or None, "type": one.type or None, "why": one.why}
            for one in found.left_out
        ],
    }
