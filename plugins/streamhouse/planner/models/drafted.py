"""SQL that a model wrote, checked and typed as any action's, over the tables that it may read. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from streamhouse.errors import Location, RequestShapeError, UnknownColumnError, UnknownWordError, did_you_mean
from streamhouse.model.table import Column
from streamhouse.planner.catalog import Catalog, CatalogTable
from streamhouse.planner.compose import Composed
from streamhouse.planner.models.answer import SQL_PLACE, ActionDraft
from streamhouse.planner.models.draft_rows import check_rows
from streamhouse.planner.models.draft_units import check_units_of_sql
from streamhouse.sql.check import check_relations
from streamhouse.sql.determinism import is_clock
from streamhouse.sql.dialect import parse_query, short
from streamhouse.sql.ports import ActionPort
from streamhouse.sql.schema import CheckedQuery, analyse
from streamhouse.sql.spark_type import spark_type

_AT = Location(SQL_PLACE)


@dataclass(frozen=True)
class Drafted:
    """A draft that passed.

    Attributes:
        composed: As a composed Request, without parameters.
        is_key_known: Whether it is known, and not only said, that the key tells rows apart.
        notes: What a person should know of the result.
    """

    draft: ActionDraft
    composed: Composed
    is_key_known: bool
    notes: tuple[str, ...] = ()


def _over_tables(tree: exp.Query, ports: Mapping[str, str]) -> exp.Query:
    """A query with the tables that its ports read."""
    query = tree.copy()
    for table in list(query.find_all(exp.Table)):
        if table.name in ports:
            layer, _, name = ports[table.name].partition(".")
            read = exp.Table(this=exp.to_identifier(name), db=exp.to_identifier(layer))
            table.replace(exp.alias_(read, table.alias or name, table=True))
    return query


def drafted(draft: ActionDraft, catalog: Catalog) -> Drafted:
    """Check the SQL of a draft.

    Args:
        draft: As a model wrote it.
        catalog: The tables that it may read, and no others.

    Raises:
        SqlSyntaxError: it is no single SELECT of Spark.
        UnknownWordError: it reads a table that is not there.
        RequestShapeError: it reads no table; its result depends on the order of rows, which a table does not have, or
            has the time as a value; a sum or a key is another than it seems.
        UnknownColumnError: the key, or the event time, is none of its columns.
        FanOutError: it counts rows that may be there several times.
        UnitError: it adds or compares numbers of different units, or has them in one column.
        DefinitionError, DefinitionErrors: what `analyse` refuses: functions, columns, types.
    """
    tree = parse_query(draft.sql, _AT)
    check_relations(list(tree.walk()), draft.sql, _AT)
    ports = _ports(tree, catalog)
    found = analyse(
        tree, {port: _port(catalog.tables[name]) for port, name in ports.items()}, draft.sql, _AT, extra_columns=False
    )
    if found.notices:  # a person may want this; of a model it is a fault, and no run shows it each time
        raise RequestShapeError(found.notices[0].message, hint=found.notices[0].hint)
    notes = _notes_on_time(found)
    columns = {column.name: column for column in found.columns}
    named = [*draft.primary_key, *draft.columns, *([draft.event_time] if draft.event_time else [])]
    for name in named:
        if name.lower() not in columns:
            hint = did_you_mean(name, columns, f"its columns are: {', '.join(columns)}")
            raise UnknownColumnError(f"the result has no column '{name}'", hint=hint)
    key = tuple(name.lower() for name in draft.primary_key)
    tables = {port: catalog.tables[name] for port, name in ports.items()}
    check_units_of_sql(found.scope, tables)
    is_known = check_rows(found.scope, tables, key)
    query = _over_tables(found.tree, ports)
    types = {name: spark_type(column.type) for name, column in columns.items()}
    composed = Composed(query, types, key, single=False, params={})
    return Drafted(draft, composed, is_known, notes)


def _notes_on_time(found: CheckedQuery) -> tuple[str, ...]:
    """What a person should know of a query that reads the time.

    Raises:
        RequestShapeError: the time becomes a value of rows, which do not change when it goes on.
    """
    clocks = [node for node in found.tree.find_all(exp.Func) if is_clock(node)]
    if not clocks:
        return ()
    if not found.decides_by_clock:
        raise RequestShapeError(
            f"{short(clocks[0])} is the time of the epoch that wrote a row, and the row stays as it is",
            hint="take a time of the rows, or leave it to the query that reads the table",
        )
    return (f"the result changes as time goes on, for it reads {short(clocks[0])}: the whole table is computed again",)


def _ports(tree: exp.Query, catalog: Catalog) -> dict[str, str]:
    """Port → table, and the tree, with ports instead of the tables."""
    ctes = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    ports: dict[str, str] = {}
    for table in list(tree.find_all(exp.Table)):
        if not table.db and table.name.lower() in ctes:
            continue
        if isinstance(table.this, exp.Func):
            continue  # rows that a function makes; the checks of functions decide
        name = f"{table.db}.{table.name}".lower() if table.db else table.name.lower()
        if table.catalog or name not in catalog.tables:
            shown = f"{table.catalog}.{name}" if table.catalog else name
            raise UnknownWordError(f"there is no table '{shown}'", name, list(catalog.tables))
        port = name.replace(".", "__")
        ports[port] = name
        table.set("db", None)
        alias = table.alias or table.name
        table.set("this", exp.to_identifier(port))
        table.set("alias", exp.TableAlias(this=exp.to_identifier(alias.lower())))
    if not ports:
        raise RequestShapeError("the SQL reads no table")
    return ports


def _port(table: CatalogTable) -> ActionPort:
    columns = tuple(Column(name=c.name, type=c.type, nullable=c.nullable) for c in table.columns)
    return ActionPort(bound=columns, declared={}, key=table.primary_key)
