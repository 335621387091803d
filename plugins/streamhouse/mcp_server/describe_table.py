"""A table in full: contract, meaning, lineage, freshness."""

from collections.abc import Iterable

from streamhouse.errors import UnknownColumnError, UnknownTableError, did_you_mean
from streamhouse.mcp_server.answers import ColumnFacts, Link, Named, StepFacts, TableFacts
from streamhouse.mcp_server.health import freshness, losses, troubles
from streamhouse.mcp_server.shareable import Shared
from streamhouse.model.plan import QUARANTINE
from streamhouse.planner.catalog import CatalogColumn, CatalogTable
from streamhouse.ui import flows, tables
from streamhouse.ui.answers import ColumnAnswer, LineageLink, Rule, StepAnswer, TablePage
from streamhouse.ui.desk import Desk

_LINKS = 60
_WITHHELD_SQL = "SQL of steps that read a table whose schema may not be shown"


def table_facts(desk: Desk, shared: Shared, name: str) -> tuple[TableFacts, tuple[str, ...]]:
    """A table, and what was left out.

    Args:
        desk: Of the project.
        shared: What may be shown.
        name: `layer.table` or `layer.table.column`: then lineage is that column's, and only it is listed.

    Raises:
        UnknownTableError: there is none.
        UnknownColumnError: it has no such column.
        NotSharedError: it may not be shown.
    """
    table, column = _named(name)
    shared.require_schema(table)
    page = tables.page(desk, table)
    if column is not None and column not in {one.name for one in page.columns}:
        known = [one.name for one in page.columns]
        raise UnknownColumnError(
            f"{table} has no column '{column}'", hint=did_you_mean(column, known, f"columns: {', '.join(known)}")
        )
    links = tables.lineage(desk, name)
    up, down = (tuple(link for link in way if _is_shown(link, shared)) for way in (links.up, links.down))
    meaning = shared.tables[table.removesuffix(QUARANTINE)]
    summaries = [flows.page(desk, flow).summary for flow in page.flows]
    steps = [step for step in page.steps if all(shared.sees(read.table) for read in step.reads)]
    readers = dict.fromkeys(f"{reader.flow}: {reader.table}" for reader in page.readers if shared.sees(reader.table))
    facts = TableFacts(
        name=page.name,
        layer=page.layer,
        kind="quarantine" if page.kind == "quarantine" else "table",
        flows=page.flows,
        description=meaning.description,
        synonyms=meaning.synonyms,
        columns=tuple(_column(one, meaning) for one in page.columns if column in (None, one.name)),
        primary_key=page.primary_key,
        event_time=page.event_time or meaning.event_time,
        measures=_measures(meaning),
        dimensions=_dimensions(meaning),
        tiers={tier.tier: tier.kept for tier in page.tiers},
        rows_written=page.rows,
        made_by=tuple(_step(step, shared) for step in steps),
        read_by=tuple(readers),
        comes_from=tuple(_link(link) for link in up[:_LINKS]),
        goes_into=tuple(_link(link) for link in down[:_LINKS]),
        links_left_out=max(0, len(up) - _LINKS) + max(0, len(down) - _LINKS),
        freshness=tuple(freshness(one) for one in summaries),
        troubles=tuple(trouble for one in summaries for trouble in troubles(one, shared, page.name)),
        lost=losses(page.lost, shared),
        rows_allowed=shared.gives_rows(page.name),
    )
    return facts, _withheld(page, steps, len(links.up) + len(links.down) - len(up) - len(down), shared)


def _named(name: str) -> tuple[str, str | None]:
    layer, _, rest = name.partition(".")
    table, _, column = rest.partition(".")
    if not table:
        raise UnknownTableError(f"'{name}' names no table", hint="a table is layer.table: dws.revenue_by_product")
    return f"{layer}.{table}", column or None


def _is_shown(link: LineageLink, shared: Shared) -> bool:
    return shared.sees(link.table) and shared.sees(link.into)


def _withheld(page: TablePage, steps: list[StepAnswer], links: int, shared: Shared) -> tuple[str, ...]:
    return (
        *((_WITHHELD_SQL,) if len(steps) < len(page.steps) else ()),
        *shared.left_out(links, "links of lineage"),
        *(f"what flow {flow} reads and writes: its applied plan cannot be read" for flow in page.unknown_flows),
    )


def _column(one: ColumnAnswer, meaning: CatalogTable) -> ColumnFacts:
    known = next((column for column in meaning.columns if column.name == one.name), CatalogColumn(one.name, one.type))
    return ColumnFacts(
        name=one.name,
        type=one.type,
        nullable=one.nullable,
        key=one.key,
        description=known.description,
        synonyms=known.synonyms,
        unit=known.unit,
        values=dict(known.values),
        references=".".join(known.references) if known.references else None,
    )


def _measures(meaning: CatalogTable) -> tuple[Named, ...]:
    return tuple(
        Named(name=name, description=one.description, synonyms=one.synonyms, sql=one.sql, unit=one.unit)
        for name, one in meaning.measures.items()
    )


def _dimensions(meaning: CatalogTable) -> tuple[Named, ...]:
    return tuple(
        Named(name=name, description=one.description, synonyms=one.synonyms, hierarchy=one.hierarchy)
        for name, one in meaning.dimensions.items()
    )


def _step(step: StepAnswer, shared: Shared) -> StepFacts:
    return StepFacts(
        flow=step.flow,
        step=step.step,
        action=step.action,
        version=step.version,
        strategy=step.strategy,
        reason=shared.cleaned(step.reason),
        reads=tuple(read.table for read in step.reads),
        expectations=rules(step.expectations, shared),
        sql=shared.cleaned_sql(step.sql),
    )


def _link(link: LineageLink) -> Link:
    return Link.model_validate(link.model_dump(exclude={"step"}))


def rules(expectations: Iterable[Rule], shared: Shared) -> dict[str, str]:
    """Name → check."""
    return {rule.name: shared.cleaned_sql(rule.check) for rule in expectations}
