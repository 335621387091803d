"""Faults planted into the SQL and the key of an action: what a planner may get wrong, or somebody who edits it."""

import re
from collections.abc import Callable, Iterator

from sqlglot import exp

from streamhouse.registry.read_action import read_action
from streamhouse.sql.dialect import parse_query, render

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
    again = exp.alias_(exp.Table(this=exp.to_identifier(port)), "doubled", table=True)
    select.append("joins", exp.Join(this=again, on=exp.true()))
    return tree


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


PLANTS: dict[str, Plant] = {
    "a filter is dropped": _without_filter,
    "a filter lets all through": _weaker_filter,
    "another unit": _other_unit,
    "a join that doubles rows": _joined_with_itself,
    "rows twice": _rows_twice,
    "a column that is missing": _missing_column,
    "another aggregate": _other_fold,
    "fewer rows": _fewer_rows,
}
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
