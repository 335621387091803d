"""`streamhouse query`: ask all tiers as one table."""

import sys

import click

from streamhouse.cli.app import App, shared_options

SHOWN_ROWS = 100


@click.command(
    short_help="Ask all tiers in Spark SQL.",
    epilog="""\b
Examples:
  streamhouse query "SELECT count(*) FROM ods.orders"
  streamhouse query "SELECT * FROM dwd.orders LIMIT 5" --json
  streamhouse query - < report.sql
""",
)
@click.argument("sql")
@click.option("--limit", type=click.IntRange(min=0), help=f"Show so many rows. [default: {SHOWN_ROWS}; --json: all]")
@click.option("--env", "environment", metavar="NAME", help="Read the tables of an environment; see: streamhouse env.")
@shared_options
@click.pass_obj
def query(app: App, sql: str, limit: int | None, environment: str | None) -> None:
    """Answer SQL (Spark SQL, one SELECT) over the project's tables.

    A table's name reads all of its tiers: old rows from the lake, the newest from the hot tier.
    With '-' the SQL is read from standard input. Nothing is changed.
    """
    from streamhouse.jobs.query import run_query

    text = sys.stdin.read() if sql == "-" else sql
    if app.as_json:
        result = run_query(app.project, text, limit=limit, environment=environment, say=_say)
        columns = [{"name": field.name, "type": str(field.type)} for field in result.schema]
        app.output.document({"columns": columns, "rows": result.to_pylist()})
        return
    most = SHOWN_ROWS if limit is None else limit
    result = run_query(app.project, text, limit=most + 1, environment=environment, say=_say)
    shown = result.slice(0, most)
    rows = list(zip(*(column.to_pylist() for column in shown.columns), strict=True))
    app.output.table(result.column_names, rows)
    count = "1 row" if len(rows) == 1 else f"{len(rows):,} rows"
    more = ", and more: see --limit" if result.num_rows > most else ""
    app.output.line(f"{count}{more}", style="dim")


def _say(stage: str) -> None:
    click.echo(stage, err=True)
