"""PIVOT as one aggregate with FILTER for each column, UNPIVOT as rows made of an array.

Both take the columns that they do not name from what they read. Spark's own rewriting is `PivotTransformer` and
`UnpivotTransformer`; where a value has no rows, Spark gives NULL, also for a count, unless an aggregate of the same
PIVOT gives text or times.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import count

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.errors import Location, StrategyError
from streamhouse.model.table import Column
from streamhouse.sql.classes import Kinds
from streamhouse.sql.dialect import place_of, short
from streamhouse.sql.infer import Inference
from streamhouse.sql.names import name_of
from streamhouse.sql.resolved import qualified, scope_of
from streamhouse.sql.scopes import function_name
from streamhouse.sql.written import names_of

_MARK, _ROWS = "pivoted", "_pivot"
_TABLE = Kinds(exp.Table, exp.Subquery)
_FOLDS = frozenset({"sum", "avg", "min", "max", "count"})
_SUBQUERY = "write the aggregates with FILTER (WHERE …), or put what it reads into a sub-query"


def spell_pivots(query: exp.Query, visible: Mapping[str, Mapping[str, Column]], sql: str, at: Location) -> bool:
    """Write out each PIVOT and UNPIVOT; changes the tree.

    Args:
        query: As parsed.
        visible: Port → its columns as the query sees them.
        sql: Its text.
        at: Where that begins.

    Returns:
        Whether there was one, so that the nodes of the query are others now.

    Raises:
        StrategyError: one is not followed.
    """
    found = [node for node in query.walk() if _TABLE[type(node)] and node.args.get("pivots")]
    names = count()
    for source in reversed(found):  # an inner one first
        pivot = source.args["pivots"][0]
        place = place_of(pivot, sql, at)
        if len(source.args["pivots"]) > 1 or not isinstance(source.parent, exp.From) or _more_follows(source, pivot):
            word = "UNPIVOT" if pivot.args.get("unpivot") else "PIVOT"
            raise StrategyError(f"{word} stands behind more than one table", at=place, hint=_SUBQUERY)
        alias = pivot.args.get("alias") or source.args.get("alias")
        own = exp.to_identifier(f"{_ROWS}{next(names)}")
        columns, typed = _source(query, source, visible, at)
        source.set("pivots", None)
        if source.alias_or_name == "":
            source.set("alias", exp.TableAlias(this=own.copy()))
        inner = source.copy()
        inner.set("joins", None)
        inner.set("laterals", None)
        spelt = _Spelt(inner, pivot, columns, typed, place)
        select = spelt.unpivoted() if pivot.args.get("unpivot") else spelt.pivoted()
        named = alias if alias is not None else exp.TableAlias(this=exp.to_identifier(source.alias_or_name))
        source.replace(exp.Subquery(this=select, alias=named.copy()))
    return bool(found)


def _more_follows(source: exp.Expr, pivot: exp.Pivot) -> bool:
    """Whether joins are part of what a PIVOT reads; one behind an UNPIVOT is not."""
    select = source.find_ancestor(exp.Select)
    joins = select.args.get("joins") if select is not None else None
    views = select.args.get("laterals") if select is not None else None
    return bool(source.args.get("joins") or views or (joins and not pivot.args.get("unpivot")))


def _source(
    query: exp.Query, source: exp.Expr, visible: Mapping[str, Mapping[str, Column]], at: Location
) -> tuple[dict[str, str], "_Types"]:
    """The columns of what a PIVOT reads, each with its name as written, and their types."""
    source.meta[_MARK] = True
    tree = query.copy()
    source.meta.pop(_MARK)
    marked = next(node for node in tree.walk() if node.meta_get(_MARK))
    select = marked.find_ancestor(exp.Select)
    assert select is not None
    for node in list(tree.walk()):
        if _TABLE[type(node)]:
            node.set("pivots", None)
    if marked.alias_or_name == "":
        marked.set("alias", exp.TableAlias(this=exp.to_identifier(_ROWS)))
    name = marked.alias_or_name.lower()
    select.meta[_MARK] = True
    for clause in ("where", "group", "having", "order", "limit"):
        select.set(clause, None)
    select.set("expressions", [exp.Column(this=exp.Star(), table=exp.to_identifier(name))])
    tree = qualified(tree, visible, at)
    inference = Inference(visible)
    scope = next(s for s in scope_of(tree, at).traverse() if s.expression.meta_get(_MARK))
    return dict(names_of(scope.sources[name], inference)), _Types(inference, scope, name)


class _Types:
    """The types of the columns that a PIVOT reads."""

    def __init__(self, inference: Inference, scope: Scope, name: str) -> None:
        self._inference, self._scope, self._name = inference, scope, name

    def are_numbers(self, columns: Sequence[exp.Column]) -> bool:
        """Whether each of them is a number or a boolean; False where one is not known."""
        for column in columns:
            found = self._inference.type_of(exp.column(column.name.lower(), self._name), self._scope)
            if found is None or not (found.numeric or found.kind == "boolean"):
                return False
        return True


class _Spelt:
    def __init__(
        self, source: exp.Expr, pivot: exp.Pivot, columns: dict[str, str], types: _Types, at: Location
    ) -> None:
        self._source, self._pivot, self._columns, self._types, self._at = source, pivot, columns, types, at
        self._in = pivot.args["fields"][0]

    def _refused(self, message: str, hint: str) -> StrategyError:
        return StrategyError(message, at=self._at, hint=hint)

    def _rest(self, used: Sequence[exp.Expr]) -> list[str]:
        """The columns of the source that a PIVOT does not name."""
        named = {column.name.lower() for part in used for column in part.find_all(exp.Column)}
        return [name for name in self._columns if name not in named]

    # --- PIVOT ---

    def pivoted(self) -> exp.Select:
        keys = [_as_column(key) for key in _parts(self._in.this)]
        folds = [(item.alias, item.unalias()) for item in self._pivot.expressions]
        for _, call in folds:
            if function_name(call) not in _FOLDS:
                raise self._refused(f"{short(call)} in a PIVOT is not followed", _SUBQUERY)
        if len(folds) > 1 and not all(alias for alias, _ in folds):
            raise self._refused("an aggregate of a PIVOT has no name", "write sum(x) AS name for each of them")
        rest = self._rest([*keys, *(call for _, call in folds)])
        items: list[exp.Expr] = [exp.column(exp.to_identifier(self._columns[name])) for name in rest]
        seen: list[list[exp.Expr]] = []
        for value in self._in.expressions:
            name, parts = self._value(value)
            if parts in seen:
                raise self._refused(f"{short(value)} is twice in the IN of a PIVOT", "write each value once")
            seen.append(parts)
            if len(parts) != len(keys):
                raise self._refused(f"{short(value)} has other parts than FOR", "write one value for each column")
            met = exp.and_(
                *(exp.NullSafeEQ(this=k.copy(), expression=p.copy()) for k, p in zip(keys, parts, strict=True))
            )
            for alias, call in folds:
                text = f"{name}_{alias}" if len(folds) > 1 else name
                items.append(exp.alias_(self._folded(call, met, folds), exp.to_identifier(text)))
        select = exp.Select(expressions=items, from_=exp.From(this=self._source))
        if rest:
            select.set("group", exp.Group(expressions=[exp.column(exp.to_identifier(n)) for n in rest]))
        return select

    def _folded(self, call: exp.Expr, met: exp.Expr, folds: Sequence[tuple[str, exp.Expr]]) -> exp.Expr:
        filtered = exp.Filter(this=call.copy(), expression=exp.Where(this=met.copy()))
        if function_name(call) != "count" or not self._gives_numbers(folds):
            return filtered
        some = exp.GT(this=exp.CountIf(this=met.copy()), expression=exp.Literal.number(0))
        return exp.Case(ifs=[exp.If(this=some, true=filtered)])

    def _gives_numbers(self, folds: Sequence[tuple[str, exp.Expr]]) -> bool:
        """Whether all aggregates give numbers: then Spark picks each from a row, and none where there is no row."""
        picked = [call for _, call in folds if function_name(call) in ("min", "max")]
        if any(not isinstance(call.this, exp.Column) for call in picked):
            raise self._refused("min and max beside count in a PIVOT take a column", _SUBQUERY)
        return self._types.are_numbers([call.this for call in picked])

    def _value(self, value: exp.Expr) -> tuple[str, list[exp.Expr]]:
        alias = value.args["alias"].name if isinstance(value, exp.PivotAlias) else ""
        inner = value.this if isinstance(value, exp.PivotAlias) else value
        parts = [_unquoted(part) for part in _parts(inner)]
        if any(part.find(exp.Column, exp.Query) for part in parts):
            raise self._refused(f"{short(inner)} is no value", "write literals in the IN of a PIVOT")
        if not alias and isinstance(inner, exp.Tuple):
            raise self._refused(f"{short(inner)} has no name", "write (…) AS name")
        return alias or self._shown(parts[0]), parts

    def _shown(self, value: exp.Expr) -> str:
        if isinstance(value, exp.Literal):
            return str(value.name)
        if isinstance(value, exp.Boolean):
            return str(value.this).lower()
        if isinstance(value, exp.Null):
            return "null"
        if isinstance(value, exp.Cast) and isinstance(value.this, exp.Literal) and value.to.is_type(exp.DType.DATE):
            return str(value.this.name)
        raise self._refused(f"{short(value)} has no name", "write value AS name")

    # --- UNPIVOT ---

    def unpivoted(self) -> exp.Select:
        name = self._in.this.name
        values = [part.name for part in _parts(self._pivot.expressions[0])]
        rows: list[exp.Expr] = []
        for item in self._in.expressions:
            inner = item.this if isinstance(item, exp.PivotAlias) else item
            parts = _parts(inner)
            if len(parts) != len(values) or not all(isinstance(part, exp.Column) for part in parts):
                hint = "write as many columns as there are names before FOR"
                raise self._refused(f"{short(inner)} does not fit {', '.join(values)}", hint)
            tables = ("", self._source.alias_or_name.lower())
            if any(isinstance(part, exp.Column) and part.table.lower() not in tables for part in parts):
                hint = "give the field a name in a sub-query"
                raise self._refused(f"{short(inner)} in an UNPIVOT is no column of its table", hint)
            shown = "_".join(name_of(part) for part in parts)
            text = item.args["alias"].name if isinstance(item, exp.PivotAlias) else shown
            fields: list[exp.Expr] = [exp.Literal.string("n"), exp.Literal.string(text)]
            for place, part in enumerate(parts):
                fields += [exp.Literal.string(f"v{place}"), part.copy()]
            rows.append(exp.Anonymous(this="named_struct", expressions=fields))
        alias = exp.TableAlias(
            this=exp.to_identifier(f"{_ROWS}_values"),
            columns=[exp.to_identifier(one) for one in (f"{_ROWS}_n", *(f"{_ROWS}_v{i}" for i in range(len(values))))],
        )
        call = exp.Inline(this=exp.Anonymous(this="array", expressions=rows))
        items: list[exp.Expr] = [
            exp.column(exp.to_identifier(self._columns[one]), self._source.alias_or_name)
            for one in self._rest(self._in.expressions)
        ]
        items.append(exp.alias_(exp.column(f"{_ROWS}_n", alias.name), exp.to_identifier(name)))
        own = [exp.column(f"{_ROWS}_v{place}", alias.name) for place in range(len(values))]
        items += [exp.alias_(column, exp.to_identifier(text)) for column, text in zip(own, values, strict=True)]
        select = exp.Select(expressions=items, from_=exp.From(this=self._source))
        select.set("laterals", [exp.Lateral(this=call, view=True, outer=False, alias=alias)])
        if not self._pivot.args.get("include_nulls"):
            some = [exp.Not(this=exp.Is(this=column.copy(), expression=exp.Null())) for column in own]
            select.set("where", exp.Where(this=exp.or_(*some)))
        return select


def _parts(node: exp.Expr) -> list[exp.Expr]:
    return list(_flat(node))


def _flat(node: exp.Expr) -> Iterator[exp.Expr]:
    inner = node.unnest()
    if isinstance(inner, exp.Tuple):
        yield from inner.expressions
    else:
        yield inner


def _as_column(node: exp.Expr) -> exp.Expr:
    return exp.Column(this=node.copy()) if isinstance(node, exp.Identifier) else node


def _unquoted(node: exp.Expr) -> exp.Expr:
    return node.unnest()
