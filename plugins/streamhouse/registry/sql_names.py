"""Names that an action's SQL uses, against those its header declares."""

from collections.abc import Collection, Iterable, Mapping

from sqlglot import exp

from streamhouse.errors import (
    DefinitionError,
    Location,
    MissingParameterError,
    PortError,
    SqlSyntaxError,
    UnknownTableError,
    did_you_mean,
)
from streamhouse.registry.parse_sql import placeholder_offsets
from streamhouse.sql.admit import refused_relations
from streamhouse.sql.dialect import place_of
from streamhouse.sql.header import place_in


def placeholders(tree: exp.Expr) -> set[str]:
    """Names of the parameters that a query or condition uses."""
    return {p.name for p in tree.find_all(exp.Placeholder) if p.this}


def _no_input(table: exp.Table, at: Location, ports: Iterable[str], own: Iterable[str]) -> UnknownTableError:
    shown = ".".join(part.name for part in table.parts)
    hint: str | None = "read an input; the flow says which table it is"
    if not table.args.get("db"):
        inputs = ", ".join(ports)
        hint = did_you_mean(table.name, [*ports, *own], f"inputs: {inputs}" if inputs else "declare it in `inputs`")
    return UnknownTableError(f"the SQL reads '{shown}', which is no input", at=at, hint=hint)


def check_tables(query: exp.Query, sql: str, at: Location, ports: Mapping[str, Location]) -> list[DefinitionError]:
    """Tables that the query reads and the header lacks; else inputs that the query never reads.

    Args:
        query: As parsed from `sql`.
        sql: Text of the query; with `at` it gives the places.
        at: Where `sql` begins.
        ports: Inputs of the header and their places; Spark looks tables up in any case.
    """
    nodes = list(query.walk())
    unknown: list[DefinitionError] = [
        UnknownTableError(found.message, at=place_of(found.node, sql, at), hint=found.hint)
        for found in refused_relations(nodes)
        if not isinstance(found.node.this, exp.Placeholder)  # `check_params` says it better
    ]
    own = {cte.alias.lower() for cte in nodes if isinstance(cte, exp.CTE)}
    known = own | {port.lower() for port in ports}
    # Others than those with a name are table functions.
    tables = [node for node in nodes if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier)]
    unknown += [
        _no_input(table, place_of(table, sql, at), ports, own)
        for table in tables
        if table.args.get("db") or table.name.lower() not in known
    ]
    read = {table.name.lower() for table in tables}
    # A mistyped name is unknown, and leaves the input it means unread: one message is enough.
    return unknown or [
        PortError(f"the SQL never reads the input '{port}'", at=place, hint="read it, or remove it from `inputs`")
        for port, place in ports.items()
        if port.lower() not in read
    ]


def check_params(
    tree: exp.Expr, sql: str, at: Location, params: Collection[str], *, exact: bool = True
) -> list[DefinitionError]:
    """Placeholders that stand for nothing declared, each name once.

    Args:
        tree: As parsed from `sql`.
        sql: Text of the query or condition.
        at: Where `sql` begins.
        params: What the header declares.
        exact: Whether `sql` stands in the file as it is; otherwise every error is placed at `at` itself.
    """
    found: dict[str, DefinitionError] = {}
    for placeholder in tree.find_all(exp.Placeholder):
        name = placeholder.name if placeholder.this else ""
        misplaced = isinstance(placeholder.parent, exp.Table) or placeholder.arg_key == "alias"
        if name in params and not misplaced:
            continue
        place = place_in(sql, placeholder_offsets(sql).get(name, 0), at) if exact else at
        if not name:
            hint: str | None = "declare a parameter in the header and write :name"
            found[name] = MissingParameterError("'?' has no name", at=place, hint=hint)
        elif name not in params:
            hint = did_you_mean(name, params, f"declare it in the header: 'params: {{{name}: {{type: int}}}}'")
            found[name] = MissingParameterError(f"the SQL uses :{name}, which is not declared", at=place, hint=hint)
        else:
            hint = "a parameter is a value, never a name"
            found[name] = SqlSyntaxError(f":{name} stands where a name belongs", at=place, hint=hint)
    return list(found.values())
