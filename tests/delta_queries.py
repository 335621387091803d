"""Queries that strategy `delta` keeps up to date, and random rows and changes of what they read."""

import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from random import Random
from typing import Any, NamedTuple

import pyarrow as pa

from streamhouse.model.table import Column
from streamhouse.model.types import Strategy
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes

TYPES = {
    "o": {
        "id": "bigint", "cust": "bigint", "store": "int", "amt": "decimal(12,2)", "x": "double", "ts": "timestamp",
        "day": "date", "s": "string",
    },
    "k": {
        "id": "bigint", "cust": "bigint", "v": "int", "w": "double", "f": "float", "d": "decimal(20,4)",
        "big": "decimal(38,10)", "ts": "timestamp", "ntz": "timestamp_ntz", "day": "date", "s": "string",
        "b": "boolean",
    },
    "c": {"cust": "bigint", "name": "string", "region": "int", "rate": "double"},
    "e": {"code": "string", "label": "string", "tier": "int"},
}  # fmt: skip
COLUMNS = {name: tuple(Column(name=n, type=t) for n, t in types.items()) for name, types in TYPES.items()}
KEYS: dict[str, tuple[str, ...]] = {"o": (), "k": ("id",), "c": ("cust",), "e": ("code",)}

_TEXTS = (
    "",
    "a",
    "A",
    "é",
    "e\u0301",
    "it's",
    'quo"te',
    "back\\slash",
    "new\nline",
    " a",
    "a ",
    "漢字",
    "🜁",
    "%_",
    "a\x00b",
)
_DOUBLES = (0.0, -0.0, 1.0, 0.1, 0.2, -2.5, math.nan, math.inf, 1e300, 5e-324, 3.0)
_BEGIN = datetime(2024, 3, 31, tzinfo=UTC)


class Case(NamedTuple):
    """`ports`: what the SQL names, where this is no input's own name."""

    key: str
    sql: str
    ports: dict[str, str] = {}  # noqa: RUF012  never changed
    strategy: Strategy = Strategy.DELTA

    @property
    def reads(self) -> dict[str, str]:
        """Port → input."""
        words = self.sql.replace(",", " ").replace(")", " ").split()
        own = {word: word for before, word in pairwise(words) if before in ("FROM", "JOIN") and word in TYPES}
        return own | self.ports


CASES = [
    # Joins: inner, outer on either side, semi, anti; the dimension, the facts, or both change.
    Case("r", "SELECT c.region AS r, count(*) AS n, sum(k.v) AS v FROM k JOIN c ON k.cust = c.cust GROUP BY c.region"),
    Case("r", "SELECT c.region AS r, count(k.id) AS n, sum(k.d) AS d FROM c LEFT JOIN k ON k.cust = c.cust GROUP BY c.region"),  # noqa: E501
    Case("r", "SELECT c.region AS r, count(k.id) AS n FROM k RIGHT JOIN c ON k.cust = c.cust GROUP BY c.region"),
    Case("r", "SELECT region AS r, count(*) AS n FROM c LEFT SEMI JOIN k ON k.cust = c.cust GROUP BY region"),
    Case("r", "SELECT region AS r, count(*) AS n FROM c LEFT ANTI JOIN k ON k.cust = c.cust GROUP BY region"),
    Case("r", "SELECT region AS r, count(*) AS n FROM c WHERE EXISTS (SELECT 1 FROM k WHERE k.cust = c.cust AND k.v > 1) GROUP BY 1"),  # noqa: E501
    Case("r", "SELECT region AS r, count(*) AS n FROM c WHERE NOT EXISTS (SELECT 1 FROM o WHERE o.cust = c.cust) GROUP BY 1"),  # noqa: E501
    Case("r", "SELECT region AS r, sum(cust) AS n FROM c WHERE cust IN (SELECT cust FROM k WHERE v > 1) GROUP BY region"),  # noqa: E501
    Case("r", "SELECT region AS r, count(*) AS n FROM c WHERE region > (SELECT avg(v) FROM k WHERE k.cust = c.cust) GROUP BY 1"),  # noqa: E501
    # Chains, the same table twice by one port and by two, an inequality beside the equality.
    Case("g", "SELECT coalesce(k.cust, c.cust) AS g, count(*) AS n, max(c.name) AS m, sum(k.v) AS v FROM k FULL JOIN c ON k.cust = c.cust GROUP BY coalesce(k.cust, c.cust)"),  # noqa: E501
    Case("r", "SELECT c.region AS r, count(*) AS n, count(k.id) AS m FROM k FULL JOIN c ON k.cust = c.cust AND k.v > 1 GROUP BY c.region"),  # noqa: E501
    Case("r", "SELECT t.r, count(*) AS n FROM (SELECT c.region AS r, c.name AS n FROM k FULL JOIN c ON k.cust = c.cust) AS t JOIN e ON e.code = t.n GROUP BY t.r"),  # noqa: E501
    Case("i, j", "SELECT a.id AS i, b.id AS j, a.v, b.s FROM a FULL JOIN b ON a.cust = b.id", {"a": "k", "b": "k"}),
    Case("r", "SELECT c.region AS r, count(*) AS n FROM k FULL JOIN c ON k.cust = c.cust JOIN e ON e.code = c.name GROUP BY c.region"),  # noqa: E501
    Case("r", "SELECT t.cust + 1 AS r, count(*) AS n, sum(t.m) AS m FROM (SELECT cust, count(*) AS m FROM k GROUP BY cust) AS t FULL JOIN c ON t.cust = c.cust GROUP BY t.cust + 1"),  # noqa: E501
    Case("r", "SELECT c.region AS r, count(*) AS n FROM o JOIN k ON o.cust = k.cust JOIN c ON k.v = c.cust GROUP BY c.region"),  # noqa: E501
    Case("l", "SELECT e.label AS l, sum(o.amt) AS amt, count(*) AS n FROM o JOIN c ON o.cust = c.cust JOIN e ON c.name = e.code GROUP BY e.label"),  # noqa: E501
    Case("l, r", "SELECT e.label AS l, c.region AS r, max(o.amt) AS amt FROM o LEFT JOIN c ON o.cust = c.cust LEFT JOIN e ON c.name = e.code GROUP BY e.label, c.region"),  # noqa: E501
    Case("n", "SELECT a.name AS n, count(*) AS m FROM c AS a JOIN c AS b ON a.region = b.region JOIN k ON k.cust = b.cust GROUP BY a.name"),  # noqa: E501
    Case("r", "SELECT p.region AS r, count(*) AS n, sum(q.rate) AS v FROM p JOIN q ON p.region = q.region GROUP BY p.region", {"p": "c", "q": "c"}),  # noqa: E501
    Case("i", "SELECT a.id AS i, a.s, b.s AS t FROM a JOIN b ON a.cust = b.id", {"a": "k", "b": "k"}),
    Case("r", "SELECT p.store AS r, count(*) AS n FROM p JOIN q ON p.cust = q.cust AND p.id < q.id GROUP BY p.store", {"p": "o", "q": "o"}),  # noqa: E501
    Case("r", "SELECT c.region AS r, count(*) AS n FROM k JOIN c ON k.cust = c.cust AND k.v > c.region GROUP BY c.region"),  # noqa: E501
    # Inner queries that fold, unions.
    Case("n", "SELECT n, count(*) AS customers FROM (SELECT cust, count(*) AS n FROM k GROUP BY cust) AS t GROUP BY n"),
    Case("n", "SELECT n, count(*) AS m FROM (SELECT c.cust, count(k.id) AS n FROM c LEFT JOIN k ON k.cust = c.cust GROUP BY c.cust) AS t GROUP BY n"),  # noqa: E501
    Case("r", "WITH t AS (SELECT cust, max(v) AS top FROM k GROUP BY cust) SELECT c.region AS r, max(t.top) AS v FROM c JOIN t ON t.cust = c.cust GROUP BY 1"),  # noqa: E501
    Case("r", "WITH t AS (SELECT cust, sum(amt) AS s FROM o GROUP BY cust) SELECT c.region AS r, count(*) AS n FROM c JOIN t ON t.cust = c.cust WHERE t.s > 1 GROUP BY 1"),  # noqa: E501
    Case("r", "SELECT region AS r, count(*) AS n FROM (SELECT cust, region FROM c UNION ALL SELECT cust, v FROM k) AS t GROUP BY region"),  # noqa: E501
    Case("v", "SELECT DISTINCT k.v FROM k JOIN c ON k.cust = c.cust"),
    Case("v, s", "SELECT DISTINCT k.v, c.name AS s FROM k LEFT JOIN c ON k.cust = c.cust"),
    # What loses its extreme, what needs all rows, conditions on groups, one group.
    Case("r", "SELECT c.region AS r, min(k.v) AS low, max(k.v) AS high, count(DISTINCT k.v) AS d FROM k JOIN c ON k.cust = c.cust GROUP BY 1"),  # noqa: E501
    Case("r", "SELECT c.region AS r, min(k.w) AS low, max(k.w) AS high, max(k.s) AS s FROM k JOIN c ON k.cust = c.cust GROUP BY 1"),  # noqa: E501
    Case("r", "SELECT c.region AS r, sum(k.w) AS w, avg(k.f) AS f, stddev(k.v) AS d FROM k JOIN c ON k.cust = c.cust GROUP BY 1"),  # noqa: E501
    Case("r", "SELECT c.region AS r, avg(k.v) AS v, count_if(k.v > 1) AS n, avg(k.d) AS d FROM k JOIN c ON k.cust = c.cust GROUP BY 1"),  # noqa: E501
    Case("r", "SELECT c.region AS r, percentile(k.v, 0.5) AS p, median(o.amt) AS m FROM k JOIN c ON k.cust = c.cust JOIN o ON o.cust = c.cust GROUP BY 1"),  # noqa: E501
    Case("r", "SELECT c.region AS r, sum(k.v) FILTER (WHERE k.b) AS v, count(*) FILTER (WHERE k.v = 1) AS n, bool_or(k.b) AS b FROM k JOIN c ON k.cust = c.cust GROUP BY 1"),  # noqa: E501
    Case("r", "SELECT c.region AS r, sum(k.v) + count(*) AS v FROM k JOIN c ON k.cust = c.cust GROUP BY c.region HAVING count(*) > 1 AND sum(k.v) > 2"),  # noqa: E501
    Case("r, one", "SELECT c.region AS r, c.region + 1 AS one, count(*) AS n FROM k JOIN c ON k.cust = c.cust GROUP BY c.region, c.region + 1"),  # noqa: E501
    Case("r", "SELECT c.region AS r, sum(k.big) AS big, sum(o.amt) AS amt, count(o.x) AS n FROM k JOIN c ON k.cust = c.cust JOIN o ON o.cust = c.cust GROUP BY 1"),  # noqa: E501
    Case("a", "SELECT 1 AS a, count(*) AS n, sum(v) AS s, count(v) AS m, avg(v) AS v, sum(d) AS d FROM k"),
    Case("a", "SELECT 1 AS a, max(v) AS v, min(w) AS w, sum(w) AS t FROM k JOIN c ON c.cust = k.cust"),
    Case("a", "SELECT 1 AS a, count(*) AS n FROM k JOIN c ON c.cust = k.cust HAVING count(*) > 2"),
    # Groups by text, by date, by instants, by windows, by NULL, by several.
    Case("s, day", "SELECT k.s, k.day, count(*) AS n, sum(c.rate) AS r FROM k JOIN c ON k.cust = c.cust GROUP BY k.s, k.day"),  # noqa: E501
    Case("ts, ntz", "SELECT k.ts, k.ntz, count(*) AS n FROM k JOIN c ON k.cust = c.cust GROUP BY k.ts, k.ntz"),
    Case("day", "SELECT to_date(k.ts) AS day, max(k.ntz) AS last, sum(k.d) AS d FROM k JOIN c ON k.cust = c.cust GROUP BY to_date(k.ts)"),  # noqa: E501
    Case("start, r", "SELECT window.start AS start, c.region AS r, count(*) AS n, sum(o.amt) AS amt FROM o JOIN c ON o.cust = c.cust GROUP BY window(o.ts, '1 hour'), c.region"),  # noqa: E501
    Case("start, r", "SELECT window.start AS start, c.region AS r, max(k.ts) AS last FROM k JOIN c ON k.cust = c.cust GROUP BY window(k.ts, '1 hour', '30 minutes'), c.region"),  # noqa: E501
    Case("d", "SELECT k.d, count(*) AS n, sum(k.v) AS v FROM k JOIN c ON k.cust = c.cust GROUP BY k.d"),
    # Rows by their key, and rows beside each other.
    Case("id", "SELECT k.id, c.name, k.v, k.w, k.f, c.rate FROM k JOIN c ON k.cust = c.cust"),
    Case("id", "SELECT k.id, c.name, k.w * c.rate AS m, k.s || c.name AS t FROM k LEFT JOIN c ON k.cust = c.cust WHERE k.v > 1"),  # noqa: E501
    Case("r, id", "SELECT c.region AS r, k.id, row_number() OVER (PARTITION BY c.region ORDER BY k.id) AS at FROM k JOIN c ON k.cust = c.cust"),  # noqa: E501
    Case("r, id", "SELECT c.region AS r, k.id, sum(k.v) OVER (PARTITION BY c.region ORDER BY k.id) AS v FROM k JOIN c ON k.cust = c.cust"),  # noqa: E501
    Case("r, id", "SELECT c.region AS r, k.id FROM k JOIN c ON k.cust = c.cust QUALIFY row_number() OVER (PARTITION BY c.region ORDER BY k.id) <= 2"),  # noqa: E501
    # Groups beside each other.
    Case("r, n", "SELECT c.region AS r, c.name AS n, sum(k.v) AS v, rank() OVER (PARTITION BY c.region ORDER BY sum(k.v)) AS p FROM k JOIN c ON k.cust = c.cust GROUP BY c.region, c.name"),  # noqa: E501
    Case("r, n", "SELECT c.region AS r, c.name AS n, count(*) AS m, sum(count(*)) OVER (PARTITION BY c.region) AS a FROM k JOIN c ON k.cust = c.cust GROUP BY c.region, c.name"),  # noqa: E501
    Case("r, n", "SELECT c.region AS r, c.name AS n FROM k JOIN c ON k.cust = c.cust GROUP BY c.region, c.name QUALIFY dense_rank() OVER (PARTITION BY c.region ORDER BY count(*)) = 1"),  # noqa: E501
    Case("w, i", "SELECT window.start AS w, k.id + 1 AS i, count(DISTINCT c.cust, k.day) AS n FROM c LEFT JOIN k ON c.region = k.id GROUP BY k.id + 1, window(k.ts, '1 hour') HAVING count(*) >= (SELECT min(id) FROM k)"),  # noqa: E501
    # Sessions: the rows of a group make them.
    Case("b, r", "SELECT session_window.start AS b, c.region AS r, count(*) AS n, max(session_window.end) AS e, sum(k.v) AS v FROM k JOIN c ON k.cust = c.cust GROUP BY c.region, session_window(k.ts, '40 minutes')"),  # noqa: E501
    Case("r, b", "SELECT c.region AS r, session_window.start AS b, count(*) AS n FROM k LEFT JOIN c ON k.cust = c.cust GROUP BY c.region, session_window(k.ts, '30 minutes') HAVING count(*) > 1"),  # noqa: E501
    Case("n", "SELECT t.n, count(*) AS m FROM (SELECT cust, session_window.start AS b, count(*) AS n FROM k GROUP BY cust, session_window(ts, '1 hour')) AS t GROUP BY t.n"),  # noqa: E501
    # Constants in the key, and the same constants where Spark wants a constant.
    Case("two, id", "SELECT 2 AS two, k.id, round(k.v / 3, 2) AS v FROM k JOIN c ON k.cust = c.cust"),
    Case("one, r, id", "SELECT 1 AS one, c.region AS r, k.id, lag(k.v, 1) OVER (PARTITION BY 1, c.region ORDER BY k.id) AS v FROM k JOIN c ON k.cust = c.cust"),  # noqa: E501
    Case("a", "SELECT DISTINCT 1 AS a, count(*) AS n FROM k JOIN c ON k.cust = c.cust"),
    # Stages: what groups are compared with, groups of groups, sets, several groupings, one table in several places.
    Case("r", "SELECT c.region AS r, count(*) AS n FROM k JOIN c ON k.cust = c.cust GROUP BY c.region HAVING count(*) > (SELECT count(*) / 5 FROM k)"),  # noqa: E501
    Case("r", "SELECT c.region AS r, sum(k.v) AS n, (SELECT max(v) FROM k) AS most FROM k JOIN c ON k.cust = c.cust GROUP BY c.region"),  # noqa: E501
    Case("id", "SELECT k.id, k.v - (SELECT max(v) FROM k) AS d, c.rate FROM k JOIN c ON k.cust = c.cust"),
    Case("r, n, g", "SELECT coalesce(region, -1) AS r, coalesce(name, '-') AS n, grouping_id() AS g, count(*) AS m, sum(k.d) AS d FROM k JOIN c ON k.cust = c.cust GROUP BY ROLLUP (region, name)"),  # noqa: E501
    Case("r, n, g", "SELECT region AS r, name AS n, grouping_id() AS g, max(k.v) AS v, sum(region) AS s FROM k JOIN c ON k.cust = c.cust GROUP BY CUBE (region, name)"),  # noqa: E501
    Case("r, n, g, h", "SELECT region AS r, name AS n, grouping(name) AS g, grouping(region) AS h, count(*) AS m FROM k JOIN c ON k.cust = c.cust GROUP BY GROUPING SETS ((region, name), (region), ())"),  # noqa: E501
    Case("cust", "SELECT cust FROM k UNION SELECT region FROM c"),
    Case("cust", "SELECT k.cust FROM k JOIN c ON k.v = c.cust INTERSECT SELECT cust FROM c WHERE region > 1"),
    Case("cust", "SELECT k.cust FROM k JOIN c ON k.v = c.cust EXCEPT SELECT cust FROM c WHERE region > 1"),
    Case("n", "SELECT t.n + 0 AS n, count(*) AS m FROM (SELECT v AS n FROM k INTERSECT SELECT region FROM c) AS t JOIN k ON k.v > t.n GROUP BY t.n + 0"),  # noqa: E501
    Case("v", "WITH t AS (SELECT v, cust, count(*) AS n, sum(w) AS w FROM k GROUP BY v, cust) SELECT a.v, sum(a.n) AS n, count(b.n) AS m, max(b.w) AS w FROM t AS a LEFT JOIN t AS b ON a.v = b.cust GROUP BY a.v"),  # noqa: E501
    Case("v, cust", "SELECT v, cust, n, rank() OVER (ORDER BY n DESC) AS place FROM (SELECT v, cust, count(*) AS n FROM k GROUP BY v, cust) AS t"),  # noqa: E501
    Case("r", "SELECT c.region AS r, sum(t.v) AS v, count(*) AS n FROM (SELECT id, cust, v FROM k ORDER BY v DESC, id LIMIT 5) AS t JOIN c ON t.cust = c.cust GROUP BY c.region"),  # noqa: E501
    Case("r", "SELECT c.region AS r, sum(t.n) AS n FROM c JOIN (SELECT DISTINCT cust, v AS n FROM k) AS t ON t.n = c.cust GROUP BY c.region"),  # noqa: E501
    Case("r", "SELECT a.region AS r, count(*) AS n FROM k JOIN c AS a ON k.cust = a.cust JOIN c AS b ON k.v = b.cust GROUP BY a.region"),  # noqa: E501
    Case("r", "SELECT r, sum(n) AS n FROM (SELECT region AS r, count(*) AS n FROM c GROUP BY region UNION ALL SELECT count(*), v FROM k GROUP BY v) AS t GROUP BY r"),  # noqa: E501
    Case("r", "SELECT region AS r, count(*) AS n FROM c WHERE region = (SELECT max(region) FROM c) GROUP BY region"),
    Case("r", "SELECT c.region AS r, count(*) AS n, sum(t.m) AS m FROM c JOIN (SELECT cust, v, row_number() OVER (PARTITION BY cust ORDER BY id) AS m FROM k) AS t ON t.v = c.cust GROUP BY c.region"),  # noqa: E501
    Case("r", "SELECT region AS r, count(*) AS n FROM c GROUP BY region ORDER BY count(*) * 2 DESC, region LIMIT 3"),
    Case("r, n, g, h", "SELECT region AS r, name AS n, grouping(name) AS g, grouping(region) AS h, rank() OVER (PARTITION BY grouping(name) ORDER BY count(*) DESC) AS p FROM c GROUP BY ROLLUP (region, name)"),  # noqa: E501
    Case("a", "SELECT 1 AS a, (SELECT count(*) FROM k WHERE v > 1) AS n, (SELECT sum(d) FROM k) AS d, count(*) AS m FROM c"),  # noqa: E501
    Case("id", "SELECT k.id, k.v FROM k JOIN (SELECT cust, max(f) AS f FROM k GROUP BY cust) AS t ON k.cust = t.cust AND k.v < t.f"),  # noqa: E501
    Case("g", "SELECT k.cust AS g, count(t.m) AS n, max(t.w) AS w FROM k LEFT JOIN (SELECT window.start AS w, v AS v, count(*) AS m FROM k GROUP BY v, window(ts, '1 hour', '30 minutes')) AS t ON k.id = t.v GROUP BY k.cust"),  # noqa: E501
]  # fmt: skip


def version(name: str, chance: Random, number: int) -> dict[str, Any]:
    """A row; `number` is its own."""
    made = {column: _value(kind, chance) for column, kind in TYPES[name].items()}
    [*key] = KEYS[name]
    if name in ("o", "k"):
        made["id"] = number
    elif name == "c":
        made["cust"] = number % 7
        made["name"] = chance.choice(("a", "é", "it's", None))
    else:
        made[key[0]] = _TEXTS[number % 7]
    return made


def _value(kind: str, chance: Random) -> Any:
    at = chance.randrange(12)
    if at == 0:
        return None
    if kind in ("bigint", "int"):
        return at % 5
    if kind in ("double", "float"):
        found = _DOUBLES[at - 1]
        return found if kind == "double" or abs(found) < 1e30 or math.isinf(found) else 0.1
    if kind.startswith("decimal"):
        scale = int(kind.rstrip(")").split(",")[1])
        return Decimal(at * 12345 % 1000 - 300).scaleb(-scale)
    if kind == "string":
        return _TEXTS[chance.randrange(len(_TEXTS))]
    if kind == "boolean":
        return at % 2 == 0
    moment = _BEGIN + timedelta(minutes=25 * at, microseconds=at)
    if kind == "date":
        return date(2024, 2, 27) + timedelta(days=at % 4)
    return moment if kind == "timestamp" else moment.replace(tzinfo=None)


def entry(name: str, rows: pa.Table, chance: Random, most: int) -> Changes:
    """Random changes of rows: added, replaced, deleted; of keys, the ones that are there and others."""
    schema = arrow_schema(COLUMNS[name])
    if not KEYS[name]:
        known = rows.num_rows
        made = [version(name, chance, known + at) for at in range(chance.randrange(most + 1))]
        if made and chance.randrange(2):
            made.append(made[0])  # the very same row again
        return Changes(pa.Table.from_pylist(made, schema=schema))
    [key] = KEYS[name]
    numbers = {chance.randrange(3 * most) for _ in range(chance.randrange(most + 1))}
    upserts = {row[key]: row for row in (version(name, chance, number) for number in sorted(numbers))}
    present = rows.to_pylist()
    for row in present:  # replaced in some columns, or by itself
        if chance.randrange(6) == 0:
            other = version(name, chance, 0)
            names = [n for n in row if n != key and chance.randrange(3) == 0]
            upserts[row[key]] = row | {n: other[n] for n in names}
    gone = [row[key] for row in present if chance.randrange(6) == 0 and row[key] not in upserts]
    if chance.randrange(4) == 0:
        ghost = version(name, chance, 3 * most + 1)[key]  # never seen, it may be
        gone += [ghost] if ghost not in upserts and ghost not in gone else []
    deletes = pa.table({key: pa.array(gone, schema.field(key).type)}) if gone else None
    return Changes(pa.Table.from_pylist(list(upserts.values()), schema=schema), deletes)
