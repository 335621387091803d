"""The part of Spark SQL that DuckDB answers alike, rewritten for it. Pure.

A query is taken only when every piece of it is on the list below and has types for which both engines are known to
agree: equal values, equal types, equal names of columns. Everything else is Spark's. Left out on purpose: floating
point (order of addition, NaN, negative zero), division, casts, functions of text and time, window functions.
What DuckDB finds wrong or cannot compute (an overflow) is asked of Spark again, so that errors are Spark's, too.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from streamhouse.model.table import Column
from streamhouse.query.columns import table_name
from streamhouse.query.parse import Query
from streamhouse.query.plain_values import (
    INTEGERS,
    NotPlainError,
    TypedExpression,
    average,
    pair,
    plain_literal,
    refuse_inexact,
    refuse_other,
    refuse_unknown,
    summed,
    typed_expression,
)

_COMPARED = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
_COMPUTED = (exp.Add, exp.Sub, exp.Mul)
_SELECT = {"expressions", "from_", "joins", "where", "group", "having", "order", "limit", "distinct", "with_"}
_UNION = {"this", "expression", "distinct", "with_", "order", "limit"}
_MOST_ROWS = 1 << 31


@dataclass(frozen=True)
class Plain:
    """A query for DuckDB; it reads relations by the names of `Query.uses`, and gives `columns`."""

    sql: str
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class _Relation:
    alias: str
    columns: tuple[Column, ...]


def plain(query: Query) -> Plain:
    """Rewrite a query for DuckDB.

    Raises:
        NotPlainError: it is Spark's.
    """
    uses = {use.name: tuple(use.shown.column(name) for name in use.columns) for use in query.uses}
    tree, columns = _Rewriting(uses).query(query.tree, {})
    return Plain(tree.sql("duckdb"), columns)


class _Rewriting:
    def __init__(self, uses: Mapping[str, tuple[Column, ...]]) -> None:
        self._uses = uses

    def _ctes(self, with_: exp.With, known: dict[str, tuple[Column, ...]]) -> list[exp.CTE]:
        """The WITH queries, each added to what is known."""
        if with_.args.get("recursive"):
            raise NotPlainError("a recursive query")
        ctes: list[exp.CTE] = []
        for cte in with_.expressions:
            if cte.args["alias"].args.get("columns") or cte.alias.lower() in known:
                raise NotPlainError("a CTE that renames")
            inner, known[cte.alias.lower()] = self.query(cte.this, known)
            ctes.append(exp.CTE(this=inner, alias=exp.TableAlias(this=_quoted(cte.alias.lower()))))
        return ctes

    def query(self, tree: exp.Expr, ctes: Mapping[str, tuple[Column, ...]]) -> tuple[exp.Query, tuple[Column, ...]]:
        if isinstance(tree, exp.Subquery) and tree.is_wrapper:
            return self.query(tree.this, ctes)
        known = dict(ctes)
        with_queries = self._ctes(tree.args["with_"], known) if tree.args.get("with_") is not None else []
        found: exp.Query
        if isinstance(tree, exp.Select):
            found, columns = _Select(self, known).rewritten(tree)
        elif type(tree) is exp.Union:
            found, columns = self._union(tree, known)
        else:
            raise NotPlainError(tree.key.upper())
        if with_queries:
            found.set("with_", exp.With(expressions=with_queries))
        return found, columns

    def relation(self, node: exp.Expr, ctes: Mapping[str, tuple[Column, ...]]) -> tuple[exp.Expr, _Relation]:
        alias = node.args.get("alias")
        if alias is not None and alias.args.get("columns"):
            raise NotPlainError("columns that an alias renames")
        if isinstance(node, exp.Subquery):
            refuse_unknown(node, {"this", "alias"})
            inner, columns = self.query(node.this, ctes)
            name = node.alias.lower()
            if not name:
                raise NotPlainError("a sub-query without a name")
            return exp.Subquery(this=inner, alias=exp.TableAlias(this=_quoted(name))), _Relation(name, columns)
        if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
            raise NotPlainError("a table function")
        refuse_unknown(node, {"this", "db", "alias"})
        name = table_name(node)
        columns_ = self._uses.get(name) if node.db else ctes.get(name)
        if columns_ is None:
            raise NotPlainError(f"table {name}")
        shown = (node.alias or node.name).lower()
        return exp.Table(this=_quoted(name), alias=exp.TableAlias(this=_quoted(shown))), _Relation(shown, columns_)

    def _union(self, tree: exp.Union, ctes: Mapping[str, tuple[Column, ...]]) -> tuple[exp.Query, tuple[Column, ...]]:
        refuse_unknown(tree, _UNION)
        (left, columns), (right, others) = self.query(tree.this, ctes), self.query(tree.expression, ctes)
        if [c.type for c in columns] != [c.type for c in others]:
            raise NotPlainError("a union of columns of different types")
        if tree.args.get("distinct"):
            refuse_inexact("UNION", *(c.type for c in columns))
        union: exp.Query = exp.Union(this=_nested(left), expression=_nested(right), distinct=tree.args["distinct"])
        if tree.args.get("order"):
            outputs = [TypedExpression(exp.Column(this=_quoted(c.name)), c.type, c.name) for c in columns]
            union.set("order", _order(tree.args["order"], outputs, _no_columns))
        _limit(tree, union)
        return union, columns


class _Select:
    """One SELECT: the relations it reads and the columns it makes."""

    def __init__(self, whole: _Rewriting, ctes: Mapping[str, tuple[Column, ...]]) -> None:
        self._whole = whole
        self._ctes = ctes
        self._relations: list[_Relation] = []
        self._using: dict[str, str] = {}  # a column that USING merged → the alias whose value it has

    def rewritten(self, tree: exp.Select) -> tuple[exp.Select, tuple[Column, ...]]:
        refuse_unknown(tree, _SELECT)
        found = exp.Select()
        self._sources(tree, found)
        if (where := tree.args.get("where")) is not None:
            found.set("where", exp.Where(this=self._truth(where.this)))
        outputs = [one for select in tree.expressions for one in self._output(select)]
        names = _names(outputs)
        aliased = [exp.alias_(one.tree, _quoted(name)) for one, name in zip(outputs, names, strict=True)]
        found.set("expressions", aliased)
        grouped = self._group(tree, found, outputs)
        if (having := tree.args.get("having")) is not None:
            found.set("having", self._having(having, outputs, grouped=grouped))
        if (distinct := tree.args.get("distinct")) is not None:
            found.set("distinct", _distinct(distinct, outputs))
        if (order := tree.args.get("order")) is not None:
            inner = _no_columns if grouped or distinct is not None else self._value
            found.set("order", _order(order, outputs, inner))
        _limit(tree, found)
        return found, tuple(Column(name=n, type=o.type) for n, o in zip(names, outputs, strict=True))

    def _having(self, tree: exp.Expr, outputs: Sequence[TypedExpression], *, grouped: bool) -> exp.Having:
        if not grouped:
            raise NotPlainError("HAVING without groups")
        return exp.Having(this=self._truth(tree.this, outputs))

    def _sources(self, tree: exp.Select, found: exp.Select) -> None:
        if (first := tree.args.get("from_")) is None:
            raise NotPlainError("no FROM")
        source, relation = self._whole.relation(first.this, self._ctes)
        found.set("from_", exp.From(this=source))
        self._add(relation)
        for join in tree.args.get("joins") or []:
            found.append("joins", self._join(join))

    def _add(self, relation: _Relation) -> None:
        if any(known.alias == relation.alias for known in self._relations):
            raise NotPlainError("two tables of one name")
        self._relations.append(relation)

    def _join(self, join: exp.Join) -> exp.Join:
        refuse_unknown(join, {"this", "side", "kind", "on", "using"})
        side, kind = str(join.args.get("side") or "").upper(), str(join.args.get("kind") or "").upper()
        if side not in ("", "LEFT") or kind not in ("", "INNER", "CROSS", "OUTER"):
            raise NotPlainError(f"{side} {kind} JOIN".strip())
        left = list(self._relations)
        source, relation = self._whole.relation(join.this, self._ctes)
        self._add(relation)
        result = exp.Join(this=source, side=side or None)
        if using := join.args.get("using"):
            parts = [self._merged(name.name.lower(), left, relation) for name in using]
            result.set("on", exp.and_(*parts))
        elif on := join.args.get("on"):
            result.set("on", self._truth(on))
        elif side:
            raise NotPlainError("a LEFT JOIN without a condition")
        else:
            result.set("kind", "CROSS")
        return result

    def _merged(self, name: str, left: Sequence[_Relation], right: _Relation) -> exp.Expr:
        holders = [one for one in left if _has(one, name)]
        if len(holders) != 1 or not _has(right, name):
            raise NotPlainError(f"USING ({name})")
        ours, theirs = self._column_of(holders[0], name), self._column_of(right, name)
        if ours.type != theirs.type:
            raise NotPlainError(f"USING ({name}) of different types")
        refuse_inexact("USING", ours.type)
        self._using[name] = holders[0].alias
        return exp.EQ(this=ours.tree, expression=theirs.tree)

    def _group(self, tree: exp.Select, found: exp.Select, outputs: Sequence[TypedExpression]) -> bool:
        group = tree.args.get("group")
        if group is None:
            return any(one.aggregates for one in outputs)
        refuse_unknown(group, {"expressions"})
        keys = []
        for key in group.expressions:
            if isinstance(key, exp.Literal) and not key.is_string and 0 < int(key.name) <= len(outputs):
                one = outputs[int(key.name) - 1]
            elif isinstance(key, exp.Column):
                one = self._value(key)
            else:
                raise NotPlainError("a computed key of GROUP BY")
            if one.aggregates or not isinstance(one.tree, exp.Column):
                raise NotPlainError("a computed key of GROUP BY")
            refuse_inexact("GROUP BY", one.type)
            keys.append(one.tree.copy())
        found.set("group", exp.Group(expressions=keys))
        return True

    def _output(self, select: exp.Expr) -> list[TypedExpression]:
        if isinstance(select, exp.Star):
            return self._star(select, None)
        if isinstance(select, exp.Column) and isinstance(select.this, exp.Star):
            return self._star(select.this, select.table.lower())
        name = select.alias if isinstance(select, exp.Alias) else None
        one = self._value(select.unalias())
        return [TypedExpression(one.tree, one.type, name or one.name, one.aggregates)]

    def _star(self, star: exp.Star, alias: str | None) -> list[TypedExpression]:
        refuse_unknown(star, set())
        if self._using:
            raise NotPlainError("* over USING")
        relations = [one for one in self._relations if alias in (None, one.alias)]
        return [
            TypedExpression(exp.column(_quoted(c.name), table=_quoted(one.alias)), c.type, c.name)
            for one in relations
            for c in one.columns
        ]

    def _truth(self, tree: exp.Expr, outputs: Sequence[TypedExpression] = ()) -> exp.Expr:
        one = self._value(tree, outputs)
        if one.type != "boolean":
            raise NotPlainError("a condition that is no condition")
        return one.tree

    def _value(self, tree: exp.Expr, outputs: Sequence[TypedExpression] = ()) -> TypedExpression:
        """An expression, its type and the name that Spark would give it; `outputs` may be named, too."""

        def value(part: exp.Expr) -> TypedExpression:
            return self._value(part, outputs)

        if isinstance(tree, exp.Column):
            return self._column(tree, outputs)
        if isinstance(tree, exp.Paren):
            one = value(tree.this)
            return TypedExpression(exp.Paren(this=one.tree), one.type, None, one.aggregates)
        if isinstance(tree, exp.Like):
            return self._like(tree, value)
        if isinstance(tree, exp.AggFunc):
            return self._aggregate(tree)
        return _logical(tree, value) or _compared(tree, value) or _computed(tree, value) or plain_literal(tree)

    def _column(self, tree: exp.Column, outputs: Sequence[TypedExpression]) -> TypedExpression:
        if tree.db or isinstance(tree.this, exp.Star):
            raise NotPlainError(f"column {tree.sql()}")
        name, alias = tree.name.lower(), tree.table.lower()
        named = [one for one in outputs if not alias and (one.name or "").lower() == name]
        holders = [one for one in self._relations if _has(one, name) and alias in ("", one.alias)]
        if not alias and name in self._using:
            holders = [one for one in holders if one.alias == self._using[name]]
        if named:
            ours = [] if not holders else [self._column_of(one, name).tree for one in holders]
            if ours and ours != [named[0].tree]:
                raise NotPlainError(f"{tree.name}, which is a column and a name given here")
            return named[0]
        if len(holders) != 1:
            raise NotPlainError(f"column {tree.name}")
        one = self._column_of(holders[0], name)
        return TypedExpression(one.tree, one.type, tree.name)

    def _column_of(self, relation: _Relation, name: str) -> TypedExpression:
        column = next(c for c in relation.columns if c.name.lower() == name)
        return TypedExpression(
            exp.column(_quoted(column.name), table=_quoted(relation.alias)), column.type, column.name
        )

    def _like(self, tree: exp.Like, value: Callable[[exp.Expr], TypedExpression]) -> TypedExpression:
        one, pattern = value(tree.this), tree.expression
        if one.type != "string" or not isinstance(pattern, exp.Literal) or not pattern.is_string:
            raise NotPlainError("LIKE")
        if "_" in pattern.name or "\\" in pattern.name:
            raise NotPlainError("LIKE with _ or \\")
        return typed_expression(exp.Like(this=one.tree, expression=exp.Literal.string(pattern.name)), "boolean", one)

    def _aggregate(self, tree: exp.AggFunc) -> TypedExpression:
        inner, distinct = _counted(tree) if isinstance(tree, exp.Count) else (tree.this, False)
        if isinstance(tree, exp.Count) and (rows := _all_rows(inner)) is not None:
            return rows
        if type(tree) not in (exp.Count, exp.Sum, exp.Min, exp.Max, exp.Avg):
            raise NotPlainError(tree.key.upper())
        refuse_unknown(tree, {"this", "expressions", "big_int"})
        one = self._value(inner)
        if one.aggregates:
            raise NotPlainError("an aggregate of an aggregate")
        word = tree.key.lower()
        name = f"{word}({'DISTINCT ' if distinct else ''}{one.name})" if isinstance(inner, exp.Column) else None
        if isinstance(tree, exp.Count):
            return _count(one, name, distinct=distinct)
        if isinstance(tree, exp.Sum):
            return summed(one, name)
        if isinstance(tree, exp.Avg):
            return TypedExpression(average(one), "double", name, aggregates=True)
        refuse_inexact(word.upper(), one.type)
        return TypedExpression(type(tree)(this=one.tree), one.type, name, aggregates=True)


def _order(
    order: exp.Order, outputs: Sequence[TypedExpression], inner: Callable[[exp.Expr], TypedExpression]
) -> exp.Order:
    refuse_unknown(order, {"expressions"})
    keys = []
    for key in order.expressions:
        if not isinstance(key, exp.Ordered):
            raise NotPlainError("ORDER BY")
        refuse_unknown(key, {"this", "desc", "nulls_first"})
        place = _place(key.this, outputs)
        one = outputs[place - 1] if place is not None else inner(key.this)
        if one.aggregates and place is None:
            raise NotPlainError("ORDER BY an aggregate")
        refuse_inexact("ORDER BY", one.type)
        said = exp.Literal.number(place) if place is not None else one.tree
        keys.append(
            exp.Ordered(this=said, desc=bool(key.args.get("desc")), nulls_first=bool(key.args.get("nulls_first")))
        )
    return exp.Order(expressions=keys)


def _no_columns(tree: exp.Expr) -> TypedExpression:
    raise NotPlainError(f"ORDER BY {tree.sql()}, which is not selected")


def _limit(tree: exp.Query, found: exp.Query) -> None:
    if (limit := tree.args.get("limit")) is not None:
        most = limit.expression
        if not isinstance(most, exp.Literal) or not most.name.isdigit() or int(most.name) >= _MOST_ROWS:
            raise NotPlainError("LIMIT")
        found.set("limit", exp.Limit(expression=exp.Literal.number(most.name)))


def _has(relation: _Relation, name: str) -> bool:
    return any(column.name.lower() == name for column in relation.columns)


def _nested(tree: exp.Query) -> exp.Query:
    return exp.Subquery(this=tree)


def _quoted(name: str) -> exp.Identifier:
    return exp.Identifier(this=name, quoted=True)


def _names(outputs: Sequence[TypedExpression]) -> list[str]:
    names = [one.name for one in outputs if one.name is not None]
    if len(names) < len(outputs):
        raise NotPlainError("a computed column without a name")
    if len({name.lower() for name in names}) < len(names):
        raise NotPlainError("two columns of one name")
    return names


def _distinct(tree: exp.Expr, outputs: Sequence[TypedExpression]) -> exp.Distinct:
    refuse_unknown(tree, set())
    refuse_inexact("DISTINCT", *(one.type for one in outputs))
    return exp.Distinct()


def _place(by: exp.Expr, outputs: Sequence[TypedExpression]) -> int | None:
    """The output column that ORDER BY names, from 1; None: it is none."""
    place = None
    if isinstance(by, exp.Literal) and not by.is_string:
        place = int(by.name)
    elif isinstance(by, exp.Column) and not by.table:
        found = [n for n, one in enumerate(outputs, 1) if (one.name or "").lower() == by.name.lower()]
        place = found[0] if found else None
    if place is not None and not 0 < place <= len(outputs):
        raise NotPlainError("ORDER BY")
    return place


def _counted(tree: exp.Count) -> tuple[exp.Expr, bool]:
    """What is counted, and whether each value once."""
    inner, distinct = tree.this, False
    if isinstance(inner, exp.Distinct):
        refuse_unknown(inner, {"expressions"})
        if len(inner.expressions) != 1:
            raise NotPlainError("COUNT(DISTINCT) of several columns")
        inner, distinct = inner.expressions[0], True
    if tree.expressions:
        raise NotPlainError("COUNT of several columns")
    return inner, distinct


def _all_rows(counted: exp.Expr) -> TypedExpression | None:
    """COUNT of `*` or of a number, which counts all rows; None: it counts something else."""
    if not isinstance(counted, exp.Star) and (not isinstance(counted, exp.Literal) or counted.is_string):
        return None
    refuse_unknown(counted, {"this", "is_string"})
    name = "count(1)" if isinstance(counted, exp.Star) or counted.name == "1" else None
    return TypedExpression(exp.Count(this=exp.Star()), "bigint", name, aggregates=True)


def _count(one: TypedExpression, name: str | None, *, distinct: bool) -> TypedExpression:
    if distinct:
        refuse_inexact("COUNT(DISTINCT)", one.type)
    counted = exp.Distinct(expressions=[one.tree]) if distinct else one.tree
    return TypedExpression(exp.Count(this=counted), "bigint", name, aggregates=True)


def _logical(tree: exp.Expr, value: Callable[[exp.Expr], TypedExpression]) -> TypedExpression | None:
    """AND, OR, NOT and IS NULL; None: it is none of these."""
    if isinstance(tree, exp.And | exp.Or):
        left, right = value(tree.left), value(tree.right)
        refuse_other("AND", "boolean", left, right)
        return typed_expression(type(tree)(this=left.tree, expression=right.tree), "boolean", left, right)
    if isinstance(tree, exp.Not):
        one = value(tree.this)
        refuse_other("NOT", "boolean", one)
        return typed_expression(exp.Not(this=exp.paren(one.tree)), "boolean", one)
    if isinstance(tree, exp.Is) and isinstance(tree.expression, exp.Null):
        one = value(tree.this)
        return typed_expression(exp.Is(this=one.tree, expression=exp.Null()), "boolean", one)
    return None


def _compared(tree: exp.Expr, value: Callable[[exp.Expr], TypedExpression]) -> TypedExpression | None:
    """Comparisons, BETWEEN and IN; None: it is none of these."""
    if type(tree) in _COMPARED:
        left, right = pair(tree.this, tree.expression, value)
        return typed_expression(type(tree)(this=left.tree, expression=right.tree), "boolean", left, right)
    if isinstance(tree, exp.Between):
        refuse_unknown(tree, {"this", "low", "high"})
        low, high = (pair(tree.this, tree.args[bound], value) for bound in ("low", "high"))
        between = exp.Between(this=low[0].tree, low=low[1].tree, high=high[1].tree)
        return typed_expression(between, "boolean", *low, *high)
    if isinstance(tree, exp.In):
        refuse_unknown(tree, {"this", "expressions"})
        pairs = [pair(tree.this, one, value) for one in tree.expressions]
        if not pairs or not isinstance(tree.this, exp.Column):
            raise NotPlainError("IN")
        inside = exp.In(this=pairs[0][0].tree, expressions=[right.tree for _, right in pairs])
        return typed_expression(inside, "boolean", *(side for pair in pairs for side in pair))
    return None


def _computed(tree: exp.Expr, value: Callable[[exp.Expr], TypedExpression]) -> TypedExpression | None:
    """Arithmetic on whole numbers; None: it is none."""
    if type(tree) not in _COMPUTED:
        return None
    left, right = value(tree.this), value(tree.expression)
    if not {left.type, right.type} <= set(INTEGERS):
        raise NotPlainError("arithmetic on other than integers")
    wider = INTEGERS[max(INTEGERS.index(left.type), INTEGERS.index(right.type))]
    return typed_expression(type(tree)(this=left.tree, expression=right.tree), wider, left, right)
