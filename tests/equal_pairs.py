"""Pairs of queries, made by changing one: what means the same, and what does not."""

from collections.abc import Iterator
from typing import NamedTuple

from sqlglot import exp, parse_one

from streamhouse.sql.canonical import Canonical, CanonicalInput, canonical
from tests.sql_corpus import ORDERS, columns, orders

QUERIES = [
    "SELECT id, amt * 2 AS a FROM o WHERE amt > 1 AND store = 3",
    "SELECT id, upper(st) AS u, cust FROM o WHERE store = 1 OR amt > 5 AND st IS NOT NULL",
    "SELECT o.id, d.label FROM o JOIN d ON o.cust = d.cust WHERE o.amt > 2",
    "SELECT o.id, d.label FROM o LEFT JOIN d ON o.cust = d.cust WHERE o.amt > 2",
    "SELECT o.id, q.one FROM o LEFT JOIN (SELECT cust, 1 AS one FROM d WHERE label > 'b') AS q ON o.cust = q.cust",
    "SELECT k.id, c.name, d.label FROM k JOIN c ON k.cust = c.cust LEFT JOIN d ON c.cust = d.cust AND d.label > 'a'",
    "SELECT o.id, c.name FROM o FULL JOIN c ON o.cust = c.cust",
    "SELECT o.id FROM o LEFT SEMI JOIN d ON o.cust = d.cust",
    "SELECT o.id, o.st FROM o LEFT ANTI JOIN d ON o.cust = d.cust WHERE o.amt > 1",
    "SELECT id FROM o WHERE EXISTS (SELECT 1 FROM d WHERE d.cust = o.cust AND d.label > 'a')",
    "SELECT id FROM o WHERE cust IN (SELECT cust FROM k WHERE v > 2)",
    "SELECT id, (SELECT max(label) FROM d WHERE d.cust = o.cust) AS label FROM o WHERE amt > 1",
    "SELECT store, sum(amt) AS s, count(*) AS n FROM o WHERE amt > 1 GROUP BY store",
    "SELECT store, st, max(amt) AS m, avg(amt) AS a FROM o GROUP BY store, st HAVING count(*) > 1",
    "SELECT store, count(DISTINCT cust) AS n FROM o GROUP BY store",
    "SELECT d.label, sum(o.amt) AS s FROM o JOIN d ON o.cust = d.cust WHERE o.amt > 0 GROUP BY d.label",
    "SELECT q.store, q.s * 2 AS twice FROM (SELECT store, sum(amt) AS s FROM o GROUP BY store) AS q WHERE q.s > 3",
    "SELECT q.id, q.cust FROM (SELECT *, row_number() OVER (PARTITION BY cust ORDER BY id DESC) AS r FROM o) AS q WHERE r = 1",  # noqa: E501
    "SELECT id, sum(v) OVER (PARTITION BY cust ORDER BY id) AS running FROM k WHERE v > 1",
    "SELECT DISTINCT store, st FROM o WHERE amt > 1",
    "SELECT id, cust FROM o WHERE amt > 1 UNION ALL SELECT id, cust FROM k WHERE v > 2",
    "SELECT cust FROM o WHERE amt > 1 UNION SELECT cust FROM k",
    "SELECT cust FROM o EXCEPT SELECT cust FROM k WHERE v > 2",
    "SELECT id, e FROM o LATERAL VIEW explode(arr) t AS e WHERE e > 1",
    "SELECT id, CASE WHEN amt > 3 THEN 'big' WHEN amt > 1 THEN 'mid' ELSE 'small' END AS size FROM o WHERE id > 1",
    "SELECT id, amt / 2 AS half, store % 2 AS odd, amt + store AS sum_up FROM o WHERE amt BETWEEN 1 AND 4",
    "SELECT a.id, b.id AS other FROM o AS a JOIN o AS b ON a.cust = b.cust WHERE a.id < b.id",
    "SELECT q.store, max(q.a) AS m FROM (SELECT store, amt + 1 AS a FROM o WHERE st > 'a') AS q GROUP BY q.store",
]  # fmt: skip


class Pair(NamedTuple):
    """`change` names how the second was made of the first; `same`: whether they mean the same."""

    change: str
    first: str
    second: str
    same: bool


def meaning(sql: str) -> Canonical:
    """The canonical form of `sql` over `o`, `k`, `c` and `d`, as a compiled step would have it."""
    query = orders(sql)
    inputs = {
        port: CanonicalInput(port, columns(ORDERS[port]), "lookup" if port == "d" else "changes")
        for port in query.reads
    }
    return canonical(query.sql, inputs)


def pairs() -> Iterator[Pair]:
    """Every pair: each change wherever it applies."""
    for sql in QUERIES:
        for change, make in {**_SAME, **_OTHER}.items():
            tree = parse_one(sql, dialect="spark")
            made = make(tree)
            if made is not None and (second := made.sql("spark")) != parse_one(sql, dialect="spark").sql("spark"):
                yield Pair(change, sql, second, change in _SAME)
    for first, second in _BY_HAND_SAME:
        yield Pair("by hand", first, second, True)
    for first, second in _BY_HAND_OTHER:
        yield Pair("by hand", first, second, False)


def _select(tree: exp.Expr) -> exp.Select | None:
    return tree if isinstance(tree, exp.Select) else None


def _names(tree: exp.Expr) -> list[str]:
    return tree.named_selects if isinstance(tree, exp.Query) else []


def _wrapped(tree: exp.Expr) -> exp.Expr:
    return exp.select(*_names(tree)).from_(exp.Subquery(this=tree, alias=exp.TableAlias(this=exp.to_identifier("w"))))


def _as_cte(tree: exp.Expr) -> exp.Expr:
    return exp.select(*(f"w.{n} AS {n}" for n in _names(tree))).from_("held AS w").with_("held", as_=tree)


def _source_by_cte(tree: exp.Expr) -> exp.Expr:
    for table in list(tree.find_all(exp.Table)):
        if table.name == "o":
            table.replace(exp.alias_(exp.to_table("all_o"), table.alias_or_name, table=True))
    if tree.find(exp.Table, bfs=True) is None or "all_o" not in tree.sql():
        return tree
    assert isinstance(tree, exp.Query)
    return tree.with_("all_o", as_=exp.select("id", "cust", "store", "amt", "st", "arr").from_("o"))


def _unused_inner_column(tree: exp.Expr) -> exp.Expr:
    for table in list(tree.find_all(exp.Table)):
        inner = exp.select("*", "1 + 1 AS never_read").from_(table.name)
        table.replace(exp.Subquery(this=inner, alias=exp.TableAlias(this=exp.to_identifier(table.alias_or_name))))
    return tree


def _other_aliases(tree: exp.Expr) -> exp.Expr | None:
    if tree.find(exp.Subquery, exp.Exists, exp.Lateral, exp.SetOperation, exp.In):
        return None
    renamed = {t.alias_or_name: f"{t.alias_or_name}_x" for t in tree.find_all(exp.Table)}
    for column in tree.find_all(exp.Column):
        if column.table:
            column.set("table", exp.to_identifier(renamed[column.table]))
    for table in list(tree.find_all(exp.Table)):
        table.set("alias", exp.TableAlias(this=exp.to_identifier(renamed[table.alias_or_name])))
    return tree


def _turned_conditions(tree: exp.Expr) -> exp.Expr:
    for node in list(tree.find_all(exp.And, exp.Or)):
        left, right = node.this, node.expression
        node.set("this", exp.paren(right, copy=False))
        node.set("expression", exp.paren(left, copy=False))
    return tree


def _turned_comparisons(tree: exp.Expr) -> exp.Expr:
    turned = {exp.GT: exp.LT, exp.LT: exp.GT, exp.EQ: exp.EQ}
    for node in list(tree.find_all(*turned)):
        node.replace(turned[type(node)](this=node.expression.copy(), expression=node.this.copy()))
    return tree


def _denied_twice(tree: exp.Expr) -> exp.Expr:
    where = tree.args.get("where")
    if where is not None:
        where.set("this", exp.not_(exp.not_(exp.paren(where.this))))
    return tree


def _turned_columns(tree: exp.Expr) -> exp.Expr | None:
    select = _select(tree)
    if select is not None:
        select.set("expressions", list(reversed(select.expressions)))
    return select


def _by_position(tree: exp.Expr) -> exp.Expr | None:
    group, select = tree.args.get("group"), _select(tree)
    if group is None or select is None:
        return None
    shown = [item.unalias().sql() for item in select.selects]
    group.set("expressions", [exp.Literal.number(shown.index(key.sql()) + 1) for key in group.expressions])
    return tree


def _turned_keys(tree: exp.Expr) -> exp.Expr:
    for group in tree.find_all(exp.Group):
        group.set("expressions", list(reversed(group.expressions)))
    return tree


def _joined_by_where(tree: exp.Expr) -> exp.Expr | None:
    select = _select(tree)
    joins = select.args.get("joins") or [] if select is not None else []
    if select is None or not joins or joins[0].side or any(j.side in {"FULL", "RIGHT"} for j in joins):
        return None
    on = joins[0].args["on"]
    joins[0].set("on", None)
    joins[0].set("kind", "CROSS")
    return select.where(on)


def _turned_arms(tree: exp.Expr) -> exp.Expr | None:
    if not isinstance(tree, exp.Union):
        return None
    left, right = tree.this, tree.expression
    tree.set("this", right)
    tree.set("expression", left)
    return tree


_SAME = {
    "wrapped in a sub-select": _wrapped,
    "held by a CTE": _as_cte,
    "source by a CTE": _source_by_cte,
    "unused inner column": _unused_inner_column,
    "other table aliases": _other_aliases,
    "AND and OR turned": _turned_conditions,
    "comparisons turned": _turned_comparisons,
    "denied twice": _denied_twice,
    "columns in another order": _turned_columns,
    "GROUP BY by position": _by_position,
    "group keys turned": _turned_keys,
    "joined by WHERE": _joined_by_where,
    "arms of a UNION turned": _turned_arms,
}


def _literal(tree: exp.Expr) -> exp.Expr | None:
    number = next((n for n in tree.find_all(exp.Literal) if not n.is_string and not n.find_ancestor(exp.Exists)), None)
    if number is not None:
        number.replace(exp.Literal.number(int(number.name) + 1))
    return tree if number is not None else None


def _no_filter(tree: exp.Expr) -> exp.Expr | None:
    where = tree.find(exp.Where)
    if where is None or where.find_ancestor(exp.Exists) is not None:
        return None
    where.pop()
    return tree


def _or_for_and(tree: exp.Expr) -> exp.Expr | None:
    node = tree.find(exp.And)
    if node is not None:
        node.replace(exp.Or(this=node.this.copy(), expression=node.expression.copy()))
    return tree if node is not None else None


def _comparison(tree: exp.Expr) -> exp.Expr | None:
    node = tree.find(exp.GT)
    if node is not None:
        node.replace(exp.GTE(this=node.this.copy(), expression=node.expression.copy()))
    return tree if node is not None else None


def _function(tree: exp.Expr) -> exp.Expr | None:
    node = tree.find(exp.Sum, exp.Max, exp.Upper)
    if node is None:
        return None
    other = {exp.Sum: exp.Min, exp.Max: exp.Min, exp.Upper: exp.Lower}[type(node)]
    node.replace(other(this=node.this.copy()))
    return tree


def _join_side(tree: exp.Expr) -> exp.Expr | None:
    join = next((j for j in tree.find_all(exp.Join) if not j.kind), None)
    if join is not None:
        join.set("side", None if join.side == "LEFT" else "LEFT")
    return tree if join is not None else None


def _semi_for_anti(tree: exp.Expr) -> exp.Expr | None:
    join = next((j for j in tree.find_all(exp.Join) if j.kind in {"SEMI", "ANTI"}), None)
    if join is not None:
        join.set("kind", "ANTI" if join.kind == "SEMI" else "SEMI")
    return tree if join is not None else None


def _join_key(tree: exp.Expr) -> exp.Expr | None:
    join = tree.find(exp.Join)
    column = join.args["on"].find(exp.Column) if join is not None and join.args.get("on") is not None else None
    if column is None or column.table not in {"o", "k", "a"}:
        return None
    column.set("this", exp.to_identifier("id"))
    return tree


def _more_keys(tree: exp.Expr) -> exp.Expr | None:
    group = tree.find(exp.Group)
    if group is None or tree.find(exp.Join) is not None:
        return None
    group.append("expressions", exp.column("cust" if tree.find(exp.Subquery) is None else "store"))
    return tree if tree.find(exp.Subquery) is None else None


def _distinct(tree: exp.Expr) -> exp.Expr | None:
    select = _select(tree)
    if select is None or select.args.get("group") or select.args.get("distinct") or not select.find(exp.Join):
        return None
    return exp.select(*[n for n in _names(tree) if n != "id"][:1] or ["id"]).from_(
        exp.Subquery(this=select.distinct(), alias=exp.TableAlias(this=exp.to_identifier("w")))
    )


def _union(tree: exp.Expr) -> exp.Expr | None:
    if not isinstance(tree, exp.Union):
        return None
    tree.set("distinct", not tree.args.get("distinct"))
    return tree


def _partition(tree: exp.Expr) -> exp.Expr | None:
    window = tree.find(exp.Window)
    if window is not None:
        window.set("partition_by", [exp.column("id")])
    return tree if window is not None else None


_OTHER = {
    "another literal": _literal,
    "no filter": _no_filter,
    "OR for AND": _or_for_and,
    ">= for >": _comparison,
    "another function": _function,
    "LEFT for INNER, INNER for LEFT": _join_side,
    "SEMI for ANTI": _semi_for_anti,
    "another join key": _join_key,
    "one more group key": _more_keys,
    "DISTINCT": _distinct,
    "UNION for UNION ALL": _union,
    "another partition": _partition,
}

_BY_HAND_SAME = [
    ("SELECT o.id, d.label FROM o LEFT JOIN d ON o.cust = d.cust",
     "SELECT o.id, d.label FROM d RIGHT JOIN o ON d.cust = o.cust"),
    ("SELECT o.id, d.label, k.v FROM o LEFT JOIN d ON o.cust = d.cust JOIN k ON k.id = o.id",
     "SELECT o.id, d.label, k.v FROM d RIGHT JOIN o ON o.cust = d.cust JOIN k ON o.id = k.id"),
    ("SELECT id FROM o WHERE NOT (amt > 1 AND store = 2)", "SELECT id FROM o WHERE amt <= 1 OR store <> 2"),
    ("SELECT id FROM o WHERE amt BETWEEN 1 AND 3", "SELECT id FROM o WHERE 3 >= amt AND amt >= 1"),
    ("SELECT id FROM o WHERE st IN ('a', 'b')", "SELECT id FROM o WHERE st IN ('b', 'a', 'a')"),
    ("SELECT DISTINCT store, st FROM o", "SELECT store, st FROM o GROUP BY st, store"),
    ("SELECT store, sum(amt) AS s FROM o GROUP BY store HAVING sum(amt) > 2",
     "SELECT store, s FROM (SELECT store, sum(amt) AS s FROM o GROUP BY store) AS q WHERE s > 2"),
    ("SELECT store, sum(amt) AS s FROM o GROUP BY store HAVING store > 1",
     "SELECT store, sum(amt) AS s FROM o WHERE store > 1 GROUP BY store"),
    ("SELECT o.id, q.label FROM o LEFT JOIN (SELECT * FROM d WHERE label > 'a') AS q ON o.cust = q.cust",
     "SELECT o.id, d.label FROM o LEFT JOIN d ON o.cust = d.cust AND d.label > 'a'"),
    ("SELECT q.id, d.label FROM (SELECT * FROM o WHERE amt > 1) AS q LEFT JOIN d ON q.cust = d.cust",
     "SELECT o.id, d.label FROM o LEFT JOIN d ON o.cust = d.cust WHERE o.amt > 1"),
    ("SELECT store, count(1) AS n FROM o GROUP BY store", "SELECT store, count(*) AS n FROM o GROUP BY store"),
    ("SELECT id FROM o WHERE TRUE AND amt > 1", "SELECT id FROM o WHERE amt > 1"),
    ("SELECT q.id, q.e FROM (SELECT id, e FROM o LATERAL VIEW explode(arr) t AS e) AS q WHERE q.e > 1",
     "SELECT id, e FROM o LATERAL VIEW explode(arr) t AS e WHERE e > 1"),
    ("SELECT o.id, c.name FROM o JOIN c ON o.cust = c.cust", "SELECT o.id, c.name FROM c JOIN o ON c.cust = o.cust"),
    ("SELECT o.id, c.name, d.label FROM o LEFT JOIN d ON o.cust = d.cust JOIN c ON o.cust = c.cust",
     "SELECT o.id, c.name, d.label FROM c JOIN o ON o.cust = c.cust LEFT JOIN d ON o.cust = d.cust"),
    ("SELECT a.n FROM (SELECT cust, sum(v) AS n FROM k GROUP BY cust) AS a JOIN (SELECT DISTINCT cust FROM c) AS b USING (cust)",  # noqa: E501
     "SELECT a.n FROM (SELECT DISTINCT cust FROM c) AS b JOIN (SELECT cust, sum(v) AS n FROM k GROUP BY cust) AS a USING (cust)"),  # noqa: E501
    ("SELECT store, max(amt) AS m FROM o GROUP BY store, 'x'", "SELECT store, max(amt) AS m FROM o GROUP BY store"),
    ("SELECT max(amt) AS m FROM o GROUP BY 'x', NULL", "SELECT max(amt) AS m FROM o GROUP BY TRUE"),
    ("SELECT cust, max(store + 0) AS m FROM o GROUP BY cust", "SELECT cust, max(1 * store) AS m FROM o GROUP BY cust"),
    ("SELECT cust, sum(CAST(store AS BIGINT)) AS s, avg(CAST(store AS BIGINT)) AS a FROM o GROUP BY cust",
     "SELECT cust, sum(store) AS s, avg(store) AS a FROM o GROUP BY cust"),
    ("SELECT id FROM o WHERE CAST(store AS BIGINT) = cust", "SELECT id FROM o WHERE store = cust"),
    ("SELECT CAST(id AS BIGINT) AS id FROM o", "SELECT id FROM o"),
    ("SELECT q.id FROM (SELECT id, amt AS a FROM o ORDER BY a, id LIMIT 3) AS q",
     "SELECT q.id FROM (SELECT id, amt AS b FROM o ORDER BY o.amt, id LIMIT 3) AS q"),
]  # fmt: skip

# Each looks equal to someone: a rewrite that is right elsewhere, or for other types.
_BY_HAND_OTHER = [
    ("SELECT o.id, q.one FROM o LEFT JOIN (SELECT cust, 1 AS one FROM d) AS q ON o.cust = q.cust",
     "SELECT o.id, 1 AS one FROM o LEFT JOIN d ON o.cust = d.cust"),
    ("SELECT o.id, q.x FROM o LEFT JOIN (SELECT cust, coalesce(label, '-') AS x FROM d) AS q ON o.cust = q.cust",
     "SELECT o.id, coalesce(d.label, '-') AS x FROM o LEFT JOIN d ON o.cust = d.cust"),
    ("SELECT o.id, d.label FROM o LEFT JOIN d ON o.cust = d.cust AND o.amt > 2",
     "SELECT o.id, d.label FROM o LEFT JOIN d ON o.cust = d.cust WHERE o.amt > 2"),
    ("SELECT o.id, q.label FROM o LEFT JOIN (SELECT * FROM d WHERE label > 'b') AS q ON o.cust = q.cust",
     "SELECT o.id, d.label FROM o LEFT JOIN d ON o.cust = d.cust WHERE d.label > 'b'"),
    ("SELECT q.id, c.name FROM (SELECT * FROM o WHERE amt > 2) AS q FULL JOIN c ON q.cust = c.cust",
     "SELECT o.id, c.name FROM o FULL JOIN c ON o.cust = c.cust WHERE o.amt > 2"),
    ("SELECT c.cust FROM c WHERE c.cust NOT IN (SELECT cust FROM k)",
     "SELECT c.cust FROM c LEFT ANTI JOIN k ON c.cust = k.cust"),
    ("SELECT id, r FROM (SELECT id, amt, row_number() OVER (ORDER BY id) AS r FROM o) AS q WHERE amt > 1",
     "SELECT id, row_number() OVER (ORDER BY id) AS r FROM o WHERE amt > 1"),
    ("SELECT sum(amt) AS s FROM o HAVING count(*) > 100", "SELECT sum(amt) AS s FROM o"),
    ("SELECT sum(amt) AS s, 1 AS k FROM o WHERE 1 = 2", "SELECT amt AS s, 1 AS k FROM o WHERE 1 = 2"),
    ("SELECT store, count(st) AS n FROM o GROUP BY store", "SELECT store, count(*) AS n FROM o GROUP BY store"),
    ("SELECT store, sum(DISTINCT amt) AS s FROM o GROUP BY store", "SELECT store, sum(amt) AS s FROM o GROUP BY store"),
    ("SELECT store, sum(amt) FILTER (WHERE cust > 1) AS s FROM o GROUP BY store",
     "SELECT store, sum(amt) AS s FROM o WHERE cust > 1 GROUP BY store"),
    ("SELECT id, amt / 4 * 2 AS x FROM o", "SELECT id, amt / (4 * 2) AS x FROM o"),
    ("SELECT id, store - id - 1 AS x FROM o", "SELECT id, store - (id - 1) AS x FROM o"),
    ("SELECT id FROM o WHERE (amt > 1 OR store = 2) AND st > 'a'",
     "SELECT id FROM o WHERE amt > 1 OR store = 2 AND st > 'a'"),
    ("SELECT id, CASE WHEN amt > 1 THEN 'a' WHEN amt > 3 THEN 'b' END AS x FROM o",
     "SELECT id, CASE WHEN amt > 3 THEN 'b' WHEN amt > 1 THEN 'a' END AS x FROM o"),
    ("SELECT id, TRY_CAST(st AS INT) AS x FROM o", "SELECT id, CAST(id AS INT) AS x FROM o"),
    ("SELECT id FROM o WHERE st <=> NULL", "SELECT id FROM o WHERE st = CAST(NULL AS STRING)"),
    ("SELECT id, to_json(struct(cust)) AS j FROM o",
     "SELECT id, to_json(struct(x)) AS j FROM (SELECT id, cust AS x FROM o) AS q"),
    ("SELECT id, row_number() OVER (ORDER BY amt DESC, id) AS r FROM o",
     "SELECT id, row_number() OVER (ORDER BY amt, id) AS r FROM o"),
    ("SELECT id, sum(v) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS s FROM k",
     "SELECT id, sum(v) OVER (ORDER BY id) AS s FROM k"),
    ("SELECT id FROM o UNION ALL SELECT cust FROM o", "SELECT id FROM o UNION ALL SELECT id FROM o"),
    ("SELECT cust FROM o EXCEPT SELECT cust FROM k", "SELECT cust FROM k EXCEPT SELECT cust FROM o"),
    ("SELECT q.cust FROM (SELECT DISTINCT cust, store FROM o) AS q", "SELECT DISTINCT cust FROM o"),
    ("SELECT q.cust FROM (SELECT cust, amt FROM o ORDER BY amt DESC, id LIMIT 3) AS q WHERE q.amt > 1",
     "SELECT q.cust FROM (SELECT cust, amt FROM o WHERE amt > 1 ORDER BY amt DESC, id LIMIT 3) AS q WHERE q.amt > 2"),
    ("SELECT o.id FROM o LEFT JOIN d ON o.cust = d.cust JOIN c ON d.cust = c.cust",
     "SELECT o.id FROM o LEFT JOIN d ON o.cust = d.cust LEFT JOIN c ON d.cust = c.cust"),
]  # fmt: skip
