"""What a person can get wrong in a query, each at its place in the file."""

import re
from collections.abc import Collection, Iterable, Sequence

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.errors import (
    DefinitionError,
    DefinitionErrors,
    Location,
    OutputColumnError,
    PortError,
    StrategyError,
    StreamhouseError,
    TypeMismatchError,
    UnknownColumnError,
    UnknownTableError,
    UntypedColumnError,
    did_you_mean,
)
from streamhouse.sql import functions
from streamhouse.sql.admit import TABLE_FUNCTIONS, Refused, refused_calls, refused_relations
from streamhouse.sql.all_word import all_beside_a_column
from streamhouse.sql.arity import ARITY, misfit
from streamhouse.sql.classes import Kinds
from streamhouse.sql.ctes import LEVELS, NO_RECURSION, is_visible, unseen
from streamhouse.sql.cuts import wrong_cuts
from streamhouse.sql.determinism import fault
from streamhouse.sql.dialect import place_of, render, short
from streamhouse.sql.expressions import TYPED
from streamhouse.sql.fits import misfits
from streamhouse.sql.having_names import HavingNames
from streamhouse.sql.infer import Inference
from streamhouse.sql.named_arguments import wrong_name
from streamhouse.sql.output_names import OutputNames
from streamhouse.sql.placement import misplaced, not_of_sets, ungrouped
from streamhouse.sql.reach import out_of_reach
from streamhouse.sql.scopes import function_name, own_nodes
from streamhouse.sql.spark_type import STRING, VOID
from streamhouse.sql.spelled_having import bounds_in_having
from streamhouse.sql.unknown_columns import unknown_columns
from streamhouse.sql.windows import wrong_lengths

_STRANGE = Kinds(exp.Pivot, exp.QueryTransform, exp.MatchRecognize)
_TABLE, _CTE, _WITH = Kinds(exp.Table), Kinds(exp.CTE), Kinds(exp.With)
_ANONYMOUS, _FUNCTION, _PREDICATE = Kinds(exp.Anonymous), Kinds(exp.Func), Kinds(exp.Predicate)


def _raise(errors: list[StreamhouseError]) -> None:
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise DefinitionErrors(errors)


def _placed(kind: type[DefinitionError], found: Refused, sql: str, at: Location) -> StreamhouseError:
    return kind(found.message, at=place_of(found.node, sql, at), hint=found.hint)


def check_relations(nodes: Sequence[exp.Expr], sql: str, at: Location) -> None:
    """Only names and sub-queries stand where a table does, and a name says no moment.

    Args:
        nodes: All of a query.
        sql: Its text.
        at: Where that begins.

    Raises:
        UnknownTableError: something else does.
        StrategyError: the query does more than read.
    """
    errors = [
        _placed(UnknownTableError if found.reads else StrategyError, found, sql, at)
        for found in refused_relations(nodes)
    ]
    for table in [] if errors else [node for node in nodes if _TABLE[type(node)]]:
        if not isinstance(table.this, exp.Identifier):
            if function_name(table.this) in TABLE_FUNCTIONS:
                continue
            message = f"{function_name(table.this).upper()}(…) is no input"
        elif table.args.get("version") or table.args.get("when"):
            message = f"'{table.name}' is read as of now, or as of the epoch"
        else:
            continue
        errors.append(UnknownTableError(message, at=place_of(table, sql, at), hint=_INPUTS))
    _raise(errors)


_INPUTS = "an action reads its inputs by name; LATERAL VIEW explode(…) makes rows of their arrays"


def check_tables(nodes: Sequence[exp.Expr], ports: Collection[str], sql: str, at: Location) -> None:
    """Every name in a FROM is a port or a CTE, and every port is read.

    Args:
        nodes: All of a query, itself first.
        ports: What it may read.
        sql: Its text.
        at: Where that begins.

    Raises:
        UnknownTableError: a name is neither.
        PortError: a CTE hides a port, or a port is never read.
        StrategyError: a CTE is recursive.
    """
    check_relations(nodes, sql, at)
    recursive = [node for node in nodes if _WITH[type(node)] and node.args.get("recursive")]
    _raise([StrategyError(NO_RECURSION, at=place_of(with_, sql, at), hint=LEVELS) for with_ in recursive])
    ctes = {cte.alias.lower(): cte for cte in nodes if _CTE[type(cte)]}
    errors: list[StreamhouseError] = [
        PortError(
            f"the CTE '{name}' hides the port of that name",
            at=place_of(cte.args["alias"], sql, at),
            hint="rename the CTE",
        )
        for name, cte in ctes.items()
        if name in ports
    ]
    read = set()
    for table in (node for node in nodes if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier)):
        if isinstance(table.parent and table.parent.parent, exp.Hint):
            continue  # BROADCAST(o) names what the FROM calls so
        name = table.name.lower()
        read.add(name)
        if table.db or (name not in ports and name not in ctes):
            shown = f"{table.db}.{table.name}" if table.db else table.name
            hint: str | None = did_you_mean(name, [*ports, *ctes], f"the ports are: {', '.join(ports)}")
            if name == "table":
                hint = "write the name of the table alone: FROM orders"
            elif not ports and not ctes:
                hint = "the action has no inputs: name one under 'inputs' in its header"
            if table.db:
                hint = "an action reads its inputs by port; the flow says which table that is"
            errors.append(UnknownTableError(f"unknown table '{shown}'", at=place_of(table, sql, at), hint=hint))
        elif name not in ports and not is_visible(table):
            message, hint = unseen(table)
            errors.append(UnknownTableError(message, at=place_of(table, sql, at), hint=hint))
    _raise(errors)
    check_ports_are_read(ports, read, at)


def check_ports_are_read(ports: Collection[str], read: Collection[str], at: Location) -> None:
    """Every port is read; a CTE that nothing uses reads nothing.

    Args:
        ports: What the query may read.
        read: What it reads.
        at: Where its text begins.

    Raises:
        PortError: a port is never read.
    """
    hint = "remove it from 'inputs', and a CTE that nothing uses from the SQL"
    _raise([PortError(f"the SQL never reads the port '{p}'", at=at, hint=hint) for p in ports if p not in read])


def check_names(query: exp.Query, sql: str, at: Location) -> None:
    """Every output column has a name of its own that a person wrote.

    Raises:
        OutputColumnError: an expression without AS.
    """
    errors: list[StreamhouseError] = []
    for i, item in enumerate(query.selects, 1):
        named = isinstance(item, _NAMED) and bool(item.alias_or_name)
        if isinstance(item, exp.Aliases) or not named or isinstance(item, exp.Literal):
            hint = f"write {short(item)} AS name"
            if isinstance(item, exp.Aliases):
                hint = "a function that gives several columns stands in a LATERAL VIEW"
            errors.append(OutputColumnError(f"output column {i} has no name", at=place_of(item, sql, at), hint=hint))
    _raise(errors)


_NAMED = (exp.Alias, exp.Column, exp.Dot, exp.Star, exp.Cast)
"""What Spark calls by a name that is in the text."""


def check_functions(nodes: Sequence[exp.Expr], sql: str, at: Location) -> None:
    """Every function is known, has arguments that it takes, and gives the same answer when an epoch is replayed.

    Args:
        nodes: All of a query.
        sql: Its text.
        at: Where that begins.

    Raises:
        UntypedColumnError: a function, or the name of an argument, is not known, or there are too many or too few.
        StrategyError: a function is not deterministic.
    """
    errors: list[StreamhouseError] = []
    for node in nodes:
        kind = type(node)
        if (problem := fault(node)) is not None:
            errors.append(StrategyError(problem, at=place_of(node, sql, at), hint=_REPLAY))
        elif kind is exp.DataType and node.this == exp.DType.TIME:
            message, hint = "Spark 4.1 has the type TIME switched off", "use a TIMESTAMP, or a STRING"
            errors.append(UntypedColumnError(message, at=place_of(node.parent or node, sql, at), hint=hint))
        elif isinstance(node, exp.Kwarg) and (wrong := wrong_name(node)) is not None:
            errors.append(_placed(UntypedColumnError, wrong, sql, at))
        elif _STRANGE[kind]:
            word = node.key.upper()
            errors.append(UntypedColumnError(f"{word} is not understood", at=place_of(node, sql, at), hint=_PIVOT))
        elif _ANONYMOUS[kind] or (_FUNCTION[kind] and kind not in TYPED and not _PREDICATE[kind]):
            name = function_name(node)
            if name in functions.KNOWN and (problem := misfit(name, _argument_count(node))) is not None:
                hint = "compare it with Spark's list of functions"
                errors.append(UntypedColumnError(problem, at=place_of(node, sql, at), hint=hint))
    errors += [
        _placed(UntypedColumnError, found, sql, at)
        for found in refused_calls(nodes, functions.KNOWN | TABLE_FUNCTIONS)
        if fault(found.node) is None
    ]
    _raise(errors)


def _argument_count(node: exp.Expr) -> int:
    if isinstance(node, exp.Anonymous):
        return len(node.expressions)
    if isinstance(node, (exp.Max, exp.Min)):
        return 1 + len(node.expressions)
    # The parser has counted the arguments of other calls with a class of their own.
    return ARITY.get(function_name(node), (0, None))[0]


_PIVOT = "write one aggregate with FILTER (WHERE …) for each column"
_REPLAY = "a replayed epoch must give the same rows; derive the value from columns of the input"


def check_limits(nodes: Sequence[exp.Expr], sql: str, at: Location) -> None:
    """LIMIT and OFFSET take a whole number, or arithmetic of some; a column named by its place is there.

    Args:
        nodes: All of a query.
        sql: Its text.
        at: Where that begins.

    Raises:
        StrategyError: one takes something else.
    """
    _raise([_placed(StrategyError, found, sql, at) for found in wrong_cuts(nodes)])


def check_places(nodes: Sequence[exp.Expr], sql: str, at: Location) -> None:
    """Aggregates, window functions and generators stand where Spark takes them.

    Args:
        nodes: All of a query.
        sql: Its text.
        at: Where that begins.

    Raises:
        StrategyError: one does not.
    """
    _raise([_placed(StrategyError, found, sql, at) for found in misplaced(nodes)])


def check_types(root: Scope, inference: Inference, sql: str, at: Location) -> None:
    """Every SELECT has the columns of its groups only, and every expression takes the types of its parts.

    Raises:
        StrategyError: a column is neither a group key nor in an aggregate, or GROUPING is of none of the keys.
        TypeMismatchError: Spark refuses a type.
        UnknownColumnError: a name is out of reach, or means two columns.
    """
    _raise([_placed(UnknownColumnError, found, sql, at) for found in out_of_reach(root, inference)])
    for scope in root.traverse():
        _raise([_placed(StrategyError, found, sql, at) for found in (*ungrouped(scope), *not_of_sets(scope))])
    _raise([_placed(TypeMismatchError, found, sql, at) for found in misfits(root, inference)])


def check_having(names: HavingNames, root: Scope, inference: Inference, sql: str, at: Location) -> None:
    """HAVING fits the columns of the input as well, where output columns are called like them.

    Args:
        names: Of the query before its names were resolved.
        root: Of the query after that.
        inference: Knows the columns of its tables.
        sql: Its text.
        at: Where that begins.

    Raises:
        TypeMismatchError: it does not.
    """
    _raise([_placed(TypeMismatchError, found, sql, at) for found in names.refused(root, inference)])


def check_output_names(names: OutputNames, root: Scope, inference: Inference, sql: str, at: Location) -> None:
    """No name stands for an output column where Spark knows no such name, and ALL for no column.

    Args:
        names: Of the query before its names were resolved.
        root: Of the query after that.
        inference: Knows the columns of its tables.
        sql: Its text.
        at: Where that begins.

    Raises:
        UnknownColumnError: one does.
    """
    refused = [*names.refused(root, inference), *all_beside_a_column(root, inference)]
    _raise([_placed(UnknownColumnError, found, sql, at) for found in refused])


def check_windows(nodes: Iterable[exp.Expr], sql: str, at: Location) -> None:
    """No SELECT puts its rows into time windows in two ways, or into windows of no length, which Spark refuses.

    Args:
        nodes: All of a query, qualified, so that one window is spelt in one way.
        sql: Its text.
        at: Where that begins.

    Raises:
        StrategyError: one does so in two ways.
        TypeMismatchError: a window has no length that Spark takes.
    """
    errors: list[StreamhouseError] = []
    for select in _timed(nodes):
        calls: dict[str, exp.Expr] = {}
        for clause in ("expressions", "group", "having", "qualify"):
            value = select.args.get(clause)
            for root in value if isinstance(value, list) else [value] if value is not None else []:
                for node in own_nodes(root):
                    if _FUNCTION[type(node)] and function_name(node) in functions.TIME_WINDOWS:
                        calls.setdefault(render(node), node)
        for text, node in list(calls.items())[1:]:
            message = f"one SELECT has the time windows {short(next(iter(calls.values())))} and {short(node)}"
            errors.append(StrategyError(message, at=place_of(calls[text], sql, at), hint=_WINDOWS))
        errors += [_placed(StrategyError, found, sql, at) for found in bounds_in_having(select)]
        wrong = (found for call in calls.values() for found in wrong_lengths(call))
        errors += [_placed(TypeMismatchError, found, sql, at) for found in wrong]
    _raise(errors)


def _timed(nodes: Iterable[exp.Expr]) -> list[exp.Expr]:
    """Each SELECT; none where nothing is a time window."""
    found = list(nodes)
    timed = any(_FUNCTION[type(node)] and function_name(node) in functions.TIME_WINDOWS for node in found)
    return [node for node in found if isinstance(node, exp.Select)] if timed else []


_WINDOWS = "compute one of them in a sub-query, and the other from its rows"


def check_columns(root: Scope, inference: Inference, sql: str, at: Location) -> None:
    """Every column is one of exactly one source.

    Raises:
        UnknownColumnError: it is not.
    """
    _raise([_placed(UnknownColumnError, found, sql, at) for found in unknown_columns(root, inference)])


def check_unions(root: Scope, inference: Inference, sql: str, at: Location) -> None:
    """The queries that UNION, EXCEPT or INTERSECT put together have as many columns each.

    Raises:
        OutputColumnError: they have not.
    """
    errors: list[StreamhouseError] = []
    for scope in root.traverse():
        query = scope.expression
        if isinstance(query, exp.SetOperation):
            widths = [len(inference.outputs(arm)) for arm in scope.set_operation_scopes]
            if len(set(widths)) > 1:
                message = f"{query.key.upper()} puts together queries of {' and '.join(map(str, widths))} columns"
                place = place_of(query.expression, sql, at)
                errors.append(OutputColumnError(message, at=place, hint="select the same columns in both"))
    _raise(errors)


_MADE_UP = re.compile(r"_col_\d+", re.ASCII)
"""The name that the resolver gives a column that has none."""


def check_outputs(root: Scope, inference: Inference, sql: str, at: Location) -> None:
    """Every output column has a name of its own and a type a table can hold.

    Raises:
        OutputColumnError: two columns have one name.
        UntypedColumnError: a type cannot be derived, or cannot be stored.
    """
    errors: list[StreamhouseError] = []
    names: set[str] = set()
    for column in inference.outputs(root):
        if column.name in names and column.name != "*":
            hint = "give one of them another name with AS; after a join, name the columns instead of '*'"
            place = place_of(column.node, sql, at)
            errors.append(OutputColumnError(f"two output columns are named '{column.name}'", at=place, hint=hint))
        names.add(column.name)
        if column.name == "*":
            message = "two columns behind '*' have one name, or one has none"
            hint = "give each column of the inner query a name of its own with AS"
            errors.append(OutputColumnError(message, at=place_of(column.node, sql, at), hint=hint))
        elif _MADE_UP.fullmatch(column.name):
            hint = "give each column of the inner query a name with AS"
            errors.append(
                OutputColumnError("an output column has no name", at=place_of(column.node, sql, at), hint=hint)
            )
        elif column.type is None:
            node, where = _culprit(column.node, root, inference)
            cause = f"the type of column '{column.name}' cannot be derived from {short(node)}"
            place, hint = place_of(node, sql, at), f"write CAST({short(where)} AS type)"
            errors.append(UntypedColumnError(cause, at=place, hint=hint))
        elif column.type == VOID or not column.type.storable:
            kind = "NULL" if column.type == VOID else column.type.kind.replace("_", " ")
            cause = f"column '{column.name}' is {kind}, which no table can hold"
            place, hint = place_of(column.node, sql, at), f"write CAST({short(column.node.unalias())} AS type)"
            errors.append(UntypedColumnError(cause, at=place, hint=hint))
    _raise(errors)


def _culprit(node: exp.Expr, scope: Scope, inference: Inference) -> tuple[exp.Expr, exp.Expr]:
    """The innermost expression without a type, and where a CAST would help."""
    node = node.unalias()
    for part in node.iter_expressions():
        if isinstance(part, exp.Condition) and not isinstance(part, (exp.Identifier, exp.DataType)):
            inner = part.unalias()
            if inference.type_of(inner, scope) is None and not isinstance(inner, (exp.Lambda, exp.Query)):
                return _culprit(inner, scope, inference)
    for part in node.iter_expressions() if isinstance(node, exp.Binary) else ():
        if inference.type_of(part, scope) == STRING:
            return node, part
    return node, node
