"""Canonical forms of composed queries and of steps, as far as they are followed."""

from collections.abc import Mapping
from functools import lru_cache

from sqlglot import exp

from streamhouse.errors import Location, StreamhouseError
from streamhouse.model.plan import FlowPlan, PlannedSource, PlannedStep
from streamhouse.model.table import Column, Table
from streamhouse.planner.catalog import Catalog
from streamhouse.planner.compose import Composed
from streamhouse.sql.canonical import Canonical, CanonicalInput, canonical
from streamhouse.sql.dialect import render
from streamhouse.sql.parameters import fill_parameters, typed_literal

_AT = Location("the proposed query")


def meaning_of(query: exp.Query, catalog: Catalog) -> Canonical | None:
    """The canonical form of a query over `layer.table` names; None: it is not followed."""
    tree = query.copy()
    names = sorted({f"{table.db}.{table.name}" for table in tree.find_all(exp.Table) if table.db})
    ports = {name: name.replace(".", "__") for name in names}
    for table in list(tree.find_all(exp.Table)):
        if table.db:
            port = ports[f"{table.db}.{table.name}"]
            table.replace(exp.alias_(exp.Table(this=exp.to_identifier(port)), table.alias or port, table=True))
    inputs = {ports[name]: CanonicalInput(name, _columns(catalog, name)) for name in names}
    return followed(render(tree), inputs)


def meaning_of_step(step: PlannedStep, plan: FlowPlan) -> Canonical | None:
    """The canonical form of a step; None: it is not followed, or its table has not just the rows of its SQL."""
    if step.part or step.writes.first_row or step.writes.version_column is not None:
        return None
    if step.writes.deletes_after is not None or _keeps_out(step):
        return None
    read: list[Table | PlannedSource] = [*plan.sources, *plan.readable]
    columns = {one.name: one.columns for one in read}
    inputs = {one.port: CanonicalInput(one.table, columns[one.table], one.mode.value) for one in step.reads}
    return followed(step.sql, inputs)


def without_null_keys(step: PlannedStep) -> bool:
    """Whether rows without a key are kept out of a step's table, and no other rows."""
    return any(rule.on_violation in ("drop", "quarantine") for rule in step.expect.values())


def filled(wanted: Composed) -> exp.Query:
    """A query with the defaults of its parameters."""
    tree = wanted.query.copy()
    values = {n: typed_literal(n, one.type, one.default, _AT) for n, one in wanted.params.items()}
    fill_parameters(tree, wanted.params, values, "", _AT)
    return tree


def followed(sql: str, inputs: Mapping[str, CanonicalInput]) -> Canonical | None:
    """The canonical form of SQL over ports; None: it is not followed."""
    try:
        found = canonical(sql, inputs)
    except StreamhouseError:
        return None
    return found if found.rows is not None else None


@lru_cache(maxsize=4096)
def _columns_of(pairs: tuple[tuple[str, str, bool], ...]) -> tuple[Column, ...]:
    return tuple(Column(name=name, type=kind, nullable=nullable) for name, kind, nullable in pairs)


def _columns(catalog: Catalog, name: str) -> tuple[Column, ...]:
    return _columns_of(tuple((c.name, c.type, c.nullable) for c in catalog.tables[name].columns))


def _keeps_out(step: PlannedStep) -> bool:
    """Whether an expectation keeps rows out for another reason than a key that is NULL."""
    parts = {f"{name} IS NOT NULL".lower() for name in step.writes.primary_key}
    parts |= {f"NOT {name} IS NULL".lower() for name in step.writes.primary_key}
    return any(
        rule.on_violation != "warn" and not set(rule.check.lower().split(" and ")) <= parts
        for rule in step.expect.values()
    )
