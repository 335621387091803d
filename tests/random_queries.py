"""Random queries over two tables, and what they mean.

Brackets are left out at random, so that it is Spark's precedence that decides what a text means.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from sqlglot import exp

from streamhouse.errors import Location
from streamhouse.sql.canonical import Canonical, CanonicalInput, canonical
from streamhouse.sql.dialect import parse_query
from streamhouse.sql.ports import ActionPort
from streamhouse.sql.schema import CheckedQuery, analyse
from streamhouse.sql.widths import Widths
from tests.sql_corpus import columns

TABLES = {
    "n": {
        "id": "bigint", "i": "int", "j": "int", "w": "smallint", "l": "bigint", "x": "double", "f": "float",
        "m": "decimal(6,2)", "s": "string", "u": "string", "b": "boolean", "arr": "array<int>",
        "mp": "map<string,int>", "st": "struct<a:int,b:string>", "ts": "timestamp", "d": "date",
    },
    "p": {"id": "bigint", "i": "int", "l": "bigint", "x": "double", "s": "string", "b": "boolean"},
}  # fmt: skip
_WIDER = {"int": "bigint", "smallint": "int", "float": "double", "decimal(6,2)": "decimal(12,2)"}
WIDER = {name: {column: _WIDER.get(kind, kind) for column, kind in types.items()} for name, types in TABLES.items()}
KEY = ("id",)
"""Of each table: the tests that make rows number them by it."""

_AT = Location("")
BITS, SUMS, PRODUCTS = ("|", "&", "^"), ("+", "-"), ("*", "%", "DIV")
COMPARISONS = ("=", "<>", "<", "<=", ">", ">=", "<=>", "==", "!=")
_COLUMNS = {
    "int": ("i", "j", "w", "l", "id"),
    "number": ("i", "j", "w", "l", "x", "f", "m"),
    "text": ("s", "u"),
    "truth": ("b",),
}


@dataclass
class E:
    """An expression: `op` and its parts; a leaf has its text for `op`, and no parts."""

    op: str
    parts: list["E"] = field(default_factory=list)
    kind: str = "number"
    bracket: bool = False  # around all of it


@dataclass
class Select:
    """A SELECT; `joins` are `(words, table and alias, condition)`."""

    shown: list[tuple[E, str]]
    source: "str | Select"
    alias: str
    joins: list[tuple[str, str, str, E]] = field(default_factory=list)
    where: E | None = None
    group: list[str] = field(default_factory=list)
    having: E | None = None
    distinct: bool = False
    order: list[str] = field(default_factory=list)
    limit: str = ""
    with_: bool = False


@dataclass
class Union:
    """Arms, the operators between them, and where brackets stand."""

    arms: list["Select"]
    operators: list[str]
    last_first: bool = False


Query = Select | Union


def checked(sql: str) -> CheckedQuery:
    """The query, analysed over `TABLES`."""
    tree = parse_query(sql, _AT)
    used = {table.name.lower() for table in tree.find_all(exp.Table)} & set(TABLES)
    return analyse(tree, {name: ActionPort(columns(TABLES[name]), {}) for name in sorted(used)}, sql, _AT)


def meaning(sql: str) -> Canonical:
    """The canonical form of `sql`, as a compiled step would have it."""
    query = checked(sql)
    return canonical(query.sql, {port: CanonicalInput(port, columns(TABLES[port])) for port in query.reads})


def stays(sql: str) -> bool:
    """Whether `sql` is known to give over wider tables what it gives over these."""
    tree = parse_query(sql, _AT)
    used = {table.name.lower() for table in tree.find_all(exp.Table)} & set(TABLES)
    now = {name: columns(WIDER[name]) for name in used}
    query = analyse(tree, {name: ActionPort(of, {}) for name, of in now.items()}, sql, _AT)
    widths = Widths(query, now, {name: columns(TABLES[name]) for name in used})
    return not widths.rows_vary() and all(steady for steady, _ in widths.outputs(widths.root).values())


def one_answer(sql: str) -> bool:
    """Whether the order of the rows of the tables shows nowhere in the result of `sql`: no notice says that it does."""
    tree = parse_query(sql, _AT)
    used = {table.name.lower() for table in tree.find_all(exp.Table)} & set(TABLES)
    ports = {name: ActionPort(columns(TABLES[name]), {}, key=KEY) for name in sorted(used)}
    return not analyse(tree, ports, sql, _AT).notices


def queries(seed: int, number: int) -> list[str]:
    """So many queries; equal seeds give equal ones."""
    return [show(Make(random.Random(f"{seed}:{at}")).query()) for at in range(number)]


# --- text ---


def show(query: Query) -> str:
    """The text of a query."""
    if isinstance(query, Union):
        texts = [show(arm) for arm in query.arms]
        if query.last_first and len(texts) == 3:
            return f"{texts[0]} {query.operators[0]} ({texts[1]} {query.operators[1]} {texts[2]})"
        return " ".join(part for pair in zip(["", *query.operators], texts, strict=False) for part in pair if part)
    parts, inner = [], query.source
    if query.with_ and isinstance(inner, Select):
        parts.append(f"WITH {query.alias} AS ({show(inner)})")
    items = ", ".join(f"{text_of(node)} AS {name}" for node, name in query.shown)
    parts.append(f"SELECT {'DISTINCT ' if query.distinct else ''}{items}")
    if isinstance(inner, Select):
        parts.append(f"FROM {query.alias}" if query.with_ else f"FROM ({show(inner)}) AS {query.alias}")
    else:
        parts.append(f"FROM {inner} AS {query.alias}")
    for words, table, alias, on in query.joins:
        parts.append(f"{words} {table} AS {alias}" + (f" ON {text_of(on)}" if words != "CROSS JOIN" else ""))
    if query.where is not None:
        parts.append(f"WHERE {text_of(query.where)}")
    if query.group:
        parts.append(f"GROUP BY {', '.join(query.group)}")
    if query.having is not None:
        parts.append(f"HAVING {text_of(query.having)}")
    if query.order:
        parts.append(f"ORDER BY {', '.join(query.order)}")
    return " ".join([*parts, query.limit]).strip()


def text_of(node: E) -> str:
    shown = [text_of(part) for part in node.parts]
    if not shown:
        text = node.op
    elif node.op in {"NOT", "~"} or (node.op == "-" and len(shown) == 1):
        text = f"{node.op} {shown[0]}"
    elif "%s" in node.op:
        text = node.op % tuple(shown)
    else:
        text = f"{shown[0]} {node.op} {shown[1]}"
    return f"({text})" if node.bracket else text


# --- making ---


class Make:
    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self._aliases = ["n"]
        self._columns = TABLES["n"]

    def query(self) -> Query:
        kind = self.chance.random()
        if kind < 0.12:
            return self._union()
        if kind < 0.32:
            return self._grouped()
        if kind < 0.5:
            return self._nested()
        return self._plain(joins=self.chance.random() < 0.4)

    def number(self, depth: int = 2, kind: str = "number") -> E:
        roll = self.chance.random()
        if depth == 0 or roll < 0.25:
            return self._leaf(kind)
        if roll < 0.75:
            whole = kind == "int" or self.chance.random() < 0.5
            op = self.chance.choice((*BITS, *SUMS, *PRODUCTS) if whole else (*SUMS, "*"))
            below = "int" if whole else "number"
            return self._binary(op, self.number(depth - 1, below), self.number(depth - 1, below), below)
        form = self.chance.choice(
            (
                "coalesce(%s, %s)",
                "CASE WHEN %s THEN %s ELSE %s END",
                "CAST(%s AS BIGINT)",
                "abs(%s)",
                "- %s",
                "if(%s, %s, %s)",
            )
        )
        if form.startswith(("CASE", "if")):
            return E(form, [self.truth(depth - 1), self.number(depth - 1, kind), self.number(depth - 1, kind)], kind)
        return E(form, [self.number(depth - 1, kind) for _ in range(form.count("%s"))], kind)

    def truth(self, depth: int = 2) -> E:
        roll = self.chance.random()
        if depth == 0 or roll < 0.08:
            return E(self._column("b"), kind="truth")
        if roll < 0.4:
            return self._binary(
                self.chance.choice(("AND", "OR")), self.truth(depth - 1), self.truth(depth - 1), "truth"
            )
        if roll < 0.5:
            return E("NOT", [self.truth(depth - 1)], "truth", self.chance.random() < 0.3)
        if roll < 0.56:
            return self._binary(
                self.chance.choice(("=", "<=>", "<>", "<")), self.truth(0), self.truth(depth - 1), "truth"
            )
        if roll < 0.75:
            op = self.chance.choice(COMPARISONS)
            return self._binary(op, self.number(depth - 1, "int"), self.number(depth - 1, "int"), "truth")
        forms: list[Callable[[], E]] = [
            lambda: E("%s IS NULL", [self.number(depth - 1)], "truth"),
            lambda: E("%s IS NOT NULL", [self.truth(depth - 1)], "truth"),
            lambda: E("%s IN (1, 2, 3)", [self.number(depth - 1, "int")], "truth"),
            lambda: E("%s NOT IN (%s, 2)", [self.number(depth - 1, "int"), self.number(0, "int")], "truth"),
            lambda: E("%s BETWEEN %s AND %s", [self.number(depth - 1, "int") for _ in range(3)], "truth"),
            lambda: E(self.chance.choice(("LIKE", "RLIKE", "ILIKE")), [self.text(), E("'a%'", kind="text")], "truth"),
            lambda: E("%s IN (SELECT i FROM p WHERE id > 2)", [self.number(0, "int")], "truth"),
            lambda: E("EXISTS (SELECT 1 FROM p AS e WHERE e.i = %s)", [self.number(0, "int")], "truth"),
        ]
        return self.chance.choice(forms)()

    def text(self) -> E:
        roll = self.chance.random()
        if roll < 0.5:
            return self._leaf("text")
        if roll < 0.7:
            return self._binary("||", self._leaf("text"), self._leaf("text"), "text")
        return E(
            self.chance.choice(("upper(%s)", "lower(%s)", "trim(%s)", "concat(%s, 'z')")), [self._leaf("text")], "text"
        )

    def any(self, depth: int = 2) -> E:
        return self.chance.choice((self.number, self.number, self.truth, lambda _: self.text()))(depth)

    def fold(self) -> E:
        simple: Callable[[], E] = lambda: self.number(1, "int")  # noqa: E731
        forms: list[Callable[[], E]] = [
            lambda: E("count(*)"),
            lambda: E("count(1)"),
            lambda: E("count(%s)", [simple()]),
            lambda: E("count(1, %s)", [self.number(0)]),
            lambda: E("count(%s, %s)", [self.number(0), self.text()]),
            lambda: E("count(DISTINCT %s)", [simple()]),
            lambda: E("count(DISTINCT %s, %s)", [self.number(0), self.text()]),
            lambda: E("sum(%s)", [simple()]),
            lambda: E("sum(DISTINCT %s)", [simple()]),
            lambda: E("avg(%s)", [simple()]),
            lambda: E("min(%s)", [simple()]),
            lambda: E("max(%s)", [self.text()], "text"),
            lambda: E("sum(%s) FILTER (WHERE %s)", [simple(), self.truth(1)]),
            lambda: E("count(*) FILTER (WHERE %s)", [self.truth(1)]),
            lambda: E("max_by(%s, id)" if len(self._aliases) == 1 else "max_by(%s, n.id)", [simple()]),
            lambda: E("count_if(%s)", [self.truth(1)]),
        ]
        return self.chance.choice(forms)()

    def window(self) -> E:
        over = self.chance.choice(
            (
                "OVER (PARTITION BY n.i ORDER BY n.id)", "OVER (ORDER BY n.id DESC)", "OVER (PARTITION BY n.s, n.i)",
                "OVER (ORDER BY n.id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)", "OVER (ORDER BY n.x, n.id)",
                "OVER (PARTITION BY n.i ORDER BY n.x NULLS LAST, n.id)",
                "OVER (PARTITION BY n.i ORDER BY n.x DESC, n.id)",
                "OVER (ORDER BY n.id RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
            )
        )  # fmt: skip
        if "ORDER" in over and "ROWS" not in over and "RANGE" not in over and self.chance.random() < 0.5:
            call = self.chance.choice(
                ("row_number()", "rank()", "lag(n.x)", "lead(n.x, 2)", "lag(n.i, 1, 0)", "ntile(2)")
            )
            return E(f"{call} {over}")
        if "ORDER" in over and self.chance.random() < 0.3:
            call = self.chance.choice(("first_value(n.s)", "first_value(n.s) IGNORE NULLS", "last_value(n.x)"))
            return E(f"{call} {over}")
        node = self.fold()
        while "DISTINCT" in node.op:
            node = self.fold()
        return E(f"{node.op} {over}", node.parts)

    def _binary(self, op: str, left: E, right: E, kind: str) -> E:
        return E(op, [left, right], kind, self.chance.random() < 0.25)

    def _leaf(self, kind: str) -> E:
        if self.chance.random() < 0.25:
            if kind == "text":
                return E(self.chance.choice(("'a'", "'b'", "''", "'1'")), kind="text")
            return E(
                self.chance.choice(("0", "1", "2", "3", "1L", "2") + (() if kind == "int" else ("0.5", "1e0"))),
                kind=kind,
            )
        return E(self._column(self.chance.choice(_COLUMNS[kind])), kind=kind)

    def _column(self, name: str) -> str:
        if len(self._aliases) == 1:
            return self.chance.choice((name, f"{self._aliases[0]}.{name}")) if self._aliases[0] else name
        alias = self.chance.choice(self._aliases)
        return f"{alias}.{name}" if alias == "n" or name in TABLES["p"] else f"n.{name}"

    def _plain(self, *, joins: bool) -> Select:
        query = Select([], "n", "n")
        if joins:
            more = self.chance.choice((1, 1, 2))
            self._aliases = ["n", *(f"p{at}" for at in range(more))]
            for alias in self._aliases[1:]:
                words = self.chance.choice(
                    ("JOIN", "JOIN", "INNER JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")
                )
                on = E("=", [E(f"n.{self.chance.choice('il')}"), E(f"{alias}.{self.chance.choice('il')}")], "truth")
                if self.chance.random() < 0.3:
                    on = E("AND", [on, self._condition(alias)], "truth")
                query.joins.append((words, "p", alias, on))
        own = E("n.id")
        query.shown = [(own, "id"), *((self.any(3), f"c{at}") for at in range(self.chance.choice((1, 2))))]
        if self.chance.random() < 0.25:
            query.shown.append((self.window(), "wn"))
        if self.chance.random() < 0.6:
            query.where = self.truth(3)
        if self.chance.random() < 0.15 and not any("OVER" in node.op for node, _ in query.shown):
            query.distinct = True
        return query

    def _condition(self, alias: str) -> E:
        return E(
            self.chance.choice((">", "<", "<>")), [E(f"{alias}.i"), E(self.chance.choice(("1", "2", "n.j")))], "truth"
        )

    def _grouped(self) -> Select:
        query = Select([], "n", "n")
        keys = [
            self.chance.choice(("i", "s", "b", "i + 1", "w", "n.x")) for _ in range(self.chance.choice((0, 1, 1, 2)))
        ]
        keys = list(dict.fromkeys(keys))
        query.shown = [(E(key), f"k{at}") for at, key in enumerate(keys)]
        query.shown += [(self.fold(), f"a{at}") for at in range(self.chance.choice((1, 2)))]
        if self.chance.random() < 0.4:
            query.where = self.truth(2)
        query.group = list(keys)
        if self.chance.random() < 0.3:
            conditions = [E(">", [self.fold(), E("1")], "truth"), E(">", [E("count(*)"), E("1")], "truth")]
            query.having = self.chance.choice(
                [*conditions, E("k0 IS NOT NULL" if keys else "count(*) > 0", kind="truth")]
            )
        return query

    def _nested(self) -> Select:
        inner = self._plain(joins=False) if self.chance.random() < 0.6 else self._grouped()
        names = [name for _, name in inner.shown]
        ordered = self.chance.random() < 0.6
        if ordered and "id" in names:
            by = self.chance.choice(
                (names[-1], str(len(names)), "x", f"{names[-1]} DESC", f"{names[-1]} NULLS LAST", "-i")
            )
            if inner.distinct:
                by = names[-1]
            inner.order = [by, "id"]
            inner.limit = f"LIMIT {self.chance.choice((1, 3, 5))}"
        shown = [(E(f"q.{name}"), name) for name in names if self.chance.random() < 0.7] or [(E(f"q.{names[0]}"), "z")]
        outer = Select(shown, inner, "q")
        outer.with_ = self.chance.random() < 0.3
        if self.chance.random() < 0.4:
            outer.where = E(f"q.{self.chance.choice(names)} IS NOT NULL", kind="truth")
        if self.chance.random() < 0.2:
            outer.shown = [(E("count(*)"), "n"), (E(f"max(q.{names[0]})"), "m")]
        return outer

    def _union(self) -> Union:
        kinds = self.chance.choice((("i", "l"), ("i", "x"), ("s", "u"), ("i", "i"), ("w", "f"), ("i", "m")))
        arms = []
        for _ in range(self.chance.choice((2, 2, 3))):
            arm = Select([(E(self.chance.choice(kinds)), "v"), (E("b"), "t")], "n", "n")
            if self.chance.random() < 0.4:
                arm.where = self.truth(1)
            arms.append(arm)
        operators = [
            self.chance.choice(("UNION ALL", "UNION ALL", "UNION", "EXCEPT", "INTERSECT", "EXCEPT ALL"))
            for _ in arms[1:]
        ]
        return Union(arms, operators, self.chance.random() < 0.3)
