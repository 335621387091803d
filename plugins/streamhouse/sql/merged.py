"""The columns that JOIN … USING and NATURAL JOIN merge, written out as Spark resolves them.

After `x RIGHT JOIN y USING (a)` the name `a` is `y.a`, after FULL it is `coalesce(x.a, y.a)`, else `x.a`; a further
USING compares that one. The merged columns come first in `*`. (`NaturalAndUsingJoinResolution` of Spark 4.1.)
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from sqlglot import exp
from sqlglot.optimizer.normalize_identifiers import normalize_identifiers
from sqlglot.optimizer.qualify_tables import qualify_tables
from sqlglot.optimizer.scope import Scope, build_scope

from streamhouse.errors import Location, StrategyError, UnknownColumnError, did_you_mean
from streamhouse.model.table import Column
from streamhouse.sql.dialect import SPARK, place_of
from streamhouse.sql.dialect.literals import WRITTEN
from streamhouse.sql.left_out import check_left_out, left_out
from streamhouse.sql.scopes import merges

_BY_OUTPUTS = ("order", "sort", "cluster", "distribute", "having", "qualify")  # which see output columns first


@dataclass(frozen=True)
class _Shown:
    """A column as a name finds it: `name` in the case it was written in, `value` over the tables of the FROM."""

    name: str
    value: exp.Expr

    def is_of(self, alias: str) -> bool:
        return isinstance(self.value, exp.Column) and self.value.table == alias


@dataclass
class _From:
    """What names mean behind some joins: `hidden` columns have a meaning only with their table before them."""

    shown: list[_Shown] = field(default_factory=list)
    hidden: list[_Shown] = field(default_factory=list)
    known: bool = True  # whether all names are

    def named(self, name: str) -> list[_Shown]:
        return [one for one in self.shown if one.name.lower() == name.lower()]


def write_out_merged(query: exp.Query, ports: Mapping[str, Mapping[str, Column]], sql: str, at: Location) -> exp.Query:
    """Put conditions into the place of USING and NATURAL, and what they mean into that of merged names.

    Args:
        query: Not qualified yet; it is changed.
        ports: Port → its columns, in order.
        sql: The text it was parsed from.
        at: Where that begins.

    Returns:
        The query.

    Raises:
        UnknownColumnError: a side of a join lacks a column of its USING.
        StrategyError: the columns of a side are not known.
    """
    tree = qualify_tables(normalize_identifiers(query, dialect=SPARK), dialect=SPARK)
    assert isinstance(tree, exp.Query)
    root = build_scope(tree)
    if root is not None:
        writer = _MergedWriter(ports, sql, at)
        for scope in root.traverse():
            writer.write(scope)
    return tree


class _MergedWriter:
    def __init__(self, ports: Mapping[str, Mapping[str, Column]], sql: str, at: Location) -> None:
        self._ports = ports
        self._sql = sql
        self._at = at
        self._from: dict[int, _From] = {}

    def write(self, scope: Scope) -> None:
        """Write out what one SELECT merges."""
        select = scope.expression
        if not isinstance(select, exp.Select):
            return
        merging = merges(_of_from(select))
        found = self._read(scope)
        if not merging:
            return
        self._stars(select, found)
        outputs = {item.alias_or_name.lower() for item in select.selects}
        for clause in ("laterals", "expressions", "where", "group", "windows", *_BY_OUTPUTS):
            value = select.args.get(clause)
            taken = outputs if clause in _BY_OUTPUTS else frozenset[str]()
            for node in value if isinstance(value, list) else [value] if value is not None else []:
                self._names(node, found, scope, taken)

    # --- FROM ---

    def _read(self, scope: Scope) -> _From:
        """What the names of a SELECT mean behind its FROM, whose USING become conditions."""
        known = self._from.get(id(scope.expression))
        if known is None:
            select = scope.expression
            found, from_ = _From(), select.args.get("from_")
            if from_ is not None:
                found = self._relation(from_.this, scope)
            for join in select.args.get("joins") or []:
                found = self._joined(found, join, scope)
            for lateral in select.args.get("laterals") or []:
                found = _beside(found, self._source(lateral, scope))
            known = self._from[id(select)] = found
        return known

    def _relation(self, node: exp.Expr, scope: Scope) -> _From:
        if isinstance(node, exp.Subquery) and isinstance(node.this, (exp.Table, exp.Subquery)) and not node.alias:
            found = self._relation(node.this, scope)
        else:
            found = self._source(node, scope)
        for join in node.args.get("joins") or []:
            found = self._joined(found, join, scope)
        return found

    def _source(self, node: exp.Expr, scope: Scope) -> _From:
        alias = node.args.get("alias")
        names = [_written(column) for column in alias.columns] if isinstance(alias, exp.TableAlias) else []
        source = scope.sources.get(node.alias_or_name)
        if not names and isinstance(source, exp.Table):
            names = [column.name for column in self._ports.get(source.name, {}).values()]
        elif not names and isinstance(source, Scope):
            names = self._outputs(source)
        shown = [
            _Shown(name, exp.column(exp.to_identifier(name.lower()), table=exp.to_identifier(node.alias_or_name)))
            for name in names
        ]
        return _From(shown, known=bool(names))

    def _outputs(self, scope: Scope) -> list[str]:
        """The names of a query's columns; none where they are not known."""
        query = scope.expression
        if isinstance(query, exp.SetOperation):
            return self._outputs(scope.set_operation_scopes[0])
        if isinstance(query, exp.Values):
            return [f"col{place}" for place, _ in enumerate(query.expressions[0].expressions, 1)]
        if not isinstance(query, exp.Select):
            inner = next(iter((*scope.derived_table_scopes, *scope.subquery_scopes)), None)
            return self._outputs(inner) if inner is not None else []
        cte = query.parent
        if isinstance(cte, exp.CTE) and (named := cte.args["alias"].columns):
            return [_written(column) for column in named]
        found = self._read(scope)
        names: list[str] = []
        for item in query.selects:
            if item.is_star:
                if not found.known:
                    return []
                names += [one.name for one in _starred(item, found)]
            else:
                owner = item.args.get("alias") or item.this
                names.append(_written(owner) if isinstance(owner, exp.Identifier) else item.alias_or_name)
        return names

    def _joined(self, left: _From, join: exp.Join, scope: Scope) -> _From:
        right = self._relation(join.this, scope)
        one_sided = join.kind in {"SEMI", "ANTI"}
        if not join.args.get("using") and not join.args.get("method"):
            both = _beside(left, right)
            if (on := join.args.get("on")) is not None:
                self._names(on, both, scope, frozenset())
            if isinstance(join.this, exp.Lateral):
                self._names(join.this, left, scope, frozenset())
            return left if one_sided else both
        if not left.known or not right.known:
            message = "the columns that this join merges are not known"
            place = place_of(join.this, self._sql, self._at)
            raise StrategyError(message, at=place, hint="name the columns of both sides with AS, or join with ON")
        pairs = self._pairs(left, right, join)
        conditions = [exp.EQ(this=mine.value.copy(), expression=theirs.value.copy()) for mine, theirs in pairs]
        join.set("using", None)
        join.set("method", None)
        if conditions:
            join.set("on", exp.and_(*conditions, copy=False))
        elif join.side or join.kind:
            join.set("on", exp.true())
        if one_sided:
            return _From([*(mine for mine, _ in pairs), *_others(left.shown, [mine for mine, _ in pairs])], left.hidden)
        merged, hidden = [], []
        for mine, theirs in pairs:
            if join.side == "RIGHT":
                merged.append(theirs)
                hidden.append(mine)
            elif join.side == "FULL":
                value = exp.Coalesce(this=mine.value.copy(), expressions=[theirs.value.copy()])
                merged.append(_Shown(mine.name, value))
            else:
                merged.append(mine)
                hidden.append(theirs)
        if join.side == "FULL":
            hidden = [*(mine for mine, _ in pairs), *(theirs for _, theirs in pairs)]
        rest = [
            *_others(left.shown, [mine for mine, _ in pairs]),
            *_others(right.shown, [theirs for _, theirs in pairs]),
        ]
        return _From([*merged, *rest], [*hidden, *left.hidden, *right.hidden])  # the order that `x.*` shows them in

    def _pairs(self, left: _From, right: _From, join: exp.Join) -> list[tuple[_Shown, _Shown]]:
        """What the join compares: Spark takes the first column of a name."""
        if join.args.get("method"):
            theirs = {one.name: one for one in reversed(right.shown)}
            mine = {one.name: one for one in reversed(left.shown)}
            return [
                (mine[name], theirs[name]) for name in dict.fromkeys(one.name for one in left.shown) if name in theirs
            ]
        pairs = []
        for column in join.args["using"]:
            sides = [side.named(column.name) for side in (left, right)]
            for side, found in zip((left, right), sides, strict=True):
                if not found:
                    close = did_you_mean(column.name, [one.name for one in side.shown], "name a column of both sides")
                    message = f"USING ({column.name}): a side of the join has no column of that name"
                    raise UnknownColumnError(message, at=place_of(column, self._sql, self._at), hint=close)
            pairs.append((sides[0][0], sides[1][0]))
        return pairs

    # --- names ---

    def _stars(self, select: exp.Select, found: _From) -> None:
        items: list[exp.Expr] = []
        for item in select.expressions:
            if not item.is_star:
                items.append(item)
                continue
            if not found.known:
                message = "the columns behind * are not known"
                place = place_of(item, self._sql, self._at)
                raise StrategyError(message, at=place, hint="name the columns of the LATERAL VIEW with AS")
            star = item.this if isinstance(item, exp.Column) else item
            check_left_out(star.args.get("except_") or (), [o.name for o in _behind(item, found)], self._sql, self._at)
            items += [_named(one) for one in _starred(item, found)]
        select.set("expressions", items)

    def _names(self, root: exp.Expr, found: _From, scope: Scope, taken: Iterable[str]) -> None:
        """Replace the columns below a node that are named without a table by what they mean."""
        aliases = set(scope.sources)
        for column in [node for node in root.walk() if type(node) is exp.Column]:
            if isinstance(column.this, exp.Star):
                continue
            first, *others = column.parts
            assert isinstance(first, exp.Identifier)
            if (others and first.name in aliases) or (not others and first.name in taken):
                continue
            meant = found.named(first.name)
            if len(meant) != 1 or self._is_nearer(column, first.name, meant[0], scope):
                continue
            value = meant[0].value.copy()
            for part in value.find_all(exp.Identifier):
                part.meta.update({key: place for key, place in first.meta.items() if key != WRITTEN})
            if isinstance(value, exp.Column) and (text := first.meta_get(WRITTEN)) is not None:
                value.this.meta[WRITTEN] = text
            for name in others:
                value = exp.Dot(this=value, expression=name.copy())
            self._put(column, first, value, at_top=not others)

    def _put(self, column: exp.Column, name: exp.Identifier, value: exp.Expr, *, at_top: bool) -> None:
        """Replace a column, whose name stays that of an output column or of a field."""
        select = column.parent
        if at_top and not isinstance(value, exp.Column):
            if isinstance(select, exp.Select) and column.arg_key == "expressions":
                value = exp.alias_(value, exp.to_identifier(_written(name)), copy=False)
            elif isinstance(select, (exp.Struct, exp.Tuple)):
                value = exp.PropertyEQ(this=exp.to_identifier(_written(name)), expression=value)
            elif isinstance(select, exp.Anonymous) and select.name.lower() == "arrays_zip":
                message = f"{name.name} is merged from two columns, whose name arrays_zip() would lose"
                place = place_of(column, self._sql, self._at)
                raise StrategyError(message, at=place, hint="merge the columns in a sub-query")
        column.replace(value)

    def _is_nearer(self, column: exp.Column, name: str, meant: _Shown, scope: Scope) -> bool:
        """Whether a sub-query around a column has, or may have, a column of that name itself, or a table of `meant`."""
        tables = {part.table for part in meant.value.find_all(exp.Column)}
        inner = column.find_ancestor(exp.Select)
        by_select = {id(one.expression): one for one in scope.traverse()}
        while inner is not None and inner is not scope.expression:
            own = by_select.get(id(inner))
            if own is None or tables & set(own.selected_sources):
                return True
            here = self._read(own)
            if here.named(name) or (not here.known and (here.shown or inner.args.get("from_") is not None)):
                return True
            inner = inner.find_ancestor(exp.Select)
        return False


def _of_from(select: exp.Select) -> Iterator[exp.Expr]:
    """The nodes of the FROM of a SELECT, without those of queries in it."""
    for clause in (select.args.get("from_"), *(select.args.get("joins") or [])):
        if clause is not None:
            yield from clause.walk(prune=lambda node: isinstance(node, (exp.Select, exp.SetOperation)))


def _beside(left: _From, right: _From) -> _From:
    return _From([*left.shown, *right.shown], [*left.hidden, *right.hidden], known=left.known and right.known)


def _others(shown: list[_Shown], keys: list[_Shown]) -> list[_Shown]:
    return [one for one in shown if not any(one is key for key in keys)]


def _behind(item: exp.Expr, found: _From) -> list[_Shown]:
    table = item.table if isinstance(item, exp.Column) else ""
    return [one for one in (*found.hidden, *found.shown) if one.is_of(table)] if table else found.shown


def _starred(item: exp.Expr, found: _From) -> list[_Shown]:
    """What `*` or `x.*` stands for; with a table the hidden columns come first."""
    columns = _behind(item, found)
    unwanted = left_out(item)
    return [one for one in columns if one.name.lower() not in unwanted]


def _named(shown: _Shown) -> exp.Expr:
    if isinstance(shown.value, exp.Column):
        return shown.value.copy()
    return exp.alias_(shown.value.copy(), exp.to_identifier(shown.name.lower()), copy=False)


def _written(name: exp.Expr) -> str:
    return str(name.meta_get(WRITTEN) or name.name)
