"""`streamhouse lineage`: where a table or a column comes from, and what is made of it."""

from typing import TYPE_CHECKING, Any

import click

from streamhouse.cli.app import App, shared_options

if TYPE_CHECKING:
    from streamhouse.compiler.lineage import Link
    from streamhouse.state.records import Meaning


@click.command(
    short_help="Show what a table or column comes from and goes into.",
    epilog="""\b
Examples:
  streamhouse lineage dws.revenue_by_product
  streamhouse lineage dwd.orders.amount_cents --down
  streamhouse lineage ads.board.total --up --json
""",
)
@click.argument("name", metavar="TABLE[.COLUMN]")
@click.option("--up", is_flag=True, help="Only what it comes from.")
@click.option("--down", is_flag=True, help="Only what is made of it.")
@shared_options
@click.pass_obj
def lineage(app: App, name: str, up: bool, down: bool) -> None:
    """Follow TABLE or TABLE.COLUMN through all steps of all flows, nearest first.

    'value' columns are what a value is made of. 'rows' columns decide which rows there are: a filter, a
    join or a key; whatever they feed changes in every column. Columns that an edit gave another meaning, and
    whose older rows kept theirs, are listed with the time since when they have it.
    """
    from streamhouse.compiler.lineage import Lineage
    from streamhouse.errors import DefinitionErrors
    from streamhouse.project.check import check_project

    checked = check_project(app.project, processes=app.processes)
    if checked.errors:
        raise DefinitionErrors(checked.errors)
    graph = Lineage(checked.plans.values())
    table, column = graph.resolve(name)
    since = _meanings(app, table, column)
    both = up == down
    found = {
        "up": graph.up(table, column) if up or both else None,
        "down": graph.down(table, column) if down or both else None,
    }
    if app.as_json:
        shown = {way: [_document(link) for link in links] for way, links in found.items() if links is not None}
        changed = {name: {"revision": one.revision, "since": one.since} for name, one in since.items()}
        app.output.document({"table": table, "column": column, **shown, "effective_from": changed})
        return
    for way, words in (("up", "comes from"), ("down", "goes into")):
        links = found[way]
        if links is None:
            continue
        app.output.line(f"{name} {words}{'' if links else ' nothing'}", style="bold")
        if links:
            app.output.table(
                ("column", "as", "goes into", "flow", "step", "away"),
                [
                    (_name(x.table, x.column), x.role, _name(x.into, x.into_column), x.flow, x.step, x.distance)
                    for x in links
                ],
            )
    if since:
        app.output.table(
            ("column", "of revision", "effective from (UTC)"),
            [(name, one.revision, one.since) for name, one in since.items()],
            title="Rows written before hold what these columns were then, or NULL:",
        )


def _meanings(app: App, table: str, column: str | None) -> "dict[str, Meaning]":
    """Column → since when it means what is applied, of those whose older rows hold something else."""
    state = app.project.existing_state()
    if state is None:
        return {}
    with state:
        found = state.meanings(table)
    return {name: meaning for name, meaning in found.items() if column in (None, name)}


def _name(table: str, column: str | None) -> str:
    return f"{table}.{column}" if column is not None else f"{table} (every column)"


def _document(link: "Link") -> dict[str, Any]:
    return {
        "table": link.table,
        "column": link.column,
        "role": link.role,
        "into": {"table": link.into, "column": link.into_column},
        "flow": link.flow,
        "step": link.step,
        "distance": link.distance,
    }
