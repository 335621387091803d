"""`streamhouse query`: ask all tiers as one table."""

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from streamhouse.cli.app import App, shared_options
from streamhouse.cli.formats import BINARY, FORMATS, format_of, objects, write
from streamhouse.cli.intervals import SECONDS
from streamhouse.cli.standard_input import read_text

if TYPE_CHECKING:
    from streamhouse.cli.output import CommandOutput
    from streamhouse.jobs.query import QueryResult
    from streamhouse.query.explain import TableRead

SHOWN_ROWS = 100
WATCH_S = 2.0


@click.command(
    short_help="Ask all tiers in Spark SQL.",
    epilog="""\b
Examples:
  streamhouse query 'SELECT count(*) FROM ods.orders'
  streamhouse query 'SELECT * FROM dwd.orders.changes' --format csv
  streamhouse query 'SELECT * FROM dwd.orders TIMESTAMP AS OF "2026-01-31 12:00:00"'
  streamhouse query 'SELECT * FROM dwd.orders JOIN dws.totals USING (id) AS OF EPOCH 12'
  streamhouse query - --output report.parquet < report.sql
""",
)
@click.argument("sql")
@click.option(
    "--limit", type=click.IntRange(min=0), help=f"At most so many rows. [default: {SHOWN_ROWS} are shown, all written]"
)
@click.option("--env", "environment", metavar="NAME", help="Read the tables of an environment; see: streamhouse env.")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help="How. [default: as --output ends, else a table; json: by lines]",
)
@click.option(
    "--output", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path), help="Where to, as a whole file."
)
@click.option("--explain", is_flag=True, help="Show what is read where, and how much, in place of the rows.")
@click.option(
    "--watch",
    metavar="[SECONDS]",
    type=SECONDS,
    is_flag=False,
    flag_value=WATCH_S,
    help=f"Ask again and again, until Ctrl-C. [every {WATCH_S:g} s]",
)
@click.option("--engine", type=click.Choice(("auto", "spark")), default="auto", help="What computes. [default: auto]")
@shared_options
@click.pass_obj
def query(
    app: App,
    sql: str,
    limit: int | None,
    environment: str | None,
    form: str | None,
    output: Path | None,
    explain: bool,
    watch: float | None,
    engine: str,
) -> None:
    """Answer SQL (Spark SQL, one SELECT) over the project's tables.

    A table's name reads all of its tiers: old rows from the lake, the newest from the hot tier. A suffix reads one
    tier (dwd.sales.hot, .warm, .cold, .lake) or what is recorded about the table (.changes, .history, .files,
    .lake.snapshots). You may write '$' instead of the dot of a suffix, in single quotes because of the shell.
    With '-' the SQL is read from standard input. A query changes nothing.
    """
    form = form or (format_of(output) if output else None) or ("csv" if output else "table")
    _refuse_mixed(app, form, output, explain=explain, watch=watch)
    from streamhouse.jobs.query import Engine, QueryService
    from streamhouse.runtime.query_environment import only_what_a_query_needs

    text = read_text() if sql == "-" else sql
    shown = form == "table" and not app.as_json
    most = SHOWN_ROWS if limit is None else limit
    row_limit = most + 1 if shown and not explain else limit
    with only_what_a_query_needs(app.project.settings), QueryService(app.project, environment, _say) as asking:
        while True:
            answer = asking.ask(text, limit=row_limit, engine=Engine(engine), measure=explain)
            if watch is not None:
                _begin_again(app.output)
            if explain:
                _explain(app.output, answer)
            elif shown:
                _show(app.output, answer, most)
            else:
                _write(app, answer, form, output)
            if watch is None:
                break
            sys.stdout.flush()
            time.sleep(watch)


def _refuse_mixed(app: App, form: str, output: Path | None, *, explain: bool, watch: float | None) -> None:
    written = form != "table" or output is not None
    if app.as_json and written:
        raise click.UsageError("--json is one document; take --format or --output without it")
    if explain and written:
        raise click.UsageError("--explain shows no rows; take --format and --output without it")
    if output is not None and form == "table":
        raise click.UsageError("a table is for people to look at; write csv, json, arrow or parquet")
    if form in BINARY and output is None and (watch is not None or sys.stdout.isatty()):
        raise click.UsageError(f"{form} is no text; give --output FILE")


def _show(output: "CommandOutput", answer: "QueryResult", most: int) -> None:
    from streamhouse.stores.arrow_values import python_rows

    shown = answer.rows.slice(0, most)
    rows = python_rows(shown)
    output.table(answer.rows.column_names, rows)
    count = "1 row" if len(rows) == 1 else f"{len(rows):,} rows"
    more = ", and more: see --limit" if answer.rows.num_rows > most else ""
    output.line(f"{count}{more}", style="dim")


def _write(app: App, answer: "QueryResult", form: str, output: Path | None) -> None:
    if app.as_json:
        from streamhouse.stores.arrow import shown_type

        columns = [{"name": field.name, "type": shown_type(field.type)} for field in answer.rows.schema]
        app.output.document({"columns": columns, "rows": objects(answer.rows)})
    else:
        write(answer.rows, form, output)


def _explained(answer: "QueryResult") -> dict[str, object]:
    return {
        "engine": answer.engine,
        "reason": answer.reason,
        "seconds": round(answer.seconds, 3),
        "rows": answer.rows.num_rows,
        "reads": [vars(read) for read in answer.reads],
    }


def _explain(output: "CommandOutput", answer: "QueryResult") -> None:
    from streamhouse.cli.output import duration_text

    if output.as_json:
        output.document(_explained(answer))
        return
    why = f" ({answer.reason})" if answer.reason else ""
    output.facts(
        {
            "answered by": f"{answer.engine}{why}",
            "took": duration_text(answer.seconds * 1000),
            "rows": answer.rows.num_rows,
        }
    )
    output.line()
    headers = ("table", "as of", "tier", "columns", "rows read", "files", "bytes", "conditions that reach the store")
    output.table(headers, [_read_cells(read) for read in answer.reads])


def _read_cells(read: "TableRead") -> tuple[object, ...]:
    columns = f"{len(read.columns)} of {read.of_columns}: {', '.join(read.columns)}" if read.columns else "none: counts"
    return (
        read.table,
        read.moment or "now",
        read.tier.value if read.tier else "state",
        columns,
        _part(read.rows, read.of_rows),
        _part(read.files, read.of_files),
        _part(read.bytes, read.of_bytes),
        " and ".join(read.where) or None,
    )


def _part(some: int | None, every: int | None) -> str | None:
    return None if some is None else f"{some:,} of {every:,}"


def _begin_again(output: "CommandOutput") -> None:
    """Clear a terminal; elsewhere tell one answer from the next."""
    if sys.stdout.isatty():
        click.clear()
    elif not output.as_json:
        output.line(time.strftime("%H:%M:%S"))


def _say(stage: str) -> None:
    click.echo(stage, err=True)
