"""`streamhouse quarantine`: rows that were kept out of tables, and reading them again."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from streamhouse.cli.app import App, shared_options
from streamhouse.cli.losses import LOST, lost_documents, show_lost, unreadable_plans

if TYPE_CHECKING:
    from streamhouse.jobs.quarantine import QuarantineTable
    from streamhouse.jobs.query import QueryService
    from streamhouse.state.plans import Unreadable

_SHOWN = 20


@click.group(short_help="Show rows that were kept out, and read them again.")
@shared_options
def quarantine() -> None:
    """Look at rows that were kept out of tables: dead letters of sources, and rows that violate an expectation."""


@quarantine.command(
    "list",
    epilog="""\b
Examples:
  streamhouse quarantine list
  streamhouse quarantine list --json | jq '.tables[] | select(.rows > 0)'
""",
)
@shared_options
@click.pass_obj
def list_(app: App) -> None:
    """List the tables of rows that were kept out, with how many rows they have and why.

    If a table is lost or damaged, the others are listed, and the exit code is 5. If the plan of a flow cannot be read,
    the tables of the other flows are listed, and the exit code is 6.
    """
    from streamhouse.errors import StoreError
    from streamhouse.jobs.quarantine import applied_plans, counted, quarantine_tables

    unreadable: Unreadable = {}
    tables = quarantine_tables(applied_plans(app.project, unreadable))
    lost = unreadable_plans(unreadable)
    with _asking(app) as asking:
        found = counted(app.project, asking, tables)
    if app.as_json:
        document = {"tables": [{**asdict(one), "rows": one.rows} for one in found]}
        app.output.document(document | {"lost": lost_documents(lost)["lost"]})
    elif lost.lost and not found:
        show_lost(lost, app.output)
    elif not found:
        app.output.line("no table takes rows that are kept out; see 'on_bad_rows' in docs/sources.md")
    else:
        headers = ("table", "flow", "kept out of", "rows", "why", "read again soon")
        show_lost(lost, app.output)
        app.output.table(headers, [(o.table, o.flow, o.of, o.rows, _why(o), o.waiting or None) for o in found])
    if lost.lost:
        raise click.exceptions.Exit(LOST)
    if any(one.is_lost for one in found):
        raise click.exceptions.Exit(StoreError.exit_code)


@quarantine.command(
    epilog="""\b
Examples:
  streamhouse quarantine show ods.shop_orders__dead_letters
  streamhouse quarantine show orders --limit 5 --json
"""
)
@click.argument("table")
@click.option("--limit", default=_SHOWN, show_default=True, type=click.IntRange(1), help="At most so many rows.")
@shared_options
@click.pass_obj
def show(app: App, table: str, limit: int) -> None:
    """Show rows of TABLE. For dead letters, the name of the source will do."""
    from streamhouse.jobs.quarantine import shown_rows

    one = _find(app, table)
    with _asking(app) as asking:
        rows = shown_rows(asking, one, limit)
    if app.as_json:
        app.output.document({"table": one.table, "flow": one.flow, "of": one.of, "rows": rows})
    elif not rows:
        app.output.line(f"{one.table} has no rows")
    else:
        names = [name for name in rows[0] if name != "context"]
        app.output.table(names, [[row[name] for name in names] for row in rows])


@quarantine.command(
    epilog="""\b
Examples:
  streamhouse quarantine replay ods.shop_orders__dead_letters
  streamhouse quarantine replay orders --reason type
  streamhouse quarantine replay orders --position data/orders/3.csv:17
"""
)
@click.argument("table")
@click.option("--reason", help="Only rows with this reason.")
@click.option("--position", "positions", multiple=True, help="Only the row at this position. May be repeated.")
@shared_options
@click.pass_obj
def replay(app: App, table: str, reason: str | None, positions: tuple[str, ...]) -> None:
    """Read dead letters of TABLE again, once what was wrong is mended.

    The flow reads them in its next epoch, or when it runs next. A row that is good now reaches the tables, once, and
    leaves the dead letters. One that is still bad stays.
    """
    from streamhouse.jobs.quarantine import replay as ask

    one = _find(app, table, dead=True)

    def wanted(row: dict[str, Any]) -> bool:
        return (reason is None or row["reason"] == reason) and (not positions or row["position"] in positions)

    with _asking(app) as asking:
        done = ask(app.project, asking, one, wanted)
    if app.as_json:
        app.output.document({"table": one.table, "flow": one.flow, **asdict(done)})
        return
    app.output.line(f"{done.rows:,} rows of {one.table} are read again in the next epoch of {one.flow}")
    if done.waiting:
        app.output.line(f"{done.waiting:,} rows wait already")


def _find(app: App, table: str, *, dead: bool = False) -> "QuarantineTable":
    from streamhouse.errors import UnknownTableError
    from streamhouse.jobs.quarantine import applied_plans, find, quarantine_tables

    unreadable: Unreadable = {}
    tables = quarantine_tables(applied_plans(app.project, unreadable))
    try:
        return find(tables, table, dead=dead)
    except UnknownTableError:
        for error in unreadable.values():  # it may be a table of such a flow
            raise error from None
        raise


def _asking(app: App) -> "QueryService":
    from streamhouse.jobs.query import QueryService

    return QueryService(app.project, None, lambda stage: click.echo(stage, err=True))


def _why(one: "QuarantineTable") -> str | None:
    if one.reasons is None:
        return one.problem
    return ", ".join(f"{reason}: {rows:,}" for reason, rows in one.reasons.items()) or None
