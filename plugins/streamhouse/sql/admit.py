"""What SQL may hold: tables by name, rows that it makes itself, functions of values. Pure.

Both lists are of what is allowed. What Spark reads besides tables (a file, a stream, a name that is computed), and
whatever it learns to read, is on neither.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from sqlglot import exp

from streamhouse.errors import did_you_mean
from streamhouse.sql import functions
from streamhouse.sql.classes import Kinds
from streamhouse.sql.ctes import MOST_READS, written_out
from streamhouse.sql.expressions import TYPED
from streamhouse.sql.pattern_texts import pattern_texts
from streamhouse.sql.refused import NOT_OF_VALUES, OPERATORS, REFUSED
from streamhouse.sql.scopes import function_name
from streamhouse.sql.slow_patterns import why_slow
from streamhouse.sql.words import words

TABLE_FUNCTIONS = words(
    """
    range explode explode_outer posexplode posexplode_outer inline inline_outer stack json_tuple
    variant_explode variant_explode_outer
    """
)
"""Functions that may stand in FROM: each makes rows of its arguments alone."""

QUERY_FUNCTIONS = frozenset((functions.KNOWN | REFUSED.keys() | OPERATORS | TABLE_FUNCTIONS) - NOT_OF_VALUES)
"""What a person's query may call: a flow's functions, and others of values alone, whose types nobody needs to know."""

_RELATIONS = (exp.Table, exp.Subquery, exp.Lateral, exp.Values, exp.Select, exp.Union, exp.Except, exp.Intersect)
_READS = (exp.From, exp.Join, exp.CTE, exp.Subquery)
_ARGUMENTS: dict[type[exp.Expr], frozenset[str]] = {
    exp.Table: frozenset(
        {"this", "db", "catalog", "alias", "joins", "laterals", "pivots", "sample", "version", "when"}
    ),
    exp.Lateral: frozenset({"this", "view", "outer", "alias", "cross_apply"}),
    exp.Select: frozenset(
        {"with_", "hint", "distinct", "expressions", "from_", "joins", "laterals", "where", "group", "having"}
        | {"qualify", "windows", "distribute", "sort", "cluster", "order", "limit", "offset", "sample", "pivots"}
    ),
}
_WORDS_OF_THE_PROCESS = words("user current_user session_user current_catalog current_database current_schema")
_SAYS = "a query reads tables, and nothing else"


_DERIVED_KINDS = Kinds(exp.Query, exp.UDTF, exp.DerivedTable)
_FUNCTION = Kinds(exp.Func)
_OTHERWISE = Kinds(
    exp.Table, exp.Lateral, *_READS, exp.Hint, exp.Parameter, exp.SessionParameter,
    exp.Command, exp.DDL, exp.DML, exp.Into, exp.QueryTransform,
)  # fmt: skip
_ANONYMOUS, _PREDICATE, _DOT = Kinds(exp.Anonymous), Kinds(exp.Predicate), Kinds(exp.Dot)


@dataclass(frozen=True)
class Refused:
    """A part of a query that it may not hold.

    Attributes:
        node: Where it stands.
        message: What it is.
        hint: What may stand there.
        reads: Whether it stands where a table does; else it is computed.
    """

    node: exp.Expr
    message: str
    hint: str | None = None
    reads: bool = False


def refused_relations(nodes: Iterable[exp.Expr]) -> Iterator[Refused]:
    """What stands in place of a table and is none.

    Args:
        nodes: All of a tree.

    Example:
        >>> from sqlglot import parse_one
        >>> [found.message for found in refused_relations(parse_one("SELECT * FROM STREAM(a)", dialect="spark").walk())]
        ['STREAM(…) is no table']
    """
    has_ctes = False
    for node in nodes:
        kind = type(node)
        if kind is exp.With and not has_ctes:
            has_ctes = True
            yield from _endless_reads(node)
        is_derived = _DERIVED_KINDS[kind] and not _FUNCTION[kind]
        if is_derived and kind not in (*_RELATIONS, exp.CTE):
            yield Refused(node, f"{node.key.upper()} is no table", _SAYS, reads=True)
            continue
        for name, value in node.args.items() if kind in _ARGUMENTS else ():
            if value and name not in _ARGUMENTS[kind]:
                word = name.strip("_").upper()
                yield Refused(node, f"{word} is not understood in a {node.key.upper()}", _SAYS, reads=True)
        if not _OTHERWISE[kind]:
            continue
        if isinstance(node, exp.Table):
            yield from _table(node)
        elif isinstance(node, exp.Lateral) and not isinstance(node.this, exp.Subquery):
            yield from _row_maker(node.this)
        elif isinstance(node, _READS) and not isinstance(node.this, _RELATIONS):
            yield Refused(node.this, f"{_short(node.this)} is no table", _SAYS, reads=True)
        elif isinstance(node, exp.Hint) and node.find(exp.Query):
            yield Refused(node, "a hint names tables", "write it without a sub-query", reads=True)
        elif isinstance(node, (exp.Parameter, exp.SessionParameter)):
            yield Refused(node, "this is no Spark SQL", "write the value itself")
        elif isinstance(node, (exp.Command, exp.DDL, exp.DML, exp.Into, exp.QueryTransform)) and not isinstance(
            node, exp.Query
        ):
            yield Refused(node, "a query may not run a program or write", _SAYS)


def _endless_reads(first: exp.Expr) -> Iterator[Refused]:
    """CTEs that each read the one before twice: Spark writes them out, and so do we, so each doubles the time."""
    if written_out(first.root()) > MOST_READS:
        yield Refused(
            first,
            f"the query reads more than {MOST_READS:,} tables, each CTE written out where it is read",
            "read each CTE fewer times; in a flow, let a step write what several parts read",
        )


def _table(node: exp.Table) -> Iterator[Refused]:
    if isinstance(node.this, exp.Identifier):
        return
    if isinstance(node.this, exp.Func):
        yield from _row_maker(node.this)
    else:
        yield Refused(node, f"{_short(node)} is no table", "a table is layer.table", reads=True)


def _row_maker(call: exp.Expr) -> Iterator[Refused]:
    name = function_name(call)
    if name not in TABLE_FUNCTIONS:
        if name in ("table", "identifier"):
            yield Refused(call, f"{_short(call)} is no table", "write the name of the table alone", reads=True)
            return
        hint = did_you_mean(name, TABLE_FUNCTIONS, f"{_SAYS}; rows are made by {', '.join(sorted(TABLE_FUNCTIONS))}")
        yield Refused(call, f"{_short(call)} is no table", hint, reads=True)


def refused_calls(nodes: Iterable[exp.Expr], known: Collection[str]) -> Iterator[Refused]:
    """Calls of functions that are not among the known ones, or may never end.

    Args:
        nodes: All of any part of a query.
        known: Lower-case names of the functions that may be called.
    """
    for node in nodes:
        kind = type(node)
        if kind in _PATTERNS or (_ANONYMOUS[kind] and function_name(node) in _OTHER_NAMES):
            yield from _slow_patterns(node)
        if kind is exp.DataType and node.args.get("collate") and "collate" not in known:
            yield Refused(node.parent or node, f"COLLATE {REFUSED['collate']}", _INSTEAD["collate"])
        if _DOT[kind] and isinstance(node.expression, exp.Func):
            yield Refused(node, f"unknown function '{node.sql('spark').partition('(')[0]}'", _BUILT_IN)
        elif _ANONYMOUS[kind] or (_FUNCTION[kind] and kind not in TYPED and not _PREDICATE[kind]):
            name = function_name(node)
            if name in NOT_OF_VALUES:
                yield Refused(node, f"{name}() does more than compute with values: it {REFUSED[name]}", _BUILT_IN)
            elif name in REFUSED and name not in known:
                yield Refused(node, f"{name}() is not taken: it {REFUSED[name]}", _INSTEAD.get(name, _BUILT_IN))
            elif name == "identifier":
                yield Refused(node, "IDENTIFIER(…) is not taken", "write the name itself")
            elif name not in known:
                yield Refused(node, f"unknown function '{name}'", did_you_mean(name, known, _BUILT_IN))


def _slow_patterns(node: exp.Expr) -> Iterator[Refused]:
    """A regular expression that can take exponential time, as far as its text is known before any row is read."""
    names = _PATTERNS.get(type(node))
    first = _OTHER_NAMES.get(function_name(node), 0) if names is None else 0
    patterns = node.expressions[first:] if names is None else [node.args.get(name) for name in names]
    for pattern in (one for one in patterns if isinstance(one, exp.Expr)):
        if why := next(filter(None, map(why_slow, sorted(pattern_texts(pattern)))), None):
            yield Refused(node, f"this regular expression {why}", _SLOW)


_SLOW = "repeat no part that repeats itself, such as (a+)+, and no choice whose sides begin alike, such as (a|ab)*"
_EXPRESSION = ("expression",)
_PATTERNS: dict[type[exp.Expr], tuple[str, ...]] = {
    **dict.fromkeys(
        (
            exp.RegexpLike,
            exp.RegexpILike,
            exp.RegexpReplace,
            exp.RegexpExtract,
            exp.RegexpExtractAll,
            exp.RegexpSplit,
            exp.RegexpCount,
            exp.RegexpInstr,
            exp.RegexpSubstr,
        ),
        _EXPRESSION,
    ),
    exp.StrToMap: ("pair_delim", "key_value_delim"),
    exp.ParseUrl: ("key",),
}
"""What Spark gives to Java's regular expressions, and where."""
_OTHER_NAMES = {"regexp": 1, "rlike": 1, "regexp_like": 1, "try_parse_url": 2}
"""Functions for which the parser has no class of its own → the first argument that is given."""

_BUILT_IN = "only functions built into Spark can be used that compute with values"
_INSTEAD = {"collate": "leave COLLATE out; compare or group by lower(…) where case makes no difference"}


def process_words(tree: exp.Expr, columns: Collection[str]) -> Iterator[Refused]:
    """Words that Spark takes for a function of the process, such as `current_user`, where no column has that name.

    Args:
        tree: A query.
        columns: Lower-case names of all columns of the tables it reads.
    """
    for node in tree.walk():
        name = ""
        if isinstance(node, (exp.CurrentUser, exp.SessionUser, exp.CurrentDatabase, exp.CurrentCatalog)):
            name = node.key
        elif isinstance(node, exp.Column) and not node.table and node.name.lower() not in columns:
            name = node.name.lower() if node.name.lower() in _WORDS_OF_THE_PROCESS else ""
        if name:
            yield Refused(node, f"'{name}' shows facts of the process, which no query may see", _SAYS)


def _short(node: exp.Expr) -> str:
    if isinstance(node, exp.Func):
        return f"{function_name(node).upper()}(…)"
    text = node.sql("spark")
    return text if len(text) <= 60 else f"{text[:57]}…"
