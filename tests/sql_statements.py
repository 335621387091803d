"""Statements made by a small grammar of Spark's SQL, and broken ones made of them: nothing may crash on any."""

import random
from collections.abc import Callable, Iterator

_COLUMNS = ("id", "k", "v", "ts", "d", "x", "dec", "arr", "m", "s", "b", "bin", "t.id", "a.v", "s.a", "m.Key")
_LITERALS = (
    *("1", "0", "-1", "2.5", "1L", "1.5BD", "1e3", "'a'", "'it''s'", r"'a\'b'", "r'\\n'", '"q"', "X'1F'", "NULL"),
    *("TRUE", "DATE '2026-01-01'", "TIMESTAMP '2026-01-01 00:00:00'", "INTERVAL 1 DAY", "INTERVAL '1' YEAR"),
    *("INTERVAL '1-2' YEAR TO MONTH", "''", "1.", ".5"),
)
_ODD = (
    "9" * 39,
    "9" * 5000,
    "1." + "9" * 5000,
    "'" + "z" * 3000 + "'",
    "300Y",
    "DATE 'x'",
    "nope",
    "1e999",
    "INTERVAL 1 NOPE",
)
_BINARY = (
    *("+", "-", "*", "/", "%", "DIV", "||", "|", "&", "^", "<<", ">>", "=", "<>", "<", "<=", "<=>", "AND", "OR", "!="),
    *("LIKE", "RLIKE", "IS DISTINCT FROM", "NOT LIKE"),
)
_TYPES = (
    *(
        "INT",
        "BIGINT",
        "STRING",
        "DECIMAL(10,2)",
        "DECIMAL(12,2.0)",
        "DECIMAL(99)",
        "ARRAY<INT>",
        "MAP<STRING>",
        "DATE",
    ),
    *(
        "MAP<STRING,INT>",
        "STRUCT<a: INT>",
        "STRUCT<>",
        "TIMESTAMP",
        "TIME",
        "VARCHAR(3)",
        "NOPE",
        "INTERVAL DAY",
        "VOID",
    ),
)
_ROWS = ("explode", "explode_outer", "inline", "posexplode", "stack", "json_tuple", "variant_explode", "nope")
_PIVOTS = (
    " PIVOT (sum(v) FOR k IN ('a', 'b'))",
    " PIVOT (sum(v) AS s, count(*) AS n FOR (k, b) IN (('a', true) AS x))",
    " PIVOT (max(nope) FOR v IN (1, x))",
    " UNPIVOT (val FOR name IN (v, x))",
    " UNPIVOT INCLUDE NULLS ((p, q) FOR name IN ((v, k) AS one, (id, nope)))",
    " TABLESAMPLE (5 ROWS)",
)
_SETS = ("UNION ALL", "UNION", "EXCEPT", "INTERSECT")
_JOINS = ("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "SEMI JOIN", "FULL SEMI JOIN", "CROSS JOIN", "NATURAL JOIN")


class Statements:
    """Random statements over the tables `t` and `u`.

    Args:
        seed: Equal seeds give equal statements.
        functions: Names to call.
    """

    def __init__(self, seed: int, functions: tuple[str, ...]) -> None:
        self._random = random.Random(seed)
        self._functions = functions

    def whole(self) -> str:
        """A statement that may be sound."""
        return self._query(3)

    def broken(self) -> str:
        """One with a word left out, doubled, moved or put into the place of another."""
        words = self.whole().replace("(", " ( ").replace(")", " ) ").replace(",", " , ").split(" ")
        for _ in range(self._random.randint(1, 3)):
            place, other = (self._random.randrange(len(words)) for _ in range(2))
            change = self._random.randrange(4)
            if change == 0 and len(words) > 1:
                del words[place]
            elif change == 1:
                words.insert(place, words[other])
            elif change == 2:
                words[place], words[other] = words[other], words[place]
            else:
                words[place] = self._of(
                    ("(", ")", ",", "'", "SELECT", "FROM", "NOT", "*", ".", "$", "--", "/*", ";", "\x00")
                )
        return " ".join(words)

    def _of(self, values: tuple[str, ...]) -> str:
        return self._random.choice(values)

    def _chance(self, share: float) -> bool:
        return self._random.random() < share

    def _many(self, make: Callable[[], str], most: int) -> str:
        return ", ".join(make() for _ in range(self._random.randint(0, most)))

    def _value(self, depth: int) -> str:
        if self._chance(0.003):
            return self._of(_ODD)
        if depth <= 0 or self._chance(0.25):
            return self._of(_COLUMNS) if self._chance(0.6) else self._of(_LITERALS)
        makes: tuple[Callable[[], str], ...] = (
            lambda: f"({self._value(depth - 1)} {self._of(_BINARY)} {self._value(depth - 1)})",
            lambda: f"{self._value(0)} {self._of(_BINARY)} {self._value(0)}",
            lambda: f"({self._value(depth - 1)})",
            lambda: f"{self._of(('-', 'NOT ', '~', '+', '!'))}{self._value(depth - 1)}",
            self._call(depth),
            self._call(depth),
            lambda: f"CAST({self._value(depth - 1)} AS {self._of(_TYPES)})",
            lambda: f"{self._value(depth - 1)}::{self._of(_TYPES)}",
            lambda: (
                f"CASE WHEN {self._value(depth - 1)} THEN {self._value(depth - 1)} ELSE {self._value(depth - 1)} END"
            ),
            lambda: f"{self._value(0)} {self._of(('', 'NOT '))}IN ({self._value(0)}, {self._value(0)})",
            lambda: f"{self._value(0)} BETWEEN {self._value(0)} AND {self._value(0)}",
            lambda: f"{self._value(0)} IS {self._of(('', 'NOT '))}NULL",
            lambda: f"({self._query(depth - 2)})",
            lambda: f"({self._query(depth - 2)} {self._of(_SETS)} {self._query(depth - 2)})",
            lambda: f"{self._of(_ROWS)}({self._value(0)})",
            lambda: f"{self._value(0)} * INTERVAL '1' SECOND",
            lambda: f"EXISTS ({self._query(depth - 2)})",
            lambda: f"{self._value(0)} IN ({self._query(depth - 2)})",
            lambda: f"{self._value(depth - 1)}[{self._value(0)}]",
            lambda: f"{self._value(depth - 1)}.a",
            lambda: f"transform(arr, e -> {self._value(depth - 1)})",
            lambda: f"{self._of(self._functions)}({self._value(0)}) OVER (PARTITION BY k ORDER BY {self._value(0)})",
            lambda: f"struct({self._value(0)} AS orderId, {self._value(0)})",
            lambda: self._of(("*", "t.*", "window(ts, '1 hour')", "count(*) FILTER (WHERE b)", "(1, 2)")),
        )
        return self._random.choice(makes)()

    def _call(self, depth: int) -> Callable[[], str]:
        distinct = "DISTINCT " if self._chance(0.1) else ""
        return lambda: f"{self._of(self._functions)}({distinct}{self._many(lambda: self._value(depth - 1), 4)})"

    def _item(self, depth: int) -> str:
        if self._chance(0.08):
            return self._of(
                (
                    "*",
                    "t.*",
                    "a.*",
                    "* EXCEPT (v)",
                    "u.*",
                    "s.*",
                    "struct(s.*) AS z",
                    "struct(nope.*)",
                    "posexplode(arr)",
                )
            )
        return self._value(depth) + (f" AS {self._of(('y', 'z', 'id', 'Y', '`a b`'))}" if self._chance(0.8) else "")

    def _source(self, depth: int) -> str:
        if depth > 0 and self._chance(0.3):
            return f"({self._query(depth - 1)}) {self._of(('x', 't', 'a', ''))}"
        if self._chance(0.1):
            return self._of(
                ("c", "x", "d", "explode(arr)", "VALUES (1, 2), (3, 4) AS w(p, q)", "range(3)", "t.arr", "nope")
            )
        return self._of(("t", "t", "t", "t AS a", "u"))

    def _from(self, depth: int) -> str:
        text = self._source(depth)
        while self._chance(0.25):
            condition = self._of((f"ON {self._value(1)}", f"ON {self._value(2)}", "USING (id)", ""))
            text += (
                f", {self._source(0)}"
                if self._chance(0.2)
                else f" {self._of(_JOINS)} {self._source(depth)} {condition}"
            )
        while self._chance(0.15):
            names = self._of((" AS e", "", " AS p, q", " AS e, f, g"))
            outer = self._of(("", "", "OUTER "))
            text += f" LATERAL VIEW {outer}{self._of(_ROWS)}({self._many(lambda: self._value(0), 3)}) l{names}"
        if self._chance(0.1):
            inner = self._of((f"({self._query(depth - 1)})", f"{self._of(_ROWS)}({self._value(0)})"))
            text += f"{self._of((',', ' LEFT JOIN', ' JOIN'))} LATERAL {inner} {self._of(('m', '', 'm(c)'))}"
        if self._chance(0.05):
            text += self._of(_PIVOTS)
        return text

    def _query(self, depth: int) -> str:
        depth = max(depth, 0)
        text = "SELECT " + ("DISTINCT " if self._chance(0.1) else "")
        text += ", ".join(self._item(depth) for _ in range(self._random.randint(1, 3))) + f" FROM {self._from(depth)}"
        clauses: tuple[tuple[float, Callable[[], str]], ...] = (
            (0.4, lambda: f"WHERE {self._value(depth)}"),
            (0.25, lambda: f"GROUP BY {self._of((self._value(1), '1', '-1', '99', 'ALL', 'ROLLUP(k, v)', 'id, k'))}"),
            (0.1, lambda: f"HAVING {self._value(1)}"),
            (0.08, lambda: f"QUALIFY {self._value(2)}"),
            (0.2, lambda: f"ORDER BY {self._of((self._value(1), '1', '-1', 'y DESC NULLS LAST'))}"),
            (0.15, lambda: f"LIMIT {self._of(('1', '0', '-1', self._value(0), 'ALL', '1 OFFSET 1'))}"),
        )
        text += "".join(f" {make()}" for share, make in clauses if self._chance(share))
        if depth > 1 and self._chance(0.15):
            text += f" {self._of(_SETS)} {self._query(depth - 1)}"
        if depth > 1 and self._chance(0.2):
            name = self._of(("c", "x", "t", "c(p)"))
            more = f", d AS ({self._query(0)})" if self._chance(0.3) else ""
            text = f"WITH {self._of(('', '', 'RECURSIVE '))}{name} AS ({self._query(depth - 1)}){more} {text}"
        return text


def statements(seed: int, count: int, functions: tuple[str, ...]) -> Iterator[str]:
    """So many statements, half of them broken."""
    made = Statements(seed, functions)
    for number in range(count):
        yield made.broken() if number % 2 else made.whole()
