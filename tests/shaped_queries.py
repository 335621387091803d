"""Random queries of the shapes in which Spark's own rules decide: brackets, commas and joins, merged columns, digits.

The order of rows is total wherever it decides anything, so each query has one answer.
"""

import random

from sqlglot import exp

from streamhouse.errors import Location
from streamhouse.sql.canonical import Canonical, CanonicalInput, canonical
from streamhouse.sql.dialect import parse_query
from streamhouse.sql.ports import ActionPort
from streamhouse.sql.schema import CheckedQuery, analyse
from tests.sql_corpus import columns

TABLES = {
    "x": {"a": "int", "b": "int"},
    "y": {"a": "bigint", "c": "int"},
    "z": {"d": "int", "a": "int", "b": "int"},
    "w": {"a": "int", "n": "decimal(10,2)", "m": "decimal(38,10)"},
}
_AT = Location("")
_KINDS = ("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")


def checked(sql: str) -> CheckedQuery:
    """The query, analysed over `TABLES`."""
    tree = parse_query(sql, _AT)
    used = {table.name.lower() for table in tree.find_all(exp.Table)} & set(TABLES)
    return analyse(tree, {name: ActionPort(columns(TABLES[name]), {}) for name in sorted(used)}, sql, _AT)


def meaning(sql: str) -> Canonical:
    """The canonical form of `sql`, as a compiled step would have it."""
    query = checked(sql)
    return canonical(query.sql, {port: CanonicalInput(port, columns(TABLES[port])) for port in query.reads})


def shaped(seed: int, number: int) -> list[str]:
    """So many queries; equal seeds give equal ones."""
    makers = (_brackets, _commas, _merged, _merged, _digits, _over_union)
    return [makers[at % len(makers)](random.Random(f"{seed}:{at}")) for at in range(number)]


def pairs(seed: int, number: int) -> list[tuple[str, str]]:
    """Pairs of queries of one shape, the second with one word or number changed at random, or with brackets moved."""
    found = []
    for at, first in enumerate(shaped(seed, number)):
        second = _changed(first, random.Random(f"{seed}:{at}:changed"))
        if second != first:
            found.append((first, second))
    return found


def _changed(sql: str, chance: random.Random) -> str:
    swaps = [
        ("LIMIT 1", "LIMIT 2"), ("LIMIT 2", "LIMIT 3"), ("OFFSET 1", "OFFSET 2"), (" DESC", ""),
        ("RIGHT JOIN", "LEFT JOIN"),
        ("FULL JOIN", "JOIN"), ("LEFT JOIN", "FULL JOIN"), ("UNION ALL", "UNION"), (" / 3", " / CAST(3 AS INT)"),
        ("3L", "3"), ("3S", "3"), ("3Y", "3"), ("-3", "-(3)"), (", y", " CROSS JOIN y"), ("USING (a)", "USING (a)"),
        ("* 3", "* CAST(3 AS INT)"), (") LIMIT", ") OFFSET"), ("SELECT a", "SELECT a + 0 AS a"), ("x.a", "y.a"),
        ("y.a", "z.a"),
    ]  # fmt: skip
    fitting = [(old, new) for old, new in swaps if old in sql and old != new]
    if not fitting:
        return sql
    old, new = chance.choice(fitting)
    places = [at for at in range(len(sql)) if sql.startswith(old, at)]
    at = chance.choice(places)
    return sql[:at] + new + sql[at + len(old) :]


# --- brackets ---


def _brackets(chance: random.Random) -> str:
    return _query(chance, 3)


def _query(chance: random.Random, depth: int) -> str:
    """A query with the columns a and b."""
    if depth and chance.random() < 0.75:
        inner = f"({_query(chance, depth - 1)})"
        if chance.random() < 0.3:
            inner = (
                f"{inner} {chance.choice(('UNION ALL', 'UNION', 'EXCEPT', 'INTERSECT'))} ({_query(chance, depth - 1)})"
            )
        with_ = f"WITH q{depth} AS ({_plain(chance)}) " if chance.random() < 0.2 else ""
        return f"{with_}{inner}{_behind(chance)}"
    if depth and chance.random() < 0.3:
        return f"SELECT a, b FROM ({_query(chance, depth - 1)}) AS s{depth} WHERE a IN ({_one(chance, depth - 1)})"
    return f"{_plain(chance)}{_behind(chance)}"


def _one(chance: random.Random, depth: int) -> str:
    inner = f"SELECT a FROM ({_query(chance, depth)}) AS t{depth}"
    return chance.choice((inner, f"({inner}) ORDER BY a LIMIT 2"))


def _plain(chance: random.Random) -> str:
    table = chance.choice(("x", "z"))
    return f"SELECT a, b FROM {table}" + chance.choice(("", " WHERE a > 1", " WHERE b IS NOT NULL"))


def _behind(chance: random.Random) -> str:
    order = f" ORDER BY {chance.choice(('a, b', 'b DESC, a', 'a DESC, b DESC'))}"
    cut = chance.choice((" LIMIT 1", " LIMIT 2", " LIMIT 3 OFFSET 1", " OFFSET 1"))
    return chance.choice(("", order, order + cut, order + cut))


# --- FROM ---


def _commas(chance: random.Random) -> str:
    tables = chance.sample(("x", "y", "z", "w"), chance.choice((3, 3, 4)))
    from_, seen = tables[0], [tables[0]]
    for name in tables[1:]:
        if chance.random() < 0.45:
            from_ += f", {name}"
        elif chance.random() < 0.2:
            from_ += f" LEFT {chance.choice(('SEMI', 'ANTI'))} JOIN {name} ON {chance.choice(seen)}.a = {name}.a"
            continue
        else:
            from_ += f" {chance.choice(_KINDS)} {name} ON {chance.choice(seen)}.a = {name}.a"
        seen.append(name)
    if chance.random() < 0.25:
        from_ = f"x AS v, ({from_})"
        seen.append("v")
    shown = ", ".join(f"{name}.a AS a{at}" for at, name in enumerate(seen))
    view = " LATERAL VIEW explode(array(1, 2)) l AS e" if chance.random() < 0.2 else ""
    return f"SELECT {shown}{', e' if view else ''} FROM {from_}{view}"


def _merged(chance: random.Random) -> str:
    tables = chance.sample(("x", "y", "z"), chance.choice((2, 3, 3)))
    first, *others = tables
    from_, shown = first, {first}
    for name in others:
        both = {"x", "z"} & ({name} | shown) == {"x", "z"} and name in {"x", "z"}
        if chance.random() < 0.3:
            from_ += f" NATURAL {chance.choice(_KINDS)} {name}"
        elif both and chance.random() < 0.6:
            from_ += f" {chance.choice(_KINDS)} {name} USING ({chance.choice(('a, b', 'b, a'))})"
        elif chance.random() < 0.12:
            from_ += f" LEFT {chance.choice(('SEMI', 'ANTI'))} JOIN {name} USING (a)"
            continue
        else:
            from_ += f" {chance.choice(_KINDS)} {name} USING (a)"
        shown.add(name)
    own = [f"{name}.a AS a_{name}" for name in sorted(shown)]
    kinds = chance.random()
    if kinds < 0.2 and len(shown) == len(tables):
        return f"SELECT * FROM {from_}"
    if kinds < 0.35:
        return f"SELECT a, count(*) AS n FROM {from_} GROUP BY a HAVING count(*) > 0"
    where = chance.choice(
        ("", " WHERE a > 1", " WHERE a IS NULL OR a < 4", " WHERE EXISTS (SELECT 1 FROM w WHERE w.n > a)")
    )
    if kinds < 0.5:
        return f"SELECT {first}.*, a + 1 AS p FROM {from_}{where}"
    if kinds < 0.6:
        return f"SELECT struct(a, {first}.a AS o) AS s FROM {from_}{where}"
    end = chance.choice(("", "", f" ORDER BY a, {', '.join(f'{len(own) + 1 - at}' for at in range(len(own)))} LIMIT 4"))
    return f"SELECT a, {', '.join(own)} FROM {from_}{where}{end}"


# --- digits ---


def _digits(chance: random.Random) -> str:
    column = chance.choice(("n", "m", "n", "a", "q.k"))
    number = chance.choice(
        ("3", "-3", "-(3)", "(3)", "3L", "-3L", "3S", "3Y", "CAST(3 AS INT)", "CAST(3L AS BIGINT)", "30", "3.0")
    )
    pair = f"{column} {chance.choice(('+', '-', '*', '/', '%'))} {number}"
    if chance.random() < 0.25:
        pair = (
            f"{chance.choice(('pmod', 'try_divide', 'try_add', 'coalesce', 'greatest', 'nullif'))}({column}, {number})"
        )
    elif chance.random() < 0.25:
        pair = f"{number} {chance.choice(('*', '+', '-'))} {column}"
    elif chance.random() < 0.2:
        pair = f"{column} {chance.choice(('>', '=', '<='))} {number}"
    from_ = "(SELECT a, n, m, 3 AS k FROM w) AS q"
    pair = chance.choice((pair, pair, f"n / q.k + {number}", f"CASE WHEN a > 1 THEN {pair} END"))
    return f"SELECT a, {pair} AS v FROM {from_}"


# --- windows over a union ---


def _over_union(chance: random.Random) -> str:
    arms = chance.sample(
        ("SELECT a, b FROM x", "SELECT a, b FROM z", "SELECT d AS a, b FROM z", "SELECT a, b + 1 AS b FROM x"), 2
    )
    union = f" {chance.choice(('UNION ALL', 'UNION ALL', 'UNION'))} ".join(arms)
    window = f"{chance.choice(('rank', 'dense_rank'))}() OVER (PARTITION BY a ORDER BY b{chance.choice(('', ' DESC'))})"
    if chance.random() < 0.5:
        inner = f"SELECT u.a AS a, u.b AS b, {window} AS r FROM ({union}) AS u"
        return f"SELECT q.a AS a, q.b AS b FROM ({inner}) AS q WHERE q.r = 1"
    return (
        f"WITH u AS ({union}) SELECT a, b, s FROM (SELECT *, sum(b) OVER (PARTITION BY a) AS s FROM u) AS q WHERE s > 1"
    )
