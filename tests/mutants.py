"""Random changes of random queries: for the question whether two that count as equal are equal for Spark."""

import random
from copy import deepcopy
from typing import NamedTuple

from tests.random_queries import BITS, COMPARISONS, PRODUCTS, SUMS, E, Make, Query, Select, Union, show, text_of

_NEAR = [BITS, (*SUMS, *PRODUCTS), COMPARISONS, ("AND", "OR"), ("LIKE", "RLIKE", "ILIKE")]
_NEUTRAL = (
    "(%s) + 0", "0 + (%s)", "(%s) - 0", "(%s) * 1", "CAST(%s AS BIGINT)", "CAST(%s AS INT)", "CAST(%s AS DOUBLE)",
    "coalesce(%s, NULL)", "(%s)", "CAST(%s AS DECIMAL(6,2))", "CAST(%s AS SMALLINT)", "TRY_CAST(%s AS BIGINT)",
)  # fmt: skip
_FRAMES = [
    ("ORDER BY n.id", "ORDER BY n.id ASC"), (" DESC", ""), ("n.s, n.i", "n.i, n.s"), ("n.x,", "n.x NULLS FIRST,"),
    (" NULLS LAST", ""), ("PARTITION BY n.i", "PARTITION BY n.i, 1"), ("n.x, n.id", "n.id"), ("ROWS", "RANGE"),
    ("1 PRECEDING AND CURRENT ROW", "UNBOUNDED PRECEDING AND CURRENT ROW"), (" IGNORE NULLS", " RESPECT NULLS"),
    ("lag(n.x)", "lag(n.x, 1)"), ("lag(n.i, 1, 0)", "lag(n.i, 1)"), ("count(*)", "count(1, n.i)"),
]  # fmt: skip


class Mutant(NamedTuple):
    """`second` was made of `first` by `changes`."""

    changes: tuple[str, ...]
    first: str
    second: str


def mutants(seed: int, number: int) -> list[Mutant]:
    """So many pairs of queries; equal seeds give equal pairs."""
    found = []
    for at in range(number):
        chance = random.Random(f"{seed}:{at}")
        make = Make(chance)
        query = make.query()
        first, other, changes = show(query), deepcopy(query), list[str]()
        wanted = chance.choice((1, 1, 1, 2, 3))
        while len(changes) < wanted or show(other) == first:
            changes += _change(other, make)
        found.append(Mutant(tuple(changes), first, show(other)))
    return found


def _selects(query: Query) -> list[Select]:
    if isinstance(query, Union):
        return query.arms
    return [query, *(_selects(query.source) if isinstance(query.source, Select) else [])]


def _expressions(query: Query) -> list[E]:
    found = []
    for select in _selects(query):
        roots = [node for node, _ in select.shown] + [on for *_, on in select.joins]
        roots += [node for node in (select.where, select.having) if node is not None]
        while roots:
            node = roots.pop()
            found.append(node)
            roots += node.parts
    return found


def _change(query: Query, make: Make) -> list[str]:
    change = make.chance.choice(_CHANGES)
    return [change.__name__.strip("_")] if change(query, make) else []


def _brackets(query: Query, make: Make) -> bool:
    nodes = [node for node in _expressions(query) if len(node.parts) == 2 and "%s" not in node.op]
    if not nodes:
        return False
    for node in make.chance.sample(nodes, min(len(nodes), make.chance.choice((1, 1, 2)))):
        node.bracket = not node.bracket
    return True


def _turned_sides(query: Query, make: Make) -> bool:
    nodes = [node for node in _expressions(query) if len(node.parts) == 2 and "%s" not in node.op]
    if not nodes:
        return False
    node = make.chance.choice(nodes)
    node.parts.reverse()
    turned = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
    if make.chance.random() < 0.8:
        node.op = turned.get(node.op, node.op)
    return True


def _other_operator(query: Query, make: Make) -> bool:
    nodes = [(node, near) for node in _expressions(query) for near in _NEAR if node.op in near and len(node.parts) == 2]
    if not nodes:
        return False
    node, near = make.chance.choice(nodes)
    node.op = make.chance.choice(near)
    return True


def _neutral(query: Query, make: Make) -> bool:
    node = make.chance.choice(_expressions(query))
    inner = deepcopy(node)
    if node.kind == "truth":
        form = make.chance.choice(("(%s) AND TRUE", "NOT (NOT (%s))", "(%s) OR FALSE", "CAST(%s AS BOOLEAN)"))
    elif node.kind == "text":
        form = make.chance.choice(("CAST(%s AS STRING)", "concat(%s)", "concat(%s, '')", "(%s)"))
    else:
        form = make.chance.choice(_NEUTRAL)
    if "OVER" in inner.op and not form.startswith(("CAST", "(")):
        return False
    node.op, node.parts, node.bracket = form, [inner], make.chance.random() < 0.5
    return True


def _literal(query: Query, make: Make) -> bool:
    nodes = [node for node in _expressions(query) if not node.parts and (node.op[:1].isdigit() or node.op[:1] == "'")]
    if not nodes:
        return False
    node = make.chance.choice(nodes)
    texts, numbers = ("'a'", "'b'", "'A'", "' a'"), ("1", "1L", "1S", "1.0", "1D", "'1'", "1BD", "01", "1e0")
    near = texts if node.op.startswith("'") else numbers
    node.op = make.chance.choice(near)
    return True


def _other_leaf(query: Query, make: Make) -> bool:
    nodes = [node for node in _expressions(query) if node.op.removeprefix("n.") in {"i", "j", "w", "l", "x", "f", "m"}]
    if not nodes:
        return False
    node = make.chance.choice(nodes)
    node.op = node.op[:-1] + make.chance.choice("ijwlx")
    return True


def _other_fold(query: Query, make: Make) -> bool:
    nodes = [node for node in _expressions(query) if node.op.startswith(("count(", "sum(", "avg(", "min(", "max("))]
    if not nodes:
        return False
    node = make.chance.choice(nodes)
    call, rest = node.op[: node.op.index(")") + 1], node.op[node.op.index(")") + 1 :]
    calls = [
        "count(*)",
        "count(1)",
        "count('x')",
        "count(NULL)",
        "count(1, 2)",
        "count(TRUE)",
        "count(i)",
        "count(1, i)",
    ]
    own = call.count("%s")
    if own == 1:
        calls += ["sum(%s)", "count(%s)", "count(%s, 1)", "count(1, %s)", "avg(%s)", "max(%s)", "min(%s)"]
        if not rest:
            calls += ["sum(DISTINCT %s)", "count(DISTINCT %s)", "count(DISTINCT (%s))"]
    if own == 2:
        calls = ["count(%s, %s)", "count(DISTINCT %s, %s)", "count(DISTINCT (%s, %s))", "count((%s, %s))"]
    node.op = make.chance.choice([one for one in calls if one.count("%s") in {0, own}]) + rest
    if "%s" not in node.op[: node.op.index(")")]:
        node.parts = node.parts[own:]
    return True


def _over(query: Query, make: Make) -> bool:
    nodes = [node for node in _expressions(query) if " OVER (" in node.op]
    if not nodes:
        return False
    node = make.chance.choice(nodes)
    fitting = [pair for pair in _FRAMES if pair[0] in node.op]
    if fitting:
        node.op = node.op.replace(*make.chance.choice(fitting))
    return bool(fitting)


def _order(query: Query, make: Make) -> bool:
    selects = [select for select in _selects(query) if select.order]
    if not selects:
        return False
    select = make.chance.choice(selects)
    names = [name for _, name in select.shown]
    what = make.chance.random()
    if what < 0.3:
        select.order[0] = make.chance.choice(
            (names[-1], str(len(names)), names[0], "1", "x", "n.x", "i", "-x", "i + 0")
        )
    elif what < 0.5:
        node, name = select.shown[-1]
        select.order[0] = f"({text_of(node)})" if "(" not in name else name
    elif what < 0.7:
        select.order[0] = select.order[0].split(" ")[0] + make.chance.choice(
            (" ASC", " DESC", " NULLS FIRST", " NULLS LAST")
        )
    elif what < 0.85:
        select.limit = select.limit.replace("LIMIT 3", "LIMIT 4").replace("LIMIT 5", "LIMIT 5 OFFSET 0")
    else:
        node, name = select.shown[-1]
        select.shown[-1] = (make.any(1), name)
    return True


def _hidden_column(query: Query, make: Make) -> bool:
    inner = [select for select in _selects(query) if select is not query]
    if not inner or isinstance(query, Union):
        return False
    inner[0].shown.append((make.number(1) if not inner[0].group else E("count(*)"), "more"))
    return True


def _group(query: Query, make: Make) -> bool:
    selects = [select for select in _selects(query) if select.group]
    if not selects:
        return False
    select, chance = make.chance.choice(selects), make.chance
    what = chance.random()
    if what < 0.25:
        select.group = [str(at) for at in range(1, len(select.group) + 1)]
    elif what < 0.5:
        select.group.append(chance.choice(("'x'", "NULL", "TRUE", "1.5", "j", "1 + 0")))
    elif what < 0.65:
        select.group.reverse()
    elif what < 0.8:
        select.group = [f"k{at}" for at in range(len(select.group))]
    elif what < 0.9:
        select.group = ["'x'"]
        select.shown = [(node, name) for node, name in select.shown if name.startswith("a")]
        select.having = None
    else:
        select.group = [*select.group, select.group[0]]
    return True


def _having(query: Query, make: Make) -> bool:
    selects = [select for select in _selects(query) if select.having is not None and select.group]
    if not selects:
        return False
    select = selects[0]
    if select.having is not None and select.having.op.startswith("k0"):
        condition = E(f"({select.group[0]}) IS NOT NULL", kind="truth")
        select.where = (
            condition
            if select.where is None
            else E("AND", [condition, E("%s", [select.where], "truth", True)], "truth")
        )
        select.having = None
        return True
    select.having = None
    return True


def _joins(query: Query, make: Make) -> bool:
    selects = [select for select in _selects(query) if select.joins]
    if not selects:
        return False
    select, chance = selects[0], make.chance
    at = chance.randrange(len(select.joins))
    words, table, alias, on = select.joins[at]
    what = chance.random()
    if what < 0.3:  # the first two change places
        words, table, alias, on = select.joins[0]
        assert isinstance(select.source, str)
        turned = {"LEFT JOIN": "RIGHT JOIN", "RIGHT JOIN": "LEFT JOIN"}
        if chance.random() < 0.7:
            words = turned.get(words, words)
        select.joins[0] = (words, select.source, select.alias, on)
        select.source, select.alias = table, alias
    elif what < 0.5 and words in {"JOIN", "INNER JOIN"}:
        select.joins[at] = ("CROSS JOIN", table, alias, on)
        condition = E("%s", [on], "truth", bracket=True)
        select.where = (
            condition
            if select.where is None
            else E("AND", [E("%s", [select.where], "truth", True), condition], "truth")
        )
    elif what < 0.6:
        select.joins[at] = (
            chance.choice(("JOIN", "LEFT JOIN", "LEFT OUTER JOIN", "RIGHT JOIN", "FULL JOIN")),
            table,
            alias,
            on,
        )
    elif what < 0.8:
        select.joins.reverse()
    elif select.where is not None:
        select.joins[at] = (words, table, alias, E("AND", [on, E("%s", [select.where], "truth", True)], "truth"))
        select.where = None
    return True


def _wrapped(query: Query, make: Make) -> bool:
    if isinstance(query, Union):
        return False
    inner = deepcopy(query)
    names = [name for _, name in query.shown]
    query.shown = [(E(f"z.{name}"), name) for name in names]
    query.source, query.alias, query.with_ = inner, "z", make.chance.random() < 0.3
    query.joins, query.where, query.group, query.having = [], None, [], None
    query.distinct, query.order, query.limit = False, [], ""
    if inner.where is not None and not inner.group and not inner.order and make.chance.random() < 0.4:
        query.where, inner.where = E("z.id IS NOT NULL", kind="truth"), inner.where
    return True


def _distinct(query: Query, make: Make) -> bool:
    select = make.chance.choice(_selects(query))
    if select.group or select.order or any("(" in node.op for node, _ in select.shown):
        return False
    if select.distinct and make.chance.random() < 0.6:
        select.distinct, select.group = False, [text_of(node) for node, _ in select.shown]
    else:
        select.distinct = not select.distinct
    return True


def _arms(query: Query, make: Make) -> bool:
    if not isinstance(query, Union):
        return False
    what = make.chance.random()
    if what < 0.3:
        query.arms.reverse()
    elif what < 0.6:
        query.last_first = not query.last_first
    elif what < 0.8:
        query.operators[0] = make.chance.choice(
            ("UNION ALL", "UNION", "UNION DISTINCT", "EXCEPT", "INTERSECT", "INTERSECT ALL")
        )
    else:
        query.arms[0], query.arms[1] = query.arms[1], query.arms[0]
    return True


_CHANGES = [
    *[_brackets, _neutral, _order, _joins, _arms] * 3,
    *[_turned_sides, _other_fold, _over, _group, _wrapped] * 2,
    *[_other_operator, _literal, _other_leaf, _hidden_column, _having, _distinct],
]  # fmt: skip
