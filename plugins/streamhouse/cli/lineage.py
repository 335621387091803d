"""`streamhouse lineage`: where a table or a column comes from, and what is made of it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from streamhouse.cli.app import App, shared_options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from streamhouse.cli.output import CommandOutput
    from streamhouse.compiler.lineage import ColumnLink
    from streamhouse.planner.catalog import CatalogTable
    from streamhouse.state.records import MeaningSince


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
    join or a key; whatever they feed changes in every column. What the table or column means comes first.
    Columns that an edit gave another meaning, and whose older rows kept theirs, are listed with the time since when
    they have it.
    """
    from streamhouse.compiler.lineage import Lineage
    from streamhouse.errors import DefinitionErrors
    from streamhouse.planner.build_catalog import catalog_table
    from streamhouse.project.check import check_project

    checked = check_project(app.project, processes=app.processes)
    if checked.errors:
        raise DefinitionErrors(checked.errors)
    graph = Lineage(checked.plans.values())
    table, column = graph.resolve(name)
    both = up == down
    found = {
        "up": graph.up(table, column) if up or both else None,
        "down": graph.down(table, column) if down or both else None,
    }
    report = _LineageReport(name, table, column, catalog_table(app.registry, checked.plans, table), found)
    _show(app, report, _meanings(app, table, column), _marks(app, table))


@dataclass(frozen=True)
class _LineageReport:
    """A table or a column, what is said of it, and where it comes from and goes (`None`: nobody asked for that)."""

    name: str
    table: str
    column: str | None
    meant: "CatalogTable | None"
    links: "Mapping[str, Sequence[ColumnLink] | None]"


def _show(app: App, report: _LineageReport, since: "dict[str, MeaningSince]", marks: list[str]) -> None:
    from streamhouse.cli.meaning import document, show

    meant, column = report.meant, report.column
    if app.as_json:
        shown = {way: [_document(one) for one in links] for way, links in report.links.items() if links is not None}
        changed = {name: {"revision": one.revision, "since": one.since} for name, one in since.items()}
        meaning = document(meant, column) if meant is not None else {}
        content = {
            "table": report.table,
            "column": column,
            "meaning": meaning,
            **shown,
            "effective_from": changed,
            "lacks": marks,
        }
        app.output.document(content)
        return
    if meant is not None:
        if column is None and meant.description:
            app.output.line(meant.description)
        show(app.output, meant, column)
    for text in marks:
        app.output.line(text, style="red")
    for way, words in (("up", "comes from"), ("down", "goes into")):
        _show_links(app.output, f"{report.name} {words}", report.links[way])
    _show_since(app.output, since)


def _show_links(output: "CommandOutput", words: str, links: "Sequence[ColumnLink] | None") -> None:
    """Print one way; `None`: nobody asked for it."""
    if links is None:
        return
    output.line(f"{words}{'' if links else ' nothing'}", style="bold")
    if links:
        output.table(
            ("column", "as", "goes into", "flow", "step", "away"),
            [
                (_name(x.table, x.column), x.role, _name(x.into, x.into_column), x.flow, x.step, x.distance)
                for x in links
            ],
        )


def _show_since(output: "CommandOutput", since: "dict[str, MeaningSince]") -> None:
    if since:
        output.table(
            ("column", "of revision", "effective from (UTC)"),
            [(name, one.revision, one.since) for name, one in since.items()],
            title="Rows written before hold what these columns were then, or NULL:",
        )


def _meanings(app: App, table: str, column: str | None) -> "dict[str, MeaningSince]":
    """Column → since when it means what is applied, of those whose older rows hold something else."""
    state = app.project.existing_state()
    if state is None:
        return {}
    with state:
        found = state.tables.meanings(table)
    return {name: meaning for name, meaning in found.items() if column in (None, name)}


def _marks(app: App, table: str) -> list[str]:
    """What a table lacks since a loss, or rests on that does."""
    from streamhouse.state.troubles import RESTORE

    state = app.project.existing_state()
    if state is None:
        return []
    with state:
        return [str(one) for one in state.troubles.current() if one.job == RESTORE and one.table == table]


def _name(table: str, column: str | None) -> str:
    return f"{table}.{column}" if column is not None else f"{table} (every column)"


def _document(link: "ColumnLink") -> dict[str, Any]:
    return {
        "table": link.table,
        "column": link.column,
        "role": link.role,
        "into": {"table": link.into, "column": link.into_column},
        "flow": link.flow,
        "step": link.step,
        "distance": link.distance,
    }
