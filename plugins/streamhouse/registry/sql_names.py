"""Names that an action's SQL uses, against those its header declares."""

from collections.abc import Collection, Mapping

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


def check_tables(query: exp.Query, sql: str, at: Location, ports: Mapping[str, Location]) -> list[DefinitionError]:
    """Tables that the query reads and the header lacks; else inputs that the query never reads.

    Args:
        query: As parsed from `sql`.
        sql: Text of the query; with `at` it gives the places.
        at: Where `sql` begins.
        ports: Inputs of the header and their places; Spark looks tables up in any case.
    """
    unknown: list[DefinitionError] = [
        UnknownTableError(found.message, at=place_of(found.node, sql, at), hint=found.hint)
        for found in refused_relations(query)
        if not isinstance(found.node.this, exp.Placeholder)  # `check_params` says it better
    ]
    read: set[str] = set()
    known = {port.lower() for port in ports}
    own = {cte.alias.lower() for cte in query.find_all(exp.CTE)}
    for table in query.find_all(exp.Table):
        if not isinstance(table.this, exp.Identifier):  # a table function
            continue
        name = table.name
        read.add(name.lower())
        place = place_of(table, sql, at)
        if table.args.get("db"):
            shown = ".".join(part.name for part in table.parts)
            message, hint = (
                f"the SQL reads '{shown}', which is no input",
                "read an input; the flow says which table it is",
            )
            unknown.append(UnknownTableError(message, at=place, hint=hint))
        elif name.lower() not in known | own:
            close = did_you_mean(
                name, [*ports, *own], f"inputs: {', '.join(ports)}" if ports else "declare it in `inputs`"
            )
            unknown.append(UnknownTableError(f"the SQL reads '{name}', which is no input", at=place, hint=close))
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
