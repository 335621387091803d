"""Which rows of other inputs a changed row meets."""

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.model.types import ReadMode
from streamhouse.sql.delta.cut import scope_of
from streamhouse.sql.delta.kinds import KEYS
from streamhouse.sql.infer import Inference
from streamhouse.sql.rows import InputInfo, Inputs, NotProvenError, arms_of
from streamhouse.sql.schema import base_table
from streamhouse.sql.scopes import TangledError, aggregates_in, conjuncts, read_sources
from streamhouse.sql.touch import refuse_unseen
from streamhouse.sql.tracer import Tracer
from streamhouse.sql.traces import Relation

_HIDDEN = ("SEMI", "ANTI")  # joins whose other side has no columns
_FIXED = ("distinct", "limit", "offset", "fetch", "having", "windows", "pivots")
_COLUMN = "__c"


def linear_ports(rows: exp.Select, inputs: Inputs, inference: Inference) -> tuple[str, ...]:
    """Ports of which each row has exactly one row in it.

    So the rows of a union of two sets of such a port are the union of the rows of each, and none come from none.
    """
    found, scope, types = [], scope_of(rows), inference.of_another_query()
    for port in inputs:
        alone = {
            name: InputInfo(info.append_only, ReadMode.CHANGES if name == port else ReadMode.LOOKUP, info.primary_key)
            for name, info in inputs.items()
        }
        try:
            if arms_of(scope, alone, types):
                found.append(port)
        except NotProvenError:
            continue
    return tuple(found)


def links(rows: exp.Select, inputs: Inputs, inference: Inference) -> tuple[dict[str, str], ...]:
    """Port → its column; all rows that make one row have the same value there.

    Keeping in every port of a link the rows with certain values there keeps exactly the rows with these values.

    Args:
        rows: SELECT of rows; stays as it is.
        inputs: Of every port.
        inference: Of its ports.

    Raises:
        NotProvenError: it is not known how an input is read.
    """
    tree = rows.copy()
    inference = inference.of_another_query()
    asking = [item for item in tree.selects if item.find(exp.Query)]  # what they read is a use of it, too
    tree.set("expressions", [*_all_columns(tree, inference), *asking])
    scope = scope_of(tree)
    tracer = Tracer(inputs, inference.of_another_query())
    relation = tracer.relation(scope)
    refuse_unseen(scope, inputs, tracer)
    used = _used(rows)
    found = [link for name in relation.traces if (link := _link(relation, name)) and link.items() <= used]
    return tuple(link for at, link in enumerate(found) if link not in found[:at])


def _used(rows: exp.Select) -> set[tuple[str, str]]:
    """Port and column of all that a query uses; an epoch has no other columns to find rows by."""
    tables = (
        (base_table(column, scope), column.name)
        for scope in scope_of(rows.copy()).traverse()
        for column in scope.columns
    )
    return {(table.name, name) for table, name in tables if table is not None}


def _link(relation: Relation, name: str) -> dict[str, str]:
    """Of a column: the ports that have it as one column, wherever they are read."""
    trace, link = relation.traces[name], {}
    for port in dict.fromkeys(relation.uses.values()):
        own = {trace.get(use) for use, of in relation.uses.items() if of == port}
        one = own.pop()
        if not own and one is not None and one.column is not None and one.type.kind in KEYS:
            link[port] = one.column
    return link


def _all_columns(tree: exp.Select, inference: Inference) -> list[exp.Expr]:
    """Every column that the rows could show, also those of inner queries, which are changed to show them."""
    columns = [
        exp.alias_(exp.column(name, alias), f"{_COLUMN}{number}_{at}")
        for number, (alias, names) in enumerate(_offered(scope_of(tree), inference).items())
        for at, name in enumerate(names)
    ]
    merged = [exp.alias_(one, f"{_COLUMN}full{number}") for number, one in enumerate(_merged(tree))]
    return [*columns, *merged]


def _merged(query: exp.Select) -> list[exp.Expr]:
    """Of each FULL JOIN, what its sides agree in: the value of one where there is one, else that of the other."""
    parts = [
        part.unnest()
        for join in query.args.get("joins") or []
        if join.side == "FULL" and (on := join.args.get("on")) is not None
        for part in conjuncts(on)
    ]
    pairs = [(part.this, part.expression) for part in parts if isinstance(part, exp.EQ)]
    return [
        exp.Coalesce(this=one.copy(), expressions=[other.copy()])
        for one, other in pairs
        if isinstance(one, exp.Column) and isinstance(other, exp.Column)
    ]


def _offered(scope: Scope, inference: Inference) -> dict[str, list[str]]:
    """What a SELECT reads, by alias → the columns there."""
    query = scope.expression
    hidden = {join.alias_or_name for join in query.args.get("joins") or [] if join.kind in _HIDDEN}
    try:
        sources = read_sources(scope)
    except TangledError as error:
        raise NotProvenError(str(error)) from error
    return {
        alias: list(inference.port_columns(source.name))
        if isinstance(source, exp.Table)
        else _widened(source, inference)
        for alias, source in sources.items()
        if alias not in hidden
    }


def _widened(scope: Scope, inference: Inference) -> list[str]:
    """The columns of an inner query, once it shows all that it may."""
    query = scope.expression
    if isinstance(query, exp.Select) and not any(query.args.get(clause) for clause in _FIXED):
        known = {item.alias_or_name for item in query.selects}
        more = _groups(query) if query.args.get("group") else _plain(query, scope, inference)
        for number, column in enumerate(more):
            name = f"{_COLUMN}{number}"
            if name not in known:
                query.append("expressions", exp.alias_(column.copy(), name))
    return [column.name for column in inference.of_another_query().outputs(scope)]


def _groups(query: exp.Select) -> list[exp.Expr]:
    return [key for key in query.args["group"].expressions if isinstance(key, exp.Column)]


def _plain(query: exp.Select, scope: Scope, inference: Inference) -> list[exp.Expr]:
    if any(aggregates_in(item) for item in query.selects):
        return []
    offered = _offered(scope, inference)
    return [*(exp.column(name, alias) for alias, names in offered.items() for name in names), *_merged(query)]
