"""Faults planted into the SQL and the key of an action: what a planner may get wrong, or somebody who edits it."""

import re
from collections.abc import Callable, Iterator

from sqlglot import exp, parse_one

from streamhouse.errors import Location
from streamhouse.registry.read_action import read_action
from streamhouse.sql.dialect import parse_query, render
from streamhouse.sql.scopes import function_name

Plant = Callable[[exp.Query, str], exp.Query | None]


def _of_first(
    tree: exp.Query, kind: type[exp.Expression], change: Callable[[exp.Expression], object]
) -> exp.Query | None:
    found = tree.find(kind)
    if found is None:
        return None
    change(found)
    return tree


def _without_filter(tree: exp.Query, _: str) -> exp.Query | None:
    return _of_first(tree, exp.Where, lambda one: one.pop())


def _weaker_filter(tree: exp.Query, _: str) -> exp.Query | None:
    where = tree.find(exp.Where)
    if where is None:
        return None
    where.set("this", exp.or_(where.this.copy(), exp.true()))
    return tree


def _other_unit(tree: exp.Query, _: str) -> exp.Query | None:
    def hundredfold(one: exp.Expression) -> None:
        one.replace(exp.Mul(this=one.copy(), expression=exp.Literal.number(100)))

    return _of_first(tree, exp.Sum, hundredfold)


def _joined_with_itself(tree: exp.Query, port: str) -> exp.Query | None:
    """Each row meets all rows of its own table: a join that is no join of keys."""
    table = next((one for one in tree.find_all(exp.Table) if one.name == port), None)
    select = table.find_ancestor(exp.Select) if table is not None else None
    if select is None:
        return None
    assert table is not None
    select.append("joins", exp.Join(this=_again(table, "doubled"), on=exp.true()))
    return tree


def _again(table: exp.Table, alias: str) -> exp.Expr:
    bare = exp.Table(this=table.this.copy(), db=table.args["db"].copy() if table.args.get("db") else None)
    return exp.alias_(bare, alias, table=True)


def _rows_twice(tree: exp.Query, _: str) -> exp.Query | None:
    return exp.union(tree.copy(), tree.copy(), distinct=False)


def _missing_column(tree: exp.Query, _: str) -> exp.Query | None:
    return _of_first(tree, exp.Column, lambda one: one.set("this", exp.to_identifier("no_such_column")))


def _other_fold(tree: exp.Query, _: str) -> exp.Query | None:
    return _of_first(tree, exp.Sum, lambda one: one.replace(exp.Max(this=one.this.copy())))


def _fewer_rows(tree: exp.Query, _: str) -> exp.Query | None:
    if tree.args.get("limit"):
        return None
    return exp.select("*").from_(exp.alias_(tree.limit(1).subquery(), "cut", table=True))


def _exploded(tree: exp.Query, port: str) -> exp.Query | None:
    """Each row is there twice, by an array."""
    table = next((one for one in tree.find_all(exp.Table) if one.name == port), None)
    select = table.find_ancestor(exp.Select) if table is not None else None
    if table is None or select is None or select.args.get("joins"):
        return None
    select.append(
        "laterals", parse_one("SELECT 1 LATERAL VIEW explode(array(1, 2)) twice AS half", "spark").args["laterals"][0]
    )
    return tree


def _less_of_a_key(tree: exp.Query, _: str) -> exp.Query | None:
    """A join by a part of its condition, or by none."""
    join = next((one for one in tree.find_all(exp.Join) if one.args.get("on") is not None), None)
    if join is None:
        return None
    on = join.args["on"]
    join.set("on", on.right.copy() if isinstance(on, exp.And) else exp.true())
    return tree


def _join_of_another_kind(tree: exp.Query, _: str) -> exp.Query | None:
    """A semi-join or an anti-join that becomes a join, a left join that leaves rows out."""
    join = next((one for one in tree.find_all(exp.Join) if one.args.get("side") or one.args.get("kind")), None)
    if join is None:
        return None
    join.set("kind", None)
    join.set("side", None)
    return tree


def _distinct_values(tree: exp.Query, _: str) -> exp.Query | None:
    return _of_first(tree, exp.Sum, lambda one: one.set("this", exp.Distinct(expressions=[one.this.copy()])))


def _average(tree: exp.Query, _: str) -> exp.Query | None:
    return _of_first(tree, exp.Sum, lambda one: one.replace(exp.Avg(this=one.this.copy())))


def _units_by_choice(tree: exp.Query, _: str) -> exp.Query | None:
    def mixed(one: exp.Expression) -> None:
        again = exp.Mul(this=one.this.copy(), expression=exp.Literal.number(100))
        one.set(
            "this",
            exp.Coalesce(this=exp.Nullif(this=one.this.copy(), expression=exp.Literal.number(0)), expressions=[again]),
        )

    return _of_first(tree, exp.Sum, mixed)


def _also(condition: str) -> Plant:
    def plant(tree: exp.Query, _: str) -> exp.Query | None:
        select = next((one for one in tree.find_all(exp.Select) if one.args.get("from_")), None)
        return None if select is None else _changed(tree, lambda: select.where(condition, copy=False, dialect="spark"))

    return plant


def _changed(tree: exp.Query, change: Callable[[], object]) -> exp.Query:
    change()
    return tree


def _time_as_value(tree: exp.Query, _: str) -> exp.Query | None:
    if not isinstance(tree, exp.Select):
        return None
    return _changed(tree, lambda: tree.select("UNIX_TIMESTAMP() AS seen_at", copy=False, dialect="spark"))


def _other_order(tree: exp.Query, _: str) -> exp.Query | None:
    """The worst instead of the best."""
    window = next((one for one in tree.find_all(exp.Window) if one.args.get("order")), None)
    ordered = window.find(exp.Ordered) if window is not None else None
    if ordered is None:
        return None
    ordered.set("desc", not ordered.args.get("desc"))
    return tree


def _other_bound(tree: exp.Query, _: str) -> exp.Query | None:
    def including(one: exp.Expression) -> None:
        one.replace(exp.GTE(this=one.this.copy(), expression=one.expression.copy()))

    return _of_first(tree, exp.GT, including)


def _other_period(tree: exp.Query, _: str) -> exp.Query | None:
    call = next((one for one in tree.walk() if function_name(one) == "date_trunc"), None)
    unit = call.find(exp.Literal) if call is not None else None
    if unit is None:
        return None
    unit.replace(exp.Literal.string("YEAR" if unit.name.upper() == "MONTH" else "MONTH"))
    return tree


def _inner_grouping(tree: exp.Query, _: str) -> exp.Query | None:
    """The first sum is one of averages, as an inner query makes them."""
    found = tree.find(exp.Sum)
    select = found.find_ancestor(exp.Select) if found is not None else None
    table = select.args["from_"].this if select is not None and select.args.get("from_") else None
    if found is None or select is None or not isinstance(table, exp.Table) or select.args.get("joins"):
        return None
    column = found.find(exp.Column)
    group = select.args.get("group")
    if column is None or group is None or not all(isinstance(one, exp.Column) for one in group.expressions):
        return None
    name = table.alias_or_name
    keys = ", ".join(one.name for one in group.expressions)
    inner = parse_one(f"SELECT {keys}, AVG({column.name}) AS {column.name} FROM t GROUP BY {keys}", "spark")
    read = inner.find(exp.Table)
    assert read is not None
    read.replace(exp.Table(this=table.this.copy(), db=table.args.get("db")))
    if select.args.get("where"):
        inner.set("where", select.args["where"].pop())
    table.replace(exp.Subquery(this=inner, alias=exp.TableAlias(this=exp.to_identifier(name))))
    return tree


PLANTS: dict[str, Plant] = {
    "a filter is dropped": _without_filter,
    "a filter lets all through": _weaker_filter,
    "another unit": _other_unit,
    "a join that doubles rows": _joined_with_itself,
    "rows twice": _rows_twice,
    "a column that is missing": _missing_column,
    "another aggregate": _other_fold,
    "fewer rows": _fewer_rows,
    "rows exploded": _exploded,
    "less of a key": _less_of_a_key,
    "a join of another kind": _join_of_another_kind,
    "distinct values": _distinct_values,
    "an average": _average,
    "a sum of averages": _inner_grouping,
    "units by a choice": _units_by_choice,
    "rows by chance": _also("RAND() < 0.5"),
    "rows by the time": _also("NOW() > TIMESTAMP '2020-01-01'"),
    "the time as a value": _time_as_value,
    "another order": _other_order,
    "another bound": _other_bound,
    "another period": _other_period,
}
SEEN_IN_SQL = (
    "a join that doubles rows",
    "rows twice",
    "a column that is missing",
    "fewer rows",
    "rows exploded",
    "less of a key",
    "distinct values",
    "a sum of averages",
    "rows by chance",
    "the time as a value",
)
"""Faults that SQL shows by itself, without the wish."""
_OFTEN = ("a join that doubles rows", "rows exploded", "less of a key")
"""Faults by which rows are there several times."""

_KEY = re.compile(r"primary_key: \[([^\]]*)\]")


def planted(text: str, path: str) -> Iterator[tuple[str, str]]:
    """Name of a fault → the file of an action that has it; those that fit."""
    action = read_action(text, path).action
    port = next(iter(action.inputs))
    for name, plant in PLANTS.items():
        tree = parse_query(action.sql, action.sql_at)
        assert isinstance(tree, exp.Query)
        before = render(tree)
        found = plant(tree, port)
        if found is not None and render(found) != before:
            yield name, text.replace(action.sql.strip(), render(found))
    key = _KEY.search(text)
    columns = key[1].split(", ") if key is not None else []
    if key is not None and len(columns) > 1:
        yield "another key", text.replace(key[0], f"primary_key: [{', '.join(columns[1:])}]")


def _harmless(tree: exp.Query) -> tuple[str, ...]:
    """Faults that change nothing where it does not matter how often a row is there, or where there is one row."""
    folds = [one for one in tree.find_all(exp.AggFunc) if not isinstance(one, exp.Max | exp.Min)]
    counted = [one for one in folds if not isinstance(one.this, exp.Distinct)]
    is_grouped = tree.args.get("group") is not None
    often = _OFTEN if not counted and (is_grouped or tree.find(exp.AggFunc) is not None) else ()
    is_single = isinstance(tree, exp.Select) and not is_grouped and any(one.find(exp.AggFunc) for one in tree.selects)
    return (*often, *(("fewer rows",) if is_single else ()))


def planted_in_sql(text: str, at: Location) -> Iterator[tuple[str, str]]:
    """Name of a fault that SQL shows by itself → the query that has it; those that fit."""
    tree = parse_query(text, at)
    assert isinstance(tree, exp.Query)
    ctes = {one.alias for one in tree.find_all(exp.CTE)}
    port = next(one.name for one in tree.find_all(exp.Table) if one.db or one.name not in ctes)
    for name in (one for one in SEEN_IN_SQL if one not in _harmless(tree)):
        before = parse_query(text, at)
        assert isinstance(before, exp.Query)
        if not before.args.get("limit"):
            before.set("order", None)
        found = PLANTS[name](before, port)
        if found is not None and render(found) != render(tree):
            yield name, render(found)
