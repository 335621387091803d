"""Random flows and what happens to their sources: data, made by hypothesis or written down by hand.

A `Case` is complete and readable: its SQL is text, its rows are tuples. `cases()` composes flows from a
grammar of SQL for which the batch result is well defined: keys are never null and always unique, rows that
share an order are equal, what is looked up is there before the facts.
"""

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any, TypeVar

from hypothesis import strategies as st

Row = tuple[Any, ...]
Columns = dict[str, str]  # name → type
T = TypeVar("T")


@dataclass(frozen=True)
class Step:
    """One step: `reads` maps ports, which the SQL names, to tables. Without a key it writes a log table.

    Rows that do not meet `expects` are dropped; empty: none are.
    """

    writes: str
    sql: str
    reads: Mapping[str, str]
    key: tuple[str, ...] = ()
    tier: str = "hot"
    buckets: int = 1
    lookups: tuple[str, ...] = ()  # ports
    expects: str = ""

    @property
    def kind(self) -> str:
        return {"ods": "ingest", "dwd": "clean"}[self.writes.split(".")[0]]


@dataclass(frozen=True)
class Part:
    """What happens between two runs.

    Attributes:
        rows: Source → rows that come, in order.
        files: How many files they come in.
        restart: The run has new stores and a new connection to the state.
        forget: Caches of the project are removed before the run.
        edit: The step, by number, whose SQL is written otherwise before the run.
        down: Whether the flow that reads the first one's tables runs too.
        check: Whether tables are compared after the run.
        fail: The step, by number, whose first write of this part fails; whether the store had written by then.
    """

    rows: Mapping[str, tuple[Row, ...]]
    files: int = 1
    restart: bool = False
    forget: bool = False
    edit: int | None = None
    down: bool = True
    check: bool = False
    fail: tuple[int, bool] | None = None


@dataclass(frozen=True)
class Case:
    """Sources, steps and a history. `split`: the first step of a second flow, that reads the first one's tables."""

    sources: Mapping[str, Columns]
    steps: tuple[Step, ...]
    parts: tuple[Part, ...]
    max_rows: int = 1000
    split: int | None = None

    def flows(self) -> dict[str, tuple[Step, ...]]:
        """Flow → its steps."""
        split = len(self.steps) if self.split is None else self.split
        return {"up": self.steps[:split]} | ({"down": self.steps[split:]} if split < len(self.steps) else {})

    def __str__(self) -> str:
        lines = [f"max_rows_per_epoch: {self.max_rows}"]
        lines += [f"source {name}: {columns}" for name, columns in self.sources.items()]
        for flow, steps in self.flows().items():
            lines.append(f"flow {flow}:")
            for step in steps:
                options = f"key {', '.join(step.key) or 'none'}, {step.tier}, {step.buckets} buckets"
                reads = ", ".join(
                    f"{port} = {table}{' as lookup' if port in step.lookups else ''}"
                    for port, table in step.reads.items()
                )
                lines += [f"  {step.writes} ({options}) from {reads}", f"    {step.sql}"]
                lines += [f"    expects {step.expects}"] if step.expects else []
        for number, part in enumerate(self.parts):
            what = [
                f"in {part.files} files" if part.files > 1 else "",
                "stores opened anew" if part.restart else "",
                "caches removed" if part.forget else "",
                f"step {part.edit} edited" if part.edit is not None else "",
                "" if part.down else "second flow waits",
                "compared" if part.check else "",
                f"write of step {part.fail[0]} fails {'after' if part.fail[1] else 'before'} its effect"
                if part.fail
                else "",
            ]
            lines.append(f"part {number}: {', '.join(w for w in what if w)}".rstrip(": "))
            lines += [f"  {name} {row}" for name, rows in part.rows.items() for row in map(_shown, rows)]
        return "\n".join(lines)


def _shown(row: Row) -> str:
    return ", ".join("null" if value is None else text_of(value) or "''" for value in row)


def text_of(value: Any) -> str:
    """A value as it stands in a CSV file."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S.%f")
    return str(value)


def csv_text(columns: Iterable[str], rows: Iterable[Row]) -> str:
    """A CSV file in which an empty string is `""` and null is nothing, where the source has a `null_value`."""
    return "".join(",".join(line) + "\n" for line in [list(columns), *(map(_field, row) for row in rows)])


def _field(value: Any) -> str:
    if isinstance(value, str):
        doubled = value.replace('"', '""')
        return f'"{doubled}"'
    return "" if value is None else text_of(value)


# --- values -----------------------------------------------------------------------------------------

VALUES: dict[str, list[Any]] = {
    "int": [0, 1, 2, 7, -3],
    "bigint": [1, 2, 3, 0, -1],
    "decimal(9,2)": [Decimal("0.00"), Decimal("1.25"), Decimal("-2.50"), Decimal("99.99")],
    "string": ["a", "b", "", "ä'b \"c"],
    "timestamp": [
        datetime(2024, 1, 1, 0, 0),
        datetime(2024, 1, 1, 0, 59, 59, 999999),
        datetime(2024, 1, 1, 1, 0),
        datetime(2023, 12, 31, 23, 30),
    ],
    "double": [0.0, 0.5, -1.5, 1024.25],  # sums of these are exact in any order
    "boolean": [True, False],
    "date": [date(2024, 1, 1), date(2024, 2, 29), date(1969, 12, 31)],
}
KEY_TYPES = ["bigint", "string", "int", "date", "decimal(9,2)", "timestamp", "boolean"]
# No value above is one of these, so they can stand for "there is none" in a key.
_NONE = {
    "int": "-9",
    "bigint": "CAST(-9 AS BIGINT)",
    "string": "'none'",
    "date": "DATE '1999-09-09'",
    "timestamp": "TIMESTAMP '1999-09-09 00:00:00'",
}


def literal(kind: str, value: Any) -> str:
    """A value as Spark SQL."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, datetime):
        return f"TIMESTAMP '{text_of(value)}'"
    if isinstance(value, date):
        return f"DATE '{value}'"
    if isinstance(value, str):
        return "'{}'".format(value.replace("'", "\\'"))
    if kind == "bigint":
        return f"CAST({value} AS BIGINT)"
    return f"CAST({value} AS {kind.upper()})" if isinstance(value, float | Decimal) else str(value)


def _numeric(kind: str) -> bool:
    return kind in ("int", "bigint", "double") or kind.startswith("decimal")


# --- relations ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Relation:
    """A table as later steps see it.

    Attributes:
        types: Column → type.
        nulls: Columns that may be null.
        key: Empty for a log table.
        ordered: Of a log: its rows have the order in which they came.
        fixed: Nothing of it changes after the first part, so it can be looked up.
        values: Column → values to compare it with; those of its type where absent.
    """

    table: str
    types: Columns
    nulls: frozenset[str]
    key: tuple[str, ...] = ()
    ordered: bool = True
    fixed: bool = False

    def of_types(self, wanted: Callable[[str], bool]) -> list[str]:
        return [name for name, kind in self.types.items() if wanted(kind)]


@dataclass
class _Made:
    """A step in the making: the SELECT list grows with the relation it gives."""

    items: list[str] = field(default_factory=list)
    types: Columns = field(default_factory=dict)
    nulls: set[str] = field(default_factory=set)
    key: list[str] = field(default_factory=list)

    def add(self, sql: str, kind: str, *, null: bool, key: bool = False) -> str:
        name = f"{'k' if key else 'v'}{sum(n.startswith('k' if key else 'v') for n in self.types) + 1}"
        self.items.append(f"{sql} AS {name}")
        self.types[name] = kind
        if key:
            self.key.append(name)
        elif null:
            self.nulls.add(name)
        return name

    @property
    def select(self) -> str:
        return ", ".join(self.items)


def _where(conditions: Iterable[str]) -> str:
    given = [c for c in conditions if c]
    return f" WHERE {' AND '.join(given)}" if given else ""


def _not_null(relation: Relation, port: str, columns: Iterable[str]) -> list[str]:
    return [f"{port}.{c} IS NOT NULL" for c in columns if c in relation.nulls]


class _Grammar:
    """Draws SQL over relations. Every method returns the step's SQL, key and relation, or None where none fits."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self.draw = draw

    def pick(self, options: Iterable[T]) -> T:
        picked: T = self.draw(st.sampled_from(list(options)))
        return picked

    def chance(self, one_in: int) -> bool:
        return bool(self.draw(st.integers(0, one_in - 1)) == one_in - 1)

    def some(self, options: Iterable[Any], least: int, most: int) -> list[Any]:
        options = list(options)
        most = min(most, len(options))
        if most < least or not options:
            return []
        return list(self.draw(st.lists(st.sampled_from(options), min_size=least, max_size=most, unique=True)))

    # --- pieces ---

    def condition(self, relation: Relation, port: str) -> str:
        column = self.pick(relation.types)
        kind, text = relation.types[column], f"{port}.{column}"
        values = VALUES.get(kind, VALUES["decimal(9,2)"])
        value = literal(kind, self.pick(values))
        if kind == "boolean":
            return self.pick([text, f"NOT {text}", f"{text} IS NOT NULL"])
        return self.pick(
            [
                f"{text} > {value}",
                f"{text} <> {value}",
                f"{text} <= {value}",
                f"{text} IS NULL",
                f"NOT {text} <=> {value}",
            ]
        )

    def scalar(self, relation: Relation, port: str, column: str) -> tuple[str, str, bool]:
        """SQL, type, and whether it may be null."""
        kind, text, null = relation.types[column], f"{port}.{column}", column in relation.nulls
        options = [(text, kind, null)] * 2
        if kind in VALUES:
            value = literal(kind, VALUES[kind][1])
            options += [(f"COALESCE({text}, {value})", kind, False)]
            options += [(f"CASE WHEN {self.condition(relation, port)} THEN {text} END", kind, True)]
        if kind in ("int", "bigint", "double"):
            options += [(f"{text} + {literal(kind, VALUES[kind][2])}", kind, null)]
        if kind == "string":
            options += [(f"UPPER({text})", kind, null), (f"CONCAT({text}, '!')", kind, null)]
        if kind == "timestamp":
            options += [(f"DATE_TRUNC('HOUR', {text})", kind, null), (f"CAST({text} AS DATE)", "date", null)]
        return self.pick(options)

    def aggregate(self, relation: Relation, port: str, *, adds_up: bool = False) -> tuple[str, str, bool]:
        """SQL, type, and whether it may be null; with `adds_up` only what a store can fold."""
        column = self.pick(relation.types)
        kind, text = relation.types[column], f"{port}.{column}"
        only = f" FILTER (WHERE {self.condition(relation, port)})" if self.chance(5) else ""
        options = [
            (f"COUNT(*){only}", "bigint", False),
            (f"COUNT({text}){only}", "bigint", False),
            (f"MIN({text}){only}", kind, True),
            (f"MAX({text}){only}", kind, True),
        ]
        if not adds_up:
            options += [(f"COUNT(DISTINCT {text})", "bigint", False)]
        if _numeric(kind):
            options += [] if adds_up else [(f"CAST(AVG({text}) AS DOUBLE)", "double", True)]
            added = _sum_type(kind)
            if added:
                options += [(f"SUM({text}){only}", added, True)] * 3
        return self.pick(options)

    def pair(self, x: Relation, y: Relation) -> tuple[str, str] | None:
        """Columns of both that can be joined."""
        pairs = [
            (a, b)
            for a, b in itertools.product(x.types, y.types)
            if x.types[a] == y.types[b] and x.types[a] in KEY_TYPES
        ]
        return self.pick(pairs) if pairs else None

    def values(
        self, made: _Made, relation: Relation, port: str, *, most: int = 2, null: bool = False, plain: bool = False
    ) -> None:
        """Add some columns to the SELECT list."""
        for column in self.some(relation.types, 0, most):
            sql, kind, own = (
                (f"{port}.{column}", relation.types[column], column in relation.nulls)
                if plain
                else self.scalar(relation, port, column)
            )
            made.add(sql, kind, null=own or null)

    # --- steps ---

    def map(self, x: Relation) -> tuple[str, _Made]:
        made = _Made()
        keys = list(x.key)
        if not keys and x.ordered and self.chance(2):
            keys = self.some(x.of_types(lambda t: t in KEY_TYPES), 1, 1)
        for column in keys:
            made.add(f"x.{column}", x.types[column], null=False, key=True)
        for column in self.some(x.types, 1, 4):
            sql, kind, null = self.scalar(x, "x", column)
            made.add(sql, kind, null=null)
        conditions = _not_null(x, "x", keys)
        if self.draw(st.booleans()):
            conditions.append(self.condition(x, "x"))
        return f"SELECT {made.select} FROM x{_where(conditions)}", made

    def group(self, x: Relation) -> tuple[str, _Made] | None:
        columns = self.some(x.of_types(lambda t: t in KEY_TYPES), 1, 2)
        if not columns:
            return None
        made = _Made()
        groups = []
        for column in columns:
            text = f"x.{column}"
            if x.types[column] == "timestamp":
                text = self.pick([text, f"DATE_TRUNC('HOUR', {text})", f"WINDOW({text}, '1 hour').start"])
            groups.append(text.removesuffix(".start"))
            made.add(text, x.types[column], null=False, key=True)
        adds_up = not x.key and self.pick([True, True, False])
        for _ in range(self.draw(st.integers(1, 3))):
            sql, kind, null = self.aggregate(x, "x", adds_up=adds_up)
            made.add(sql, kind, null=null)
        having = "" if adds_up else self.pick(["", "", " HAVING COUNT(*) > 1", " HAVING COUNT(*) < 3"])
        where = _not_null(x, "x", columns)
        if self.chance(3):
            where.append(self.condition(x, "x"))
        return f"SELECT {made.select} FROM x{_where(where)} GROUP BY {', '.join(groups)}{having}", made

    def join(self, x: Relation, y: Relation) -> tuple[str, _Made] | None:
        pair = self.pair(x, y)
        if pair is None or not x.key or not y.key:
            return None
        a, b = pair
        kind = self.pick(["JOIN", "LEFT JOIN", "FULL JOIN"])
        rest_x, rest_y = [c for c in x.key if c != a], [c for c in y.key if c != b]
        missing = (rest_y if kind != "JOIN" else []) + (rest_x if kind == "FULL JOIN" else [])
        types = [(y if c in rest_y else x).types[c] for c in missing]
        if any(t not in _NONE for t in types):
            return None
        made = _Made()
        made.add(f"COALESCE(x.{a}, y.{b})" if kind == "FULL JOIN" else f"x.{a}", x.types[a], null=False, key=True)
        for port, relation, columns, optional in (
            ("x", x, rest_x, kind == "FULL JOIN"),
            ("y", y, rest_y, kind != "JOIN"),
        ):
            for column in columns:
                text, t = f"{port}.{column}", relation.types[column]
                made.add(f"COALESCE({text}, {_NONE[t]})" if optional else text, t, null=False, key=True)
        self.values(made, x, "x", null=kind == "FULL JOIN")
        self.values(made, y, "y", null=kind != "JOIN", plain=kind != "JOIN")
        null_a, null_b = a in x.nulls, b in y.nulls
        sources = {
            port: f"(SELECT * FROM {port} WHERE {column} IS NOT NULL) AS {port}"
            if null and kind == "FULL JOIN"
            else port
            for port, column, null in (("x", a, null_a), ("y", b, null_b))
        }
        where = [f"x.{a} IS NOT NULL"] if null_a and kind != "FULL JOIN" else []
        return f"SELECT {made.select} FROM {sources['x']} {kind} {sources['y']} ON x.{a} = y.{b}{_where(where)}", made

    def grouped_join(self, x: Relation, y: Relation) -> tuple[str, _Made] | None:
        pair = self.pair(x, y)
        if pair is None:
            return None
        a, b = pair
        kind = self.pick(["JOIN", "LEFT JOIN"])
        made = _Made()
        made.add(f"x.{a}", x.types[a], null=False, key=True)
        for port, relation in (("x", x), ("y", y)):
            sql, t, null = self.aggregate(relation, port)
            made.add(sql, t, null=null)
        where = _where(_not_null(x, "x", [a]))
        return f"SELECT {made.select} FROM x {kind} y ON x.{a} = y.{b}{where} GROUP BY x.{a}", made

    def top(self, x: Relation) -> tuple[str, _Made] | None:
        by = self.some(x.of_types(lambda t: t in KEY_TYPES), 1, 1)
        if not by:
            return None
        made = _Made()
        made.add(f"x.{by[0]}", x.types[by[0]], null=False, key=True)
        many = self.chance(3)
        if many:
            made.add("x.place", "int", null=False, key=True)
        self.values(made, x, "x", most=3, plain=True)
        first = self.some(x.types, 1, len(x.types))
        order = ", ".join(
            f"{c} {self.pick(['DESC', 'ASC'])}" for c in [*first, *(c for c in x.types if c not in first)]
        )
        ranked = f"SELECT *, ROW_NUMBER() OVER (PARTITION BY {by[0]} ORDER BY {order}) AS place FROM x"
        where = [f"x.place {'<= 2' if many else '= 1'}", *_not_null(x, "x", by)]
        return f"SELECT {made.select} FROM ({ranked}) AS x{_where(where)}", made

    def semi(self, x: Relation, y: Relation) -> tuple[str, _Made] | None:
        pair = self.pair(x, y)
        if pair is None or not x.key:
            return None
        a, b = pair
        made = _Made()
        for column in x.key:
            made.add(f"x.{column}", x.types[column], null=False, key=True)
        self.values(made, x, "x")
        form = self.pick(["ANTI", "SEMI", "NOT EXISTS", "EXISTS", "IN"])
        if form in ("ANTI", "SEMI"):
            return f"SELECT {made.select} FROM x LEFT {form} JOIN y ON x.{a} = y.{b}", made
        if form == "IN":
            return f"SELECT {made.select} FROM x WHERE x.{a} IN (SELECT y.{b} FROM y)", made
        more = f" AND {self.condition(y, 'y')}" if self.chance(2) else ""
        return f"SELECT {made.select} FROM x WHERE {form} (SELECT 1 FROM y WHERE y.{b} = x.{a}{more})", made

    def union(self, x: Relation, y: Relation) -> tuple[str, _Made] | None:
        """UNION ALL of two logs or of two keyed tables, whose rows are told apart by their origin."""
        if bool(x.key) != bool(y.key) or len(x.key) > 1 or len(y.key) > 1:
            return None
        pairs = [(a, b) for a, b in itertools.product(x.types, y.types) if x.types[a] == y.types[b]]
        if not pairs:
            return None
        made, other = _Made(), []
        if x.key:
            made.add("'x'", "string", null=False, key=True)
            made.add(f"CAST(x.{x.key[0]} AS STRING)", "string", null=False, key=True)
            other += ["'y'", f"CAST(y.{y.key[0]} AS STRING)"]
        for a, b in self.some(pairs, 1, 2):
            made.add(f"x.{a}", x.types[a], null=a in x.nulls or b in y.nulls)
            other.append(f"y.{b}")
        where = _where([self.condition(y, "y")] if self.chance(2) else [])
        return f"SELECT {made.select} FROM x UNION ALL SELECT {', '.join(other)} FROM y{where}", made

    def distinct(self, x: Relation, y: Relation) -> tuple[str, _Made] | None:
        pair = self.pair(x, y)
        if pair is None:
            return None
        a, b = pair
        made = _Made()
        made.add(f"x.{a}", x.types[a], null=False, key=True)
        kind = self.pick(["UNION", "EXCEPT", "INTERSECT"])
        left, right = _where(_not_null(x, "x", [a])), _where(_not_null(y, "y", [b]))
        return f"SELECT {made.select} FROM x{left} {kind} SELECT y.{b} FROM y{right}", made

    def lookup(self, x: Relation, y: Relation) -> tuple[str, _Made] | None:
        pairs = [(a, b) for a, b in itertools.product(x.types, y.key) if x.types[a] == y.types[b]]
        if not pairs or len(y.key) != 1 or not y.fixed:
            return None
        a, b = self.pick(pairs)
        made = _Made()
        kind = self.pick(["JOIN", "LEFT JOIN"])
        if self.chance(3) and (groups := y.of_types(lambda t: t in KEY_TYPES)):
            by = self.pick(groups)
            made.add(f"y.{by}", y.types[by], null=False, key=True)
            sql, t, null = self.aggregate(x, "x")
            made.add(sql, t, null=null)
            where = _where(_not_null(y, "y", [by]) if kind == "JOIN" else [f"y.{by} IS NOT NULL"])
            return f"SELECT {made.select} FROM x {kind} y ON x.{a} = y.{b}{where} GROUP BY y.{by}", made
        for column in x.key:
            made.add(f"x.{column}", x.types[column], null=False, key=True)
        self.values(made, x, "x")
        made.add(f"x.{a}", x.types[a], null=a in x.nulls)
        self.values(made, y, "y", null=kind == "LEFT JOIN", plain=True)
        return f"SELECT {made.select} FROM x {kind} y ON x.{a} = y.{b}", made

    def whole(self, x: Relation) -> tuple[str, _Made]:
        """Results that every row may change."""
        made = _Made()
        if self.chance(2):
            order = ", ".join(f"x.{c}" for c in x.types)
            made.add(f"ROW_NUMBER() OVER (ORDER BY {order})", "int", null=False, key=True)
            self.values(made, x, "x", plain=True)
            return f"SELECT {made.select} FROM x", made
        made.add("1", "int", null=False, key=True)
        sql, kind, null = self.aggregate(x, "x")
        made.add(sql, kind, null=null)
        return f"SELECT {made.select} FROM x", made


_ONE = ("map", "group", "top", "whole")
_TWO = ("join", "grouped_join", "semi", "union", "distinct", "lookup")
# What is drawn how often; `map` and `group` are what most flows are made of.
_SHAPES = (
    "map",
    "group",
    "join",
    "map",
    "group",
    "top",
    "semi",
    "join",
    "grouped_join",
    "lookup",
    "union",
    "distinct",
    "whole",
)


def _sum_type(kind: str) -> str | None:
    if kind in ("int", "bigint"):
        return "bigint"
    if kind == "double":
        return "double"
    precision, scale = (int(n) for n in kind.removeprefix("decimal(").removesuffix(")").split(","))
    return f"decimal({precision + 10},{scale})" if precision + 10 <= 38 else None


@st.composite
def cases(draw: Callable[[st.SearchStrategy[Any]], Any]) -> Case:
    """A flow over two sources `a` and `b`, and a history of rows."""
    grammar = _Grammar(draw)
    shared = grammar.pick(KEY_TYPES[:4])
    kinds = [k for k in VALUES if k != shared]
    sources = {
        "a": {"id": "bigint", "g": shared} | {f"a{i}": k for i, k in enumerate(grammar.some(kinds, 1, 3), 1)},
        "b": {"g": shared} | {f"b{i}": k for i, k in enumerate(grammar.some(kinds, 1, 2), 1)},
    }
    fixed = draw(st.booleans())
    parts = _parts(grammar, sources, fixed=fixed)
    steps, pool = _ingest(grammar, sources, fixed=fixed)
    split = None
    for number in range(draw(st.integers(1, 4))):
        if number and split is None and grammar.chance(5):
            split = len(steps)
        made = _derived(grammar, pool, len(steps), crossed=split is not None)
        steps.append(made[0])
        pool.append(made[1])
    if split is None and grammar.chance(4):
        split = len(steps) - 1
    read = {table for step in steps for table in step.reads.values()}
    steps = [_placed(grammar, step, last=step.writes not in read) for step in steps]
    followed = {table for step in steps[split:] for table in step.reads.values()} if split is not None else set()
    # A cold table alone has no change stream, so no other flow may follow it.
    steps = [
        replace(step, tier="warm")
        if step.tier == "cold" and split is not None and step.writes in followed and number < split
        else step
        for number, step in enumerate(steps)
    ]
    parts = [
        replace(
            part,
            edit=part.edit % len(steps) if part.edit is not None else None,
            fail=(part.fail[0] % len(steps), part.fail[1]) if part.fail else None,
        )
        for part in parts
    ]
    return Case(sources, tuple(steps), tuple(parts), max_rows=draw(st.integers(2, 9)), split=split)


def _ingest(grammar: _Grammar, sources: Mapping[str, Columns], *, fixed: bool) -> tuple[list[Step], list[Relation]]:
    a, b = sources["a"], sources["b"]
    key = ("id",) if grammar.chance(2) else ()
    steps = [
        Step("ods.a", f"SELECT {', '.join(a)} FROM x", {"x": "a"}, key),
        Step("ods.b", f"SELECT {', '.join(b)} FROM x", {"x": "b"}, ("g",)),
    ]
    pool = [
        Relation("ods.a", a, frozenset(set(a) - {"id"}), key),
        Relation("ods.b", b, frozenset(set(b) - {"g"}), ("g",), fixed=fixed),
    ]
    return steps, pool


def _derived(grammar: _Grammar, pool: list[Relation], number: int, *, crossed: bool) -> tuple[Step, Relation]:
    """A step over tables of the pool; shapes that do not fit give way to a map."""
    shape = grammar.pick(_SHAPES)
    x = grammar.pick(pool)
    others = [r for r in pool if r.table != x.table]
    y = grammar.pick(others) if shape in _TWO else None
    made = getattr(grammar, shape)(x, y) if y is not None else getattr(grammar, shape)(x)
    if made is None:
        shape, y, made = "map", None, grammar.map(x)
    sql, result = made
    table = f"dwd.t{number}"
    reads = {"x": x.table} | ({"y": y.table} if y is not None else {})
    lookups = ("y",) if shape == "lookup" else ()
    step = Step(table, sql, reads, tuple(result.key), lookups=lookups, expects=_expects(grammar, result.types))
    ordered = not result.key and shape == "map" and x.ordered
    fixed = x.fixed and (y is None or y.fixed)
    return step, Relation(table, result.types, frozenset(result.nulls), tuple(result.key), ordered, fixed)


def _expects(grammar: _Grammar, types: Columns) -> str:
    """What rows must meet; of columns that hold the same whatever the order in which rows are added up."""
    exact = {name: kind for name, kind in types.items() if kind not in ("double", "float")}
    if not exact or not grammar.chance(4):
        return ""
    return grammar.condition(Relation("", exact, frozenset(), ()), "out").replace("out.", "")


def _placed(grammar: _Grammar, step: Step, *, last: bool) -> Step:
    """In a tier: what is grouped may be merged, which the cold tier cannot do; a log that is read stays in order."""
    tier = grammar.pick(["hot"] * 6 + ["warm"] * 2 + (["cold"] if "GROUP BY" not in step.sql else ["hot"]))
    tier = tier if last or step.key else "hot"
    return replace(step, tier=tier, buckets=grammar.pick([1, 1, 2]) if step.key and tier != "cold" else 1)


def _parts(grammar: _Grammar, sources: Mapping[str, Columns], *, fixed: bool) -> list[Part]:
    draw = grammar.draw

    def row(columns: Columns) -> st.SearchStrategy[Row]:
        return st.tuples(
            *(
                st.sampled_from(VALUES[kind][:4] if name in ("id",) else VALUES[kind])
                if i == 0
                else st.sampled_from([*VALUES[kind][:3], None])
                for i, (name, kind) in enumerate(columns.items())
            )
        )

    parts: list[Part] = []
    seen: dict[str, list[Row]] = {name: [] for name in sources}
    for number in range(draw(st.integers(1, 4))):
        rows = {}
        for name, columns in sources.items():
            if name == "b" and fixed and number:
                continue
            new = draw(st.lists(row(columns), min_size=0 if number else 1, max_size=5 if name == "a" else 3))
            if seen[name] and grammar.chance(4):
                new.append(grammar.pick(seen[name]))  # a row of before comes again
            seen[name] += new
            rows[name] = tuple(new)
        parts.append(
            Part(
                rows,
                files=draw(st.integers(1, 2)),
                restart=draw(st.booleans()),
                forget=grammar.chance(4),
                edit=draw(st.integers(0, 5)) if number and grammar.chance(3) else None,
                down=not grammar.chance(4),
                check=grammar.chance(3),
                fail=(draw(st.integers(0, 9)), draw(st.booleans())) if grammar.chance(4) else None,
            )
        )
    return parts
