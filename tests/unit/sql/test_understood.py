"""Nothing that sqlglot's trees can hold is passed over in silence."""

from collections.abc import Iterator

import pytest
from sqlglot import exp
from sqlglot.optimizer.scope import Scope, build_scope

from streamhouse.errors import Location
from streamhouse.sql import functions
from streamhouse.sql.dialect import parse_query
from streamhouse.sql.infer import Inference
from streamhouse.sql.relations import Leaf, Node, UnfollowedError
from streamhouse.sql.understood import CLAUSES, EXPRESSIONS, SAYS_NOTHING, refuse_unknown
from streamhouse.sql.unfold import unfold
from tests.equal_pairs import meaning
from tests.sql_corpus import LINES, columns
from tests.tables import each

PORTS = {"lines": {c.name: c for c in columns(LINES)}}
_CALLED_OTHERWISE = frozenset({"window", "filter", "any"})
_MEAN_THE_SAME = frozenset({"ilike", "like", "mod"})  # `mod(a, b)` is `a % b`


def _classes(of: type[exp.Expr] = exp.Expr) -> Iterator[type[exp.Expr]]:
    for one in of.__subclasses__():
        yield one
        yield from _classes(one)


CLASSES = sorted(set(_classes()), key=lambda kind: kind.__name__)


def _made(kind: type[exp.Expr], arguments: dict[str, object]) -> exp.Expr | None:
    try:
        return kind(**arguments)
    except TypeError:  # a trait, which no tree holds
        return None


def _column(name: str) -> exp.Column:
    return exp.column(name, table="lines")


def _node(value: exp.Expr) -> Node | str:
    """What an expression becomes as an output column; or why it does not."""
    query = exp.select(exp.alias_(value, "given", copy=False)).from_("lines")
    scope = build_scope(query)
    assert isinstance(scope, Scope)
    try:
        relation = unfold(scope, {"lines": Leaf("lines", "changes")}, Inference(PORTS))
    except UnfollowedError as error:
        return str(error)
    return relation.outputs["given"]  # type: ignore[union-attr]


def _least(kind: type[exp.Expr]) -> dict[str, object]:
    """Arguments without which the class makes no sense here."""
    if kind in {exp.Cast, exp.TryCast}:
        return {"this": _column("a"), "to": exp.DataType.build("string")}
    if kind is exp.Literal:
        return {"this": "1", "is_string": False}
    if kind is exp.Star:
        return {}
    return {name: _column("a") for name, needed in kind.arg_types.items() if needed}


@each("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_every_class_and_argument_counts_or_makes_a_query_opaque(kind: type[exp.Expr]) -> None:
    if kind in CLAUSES or issubclass(kind, exp.Query):
        return
    if kind not in EXPRESSIONS:
        made = _made(kind, _least(kind))
        assert made is None or isinstance(_node(made), str), (
            f"{kind.__name__} is not in EXPRESSIONS, and still followed"
        )
        return
    for name in {*kind.arg_types, "of_a_later_version"}:
        if name in EXPRESSIONS[kind]:
            continue
        for value in (_column("big"), [_column("big")], True, "a word"):
            if value == SAYS_NOTHING.get((kind, name)):
                continue
            made = _made(kind, {**_least(kind), name: value})
            assert made is not None
            assert isinstance(_node(made), str), f"{kind.__name__}.{name} = {value!r} is passed over"


_LEFT_OUT = {  # what stands there is no part of the meaning, or no expression
    (exp.Identifier, "quoted"), (exp.Literal, "is_string"), (exp.DataType, "nested"), (exp.Column, "this"),
}  # fmt: skip
_READ_ELSEWHERE = frozenset(
    {exp.Column, exp.Literal, exp.DataType, exp.ColumnDef, exp.DataTypeParam, exp.Star, exp.Identifier}
)
"""Leaves, which `test_canonical` and `different.sql` tell apart."""


@each("kind", sorted(EXPRESSIONS, key=lambda c: c.__name__), ids=lambda kind: kind.__name__)
def test_every_argument_that_is_known_reaches_the_node(kind: type[exp.Expr]) -> None:
    assert EXPRESSIONS[kind] <= kind.arg_types.keys()
    if kind in _READ_ELSEWHERE:
        return
    for name in EXPRESSIONS[kind]:
        one, other = (_made(kind, _with(kind, name, column)) for column in ("big", "sm"))
        assert one is not None
        assert other is not None
        first, second = _node(one), _node(other)
        assert isinstance(first, str) or first != second, f"{kind.__name__}.{name} is passed over"


def _with(kind: type[exp.Expr], name: str, column: str) -> dict[str, object]:
    rest = _least(kind)
    if name == "to":
        return {**rest, name: exp.DataType.build("string" if column == "big" else "int")}
    if name == "safe":
        return {**rest, name: column == "big"}
    if kind is exp.Boolean:
        return {name: column == "big"}
    several = name in {"expressions", "ifs", "partition_by"}
    value: object = (
        [_column(column)] if several else column if kind in {exp.Anonymous, exp.Var, exp.HexString} else _column(column)
    )
    return {**rest, name: value}


_EVERY_CLAUSE = """
    WITH w AS (SELECT a FROM lines), v AS (SELECT a, b FROM lines)
    SELECT l.a AS one, max(e) AS most FROM lines AS l LEFT JOIN (SELECT w.a AS c FROM w WHERE w.a > 1) AS q ON q.c = l.a
    LATERAL VIEW OUTER explode(l.arr) t AS e WHERE l.b GROUP BY l.a HAVING max(l.a) > 1
    ORDER BY one DESC LIMIT 3 OFFSET 1
"""
_COMBINED = "SELECT a FROM lines {} SELECT a FROM lines"


@pytest.mark.parametrize("kind", sorted(CLAUSES, key=lambda c: c.__name__), ids=lambda kind: kind.__name__)
def test_every_other_part_of_a_clause_makes_a_query_opaque(kind: type[exp.Expr]) -> None:
    sql = _COMBINED.format(kind.key) if issubclass(kind, exp.SetOperation) else _EVERY_CLAUSE
    assert CLAUSES[kind] <= kind.arg_types.keys()
    for name in {*kind.arg_types, "of_a_later_version"} - CLAUSES[kind]:
        for value in (exp.column("a"), True, "a word"):
            tree = parse_query(sql, Location(""))
            node = tree.find(kind)
            assert node is not None
            node.set(name, value)
            with pytest.raises(UnfollowedError):
                refuse_unknown(tree)
    refuse_unknown(parse_query(sql, Location("")))


def test_no_class_is_written_like_a_function_that_it_is_not() -> None:
    known = {*functions.FIXED, *functions.RULES, *functions.AGGREGATES, *functions.GENERATORS, *functions.RANKS}
    others = {kind.key for kind in EXPRESSIONS if not issubclass(kind, exp.Func)}
    assert others & known == _CALLED_OTHERWISE | _MEAN_THE_SAME


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("SELECT cust, count(*) AS n FROM o GROUP BY CUBE (cust)", "CUBE"),
        ("SELECT max(id) AS id FROM o GROUP BY cust ORDER BY min(id) LIMIT 1", "aggregate of an output column"),
    ],
)
def test_why_a_query_is_opaque(sql: str, why: str) -> None:
    found = meaning(sql)
    assert found.rows is None, found.key
    assert found.why


def test_an_opaque_query_is_compared_by_its_words() -> None:
    first = "SELECT cust, sum(amt) AS s FROM o GROUP BY ROLLUP (cust)"
    assert meaning(first).means(meaning("SELECT  cust, sum(amt) AS s /* all */\nFROM o GROUP BY ROLLUP (cust)"))
    assert not meaning(first).means(meaning("SELECT cust, sum(amt) AS s FROM o GROUP BY CUBE (cust)"))
