"""What a person can get wrong in a query, each at its place in the file."""

from collections.abc import Collection, Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.errors import (
    DefinitionErrors,
    Location,
    OutputColumnError,
    PortError,
    StrategyError,
    StreamhouseError,
    UnknownColumnError,
    UnknownTableError,
    UntypedColumnError,
    did_you_mean,
)
from streamhouse.sql import functions
from streamhouse.sql.determinism import fault
from streamhouse.sql.dialect import place_of, render
from streamhouse.sql.expressions import TYPED
from streamhouse.sql.infer import Inference
from streamhouse.sql.scopes import function_name, own_nodes, selects_of
from streamhouse.sql.spark_type import STRING, VOID


def _raise(errors: list[StreamhouseError]) -> None:
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise DefinitionErrors(errors)


def check_tables(query: exp.Query, ports: Collection[str], sql: str, at: Location) -> None:
    """Every name in a FROM is a port or a CTE, and every port is read.

    Raises:
        UnknownTableError: a name is neither.
        PortError: a CTE hides a port, or a port is never read.
    """
    errors: list[StreamhouseError] = []
    ctes = {cte.alias.lower(): cte for cte in query.find_all(exp.CTE)}
    for name, cte in ctes.items():
        if name in ports:
            place = place_of(cte.args["alias"], sql, at)
            errors.append(PortError(f"the CTE '{name}' hides the port of that name", at=place, hint="rename the CTE"))
    with_ = query.args.get("with_")
    if with_ is not None and with_.args.get("recursive"):
        errors.append(StrategyError("a recursive CTE cannot be kept up to date", at=place_of(with_, sql, at)))
    read = set()
    for table in query.find_all(exp.Table):
        name = table.name.lower()
        read.add(name)
        if table.db or (name not in ports and name not in ctes):
            shown = f"{table.db}.{table.name}" if table.db else table.name
            hint: str | None = did_you_mean(name, [*ports, *ctes], f"the ports are: {', '.join(ports)}")
            if table.db:
                hint = "an action reads its inputs by port; the flow says which table that is"
            errors.append(UnknownTableError(f"unknown table '{shown}'", at=place_of(table, sql, at), hint=hint))
    errors = errors or [
        PortError(f"the SQL never reads the port '{port}'", at=at, hint="remove it from 'inputs'")
        for port in ports
        if port not in read
    ]
    _raise(errors)


def check_names(query: exp.Query, sql: str, at: Location) -> None:
    """Every output column has a name of its own that a person wrote.

    Raises:
        OutputColumnError: an expression without AS.
    """
    errors: list[StreamhouseError] = []
    for i, item in enumerate(query.selects, 1):
        named = isinstance(item, exp.Alias | exp.Column | exp.Dot | exp.Star) or bool(item.alias_or_name)
        if isinstance(item, exp.Aliases) or not named or isinstance(item, exp.Literal):
            hint = f"write {_short(item)} AS name"
            if isinstance(item, exp.Aliases):
                hint = "a function that gives several columns stands in a LATERAL VIEW"
            errors.append(OutputColumnError(f"output column {i} has no name", at=place_of(item, sql, at), hint=hint))
    _raise(errors)


def check_functions(query: exp.Query, sql: str, at: Location) -> None:
    """Every function is known, and gives the same answer when an epoch is replayed.

    Raises:
        UntypedColumnError: a function that is not known.
        StrategyError: a function that is not deterministic.
    """
    errors: list[StreamhouseError] = []
    for node in query.walk():
        if (problem := fault(node)) is not None:
            errors.append(StrategyError(problem, at=place_of(node, sql, at), hint=_REPLAY))
        elif isinstance(node, exp.Pivot | exp.QueryTransform | exp.MatchRecognize):
            word = node.key.upper()
            errors.append(UntypedColumnError(f"{word} is not understood", at=place_of(node, sql, at), hint=_PIVOT))
        elif isinstance(node, exp.Func) and type(node) not in TYPED and not isinstance(node, exp.Predicate):
            name = function_name(node)
            if name not in functions.KNOWN:
                hint = did_you_mean(name, functions.KNOWN, "the functions it can replay are those built into Spark")
                errors.append(UntypedColumnError(f"unknown function '{name}'", at=place_of(node, sql, at), hint=hint))
        elif isinstance(node, exp.Anonymous) and function_name(node) not in functions.KNOWN:
            name = function_name(node)
            hint = did_you_mean(name, functions.KNOWN, "only functions built into Spark can be used")
            errors.append(UntypedColumnError(f"unknown function '{name}'", at=place_of(node, sql, at), hint=hint))
    _raise(errors)


_PIVOT = "write one aggregate with FILTER (WHERE …) for each column"
_REPLAY = "a replayed epoch must give the same rows; derive the value from columns of the input"


def check_windows(query: exp.Query, sql: str, at: Location) -> None:
    """No SELECT puts its rows into time windows in two ways, which Spark refuses.

    Args:
        query: Qualified, so that one window is spelt in one way.
        sql: Its text.
        at: Where that begins.

    Raises:
        StrategyError: one does.
    """
    errors: list[StreamhouseError] = []
    for select in query.find_all(exp.Select):
        calls: dict[str, exp.Expr] = {}
        for clause in ("expressions", "group", "having", "qualify"):
            value = select.args.get(clause)
            for root in value if isinstance(value, list) else [value] if value is not None else []:
                for node in own_nodes(root):
                    if isinstance(node, exp.Func) and function_name(node) in functions.TIME_WINDOWS:
                        calls.setdefault(render(node), node)
        for text, node in list(calls.items())[1:]:
            message = f"one SELECT has the time windows {_short(next(iter(calls.values())))} and {_short(node)}"
            errors.append(StrategyError(message, at=place_of(calls[text], sql, at), hint=_WINDOWS))
    _raise(errors)


_WINDOWS = "compute one of them in a sub-query, and the other from its rows"


def check_columns(root: Scope, inference: Inference, sql: str, at: Location) -> None:
    """Every column is one of exactly one source.

    Raises:
        UnknownColumnError: it is not.
    """
    errors: list[StreamhouseError] = []
    seen: set[int] = set()
    for scope in root.traverse():
        for column in scope.columns:
            if id(column) in seen or inference.resolve(column, scope) is not None or _is_output(column, scope):
                seen.add(id(column))
                continue
            seen.add(id(column))
            errors.append(_unknown(column, scope, inference, place_of(column, sql, at)))
    _raise(errors)


def _is_output(column: exp.Column, scope: Scope) -> bool:
    names = {item.alias_or_name for item in selects_of(scope)}
    return not column.table and column.name in names and column.find_ancestor(exp.Order, exp.Having) is not None


def _unknown(column: exp.Column, scope: Scope, inference: Inference, at: Location) -> UnknownColumnError:
    offered = {source: list(_offered(scope, source, inference)) for source in scope.sources}
    holders = [source for source, names in offered.items() if column.name in names]
    if not column.table and len(holders) > 1:
        which = " or ".join(f"{source}.{column.name}" for source in holders)
        message, hint = f"column '{column.name}' is in {' and in '.join(holders)}", f"write {which}"
        return UnknownColumnError(message, at=at, hint=hint)
    if column.table and column.table not in offered:
        close = did_you_mean(column.table, list(offered), f"the FROM has: {', '.join(offered)}")
        return UnknownColumnError(f"unknown table or column '{column.table}'", at=at, hint=close)
    names = offered.get(column.table) or [n for names in offered.values() for n in names]
    whose = f" in {column.table}" if column.table else ""
    close = did_you_mean(column.name, names, f"columns: {', '.join(dict.fromkeys(names))}")
    return UnknownColumnError(f"unknown column '{column.name}'{whose}", at=at, hint=close)


def _offered(scope: Scope, source: str, inference: Inference) -> Iterator[str]:
    found = scope.sources[source]
    if isinstance(found, exp.Table):
        yield from inference.port_columns(found.name)
    else:
        yield from (c.name for c in inference.outputs(found))


def check_outputs(root: Scope, inference: Inference, sql: str, at: Location) -> None:
    """Every output column has a name of its own and a type a table can hold.

    Raises:
        OutputColumnError: two columns have one name.
        UntypedColumnError: a type cannot be told, or cannot be stored.
    """
    errors: list[StreamhouseError] = []
    seen: set[str] = set()
    for column in inference.outputs(root):
        place = place_of(column.node, sql, at)
        if column.name in seen:
            hint = "give one of them another name with AS; after a join, name the columns instead of '*'"
            errors.append(OutputColumnError(f"two output columns are named '{column.name}'", at=place, hint=hint))
        seen.add(column.name)
        if column.type is None:
            node, where = _culprit(column.node, root, inference)
            errors.append(
                UntypedColumnError(
                    f"the type of column '{column.name}' cannot be told from {_short(node)}",
                    at=place_of(node, sql, at),
                    hint=f"write CAST({_short(where)} AS type)",
                )
            )
        elif column.type == VOID or not column.type.storable:
            kind = "NULL" if column.type == VOID else column.type.kind.replace("_", " ")
            errors.append(
                UntypedColumnError(
                    f"column '{column.name}' is {kind}, which no table can hold",
                    at=place,
                    hint=f"write CAST({_short(column.node.unalias())} AS type)",
                )
            )
    _raise(errors)


def _culprit(node: exp.Expr, scope: Scope, inference: Inference) -> tuple[exp.Expr, exp.Expr]:
    """The innermost expression without a type, and where a CAST would help."""
    node = node.unalias()
    for part in node.iter_expressions():
        if isinstance(part, exp.Condition) and not isinstance(part, exp.Identifier | exp.DataType):
            inner = part.unalias()
            if inference.type_of(inner, scope) is None and not isinstance(inner, exp.Lambda | exp.Query):
                return _culprit(inner, scope, inference)
    for part in node.iter_expressions() if isinstance(node, exp.Binary) else ():
        if inference.type_of(part, scope) == STRING:
            return node, part
    return node, node


def _short(node: exp.Expr) -> str:
    text = render(node.unalias())
    return text if len(text) <= 60 else f"{text[:57]}..."
