"""Random queries over the inputs of `delta_queries`: joins, sub-queries, groups, sets, windows, sessions, LIMIT.

A query has one answer for any order of rows: windows and LIMIT end in a key, and no aggregate depends on an order.
Its rows cannot fail where no row of a batch fails: no division by a column, no cast that may not fit.
"""

from dataclasses import dataclass, field
from random import Random

from tests.delta_queries import KEYS, TYPES, Case

_CLASSES = {"bigint": "whole", "int": "whole", "double": "real", "float": "real", "timestamp": "time", "date": "date"}
_KEYED = ("whole", "text", "date", "truth")
"""What groups and joins are made by."""
_PARTIAL = ("LEFT SEMI JOIN", "LEFT ANTI JOIN")
_MOST_JOINED = 4


def _class_of(kind: str) -> str:
    if kind.startswith("decimal"):
        return "exact"
    return {"string": "text", "boolean": "truth", "timestamp_ntz": "local"}.get(kind, _CLASSES.get(kind, kind))


@dataclass(frozen=True)
class Relation:
    """What stands in a FROM: its text, its name, its columns with what they are, and the columns that name a row."""

    text: str
    name: str
    columns: dict[str, str]
    key: tuple[str, ...] | None

    def of(self, *wanted: str) -> list[str]:
        """Its columns of these classes, with its name before them."""
        return [f"{self.name}.{column}" for column, kind in self.columns.items() if kind in wanted]


@dataclass
class Selected:
    """A SELECT, or a set of them: text, columns with what they are, the columns that are unique, or None."""

    text: str
    columns: dict[str, str]
    key: tuple[str, ...] | None
    ordered: bool = field(default=False)


def random_case(chance: Random) -> Case:
    """A query with the key that its result has."""
    while True:
        made = RandomQuery(chance).query()
        if made.key:
            return Case(", ".join(made.key), made.text)


class RandomQuery:
    """Makes one query."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self._names = 0
        self._shared: list[tuple[str, Selected]] = []

    def query(self) -> Selected:
        """A whole one."""
        roll = self.chance.random()
        if roll < 0.15:
            shared = self.inner(1)
            self._shared.append(("shared", shared))
            made = self.query_of(2)
            return Selected(f"WITH shared AS ({shared.text}) {made.text}", made.columns, made.key)
        return self.query_of(2)

    def query_of(self, depth: int) -> Selected:
        roll = self.chance.random()
        if roll < 0.55:
            return self.grouped(depth, outer=True)
        if roll < 0.72:
            return self.rows(depth)
        if roll < 0.8:
            return self.distinct(depth)
        if roll < 0.92:
            return self.sets(depth)
        return self.sets_of_groups(depth)

    # --- what a FROM has ---

    def name(self) -> str:
        self._names += 1
        return f"t{self._names}"

    def relation(self, depth: int) -> Relation:
        if self._shared and self.chance.random() < 0.4:
            shared, made = self._shared[0]
            return Relation(f"{shared} AS {(name := self.name())}", name, made.columns, made.key)
        if depth > 0 and self.chance.random() < 0.3:
            made, name = self.inner(depth - 1), self.name()
            return Relation(f"({made.text}) AS {name}", name, made.columns, made.key)
        table = self.chance.choice(("o", "k", "k", "k", "c", "c", "e"))
        name = self.name()
        columns = {column: _class_of(kind) for column, kind in TYPES[table].items()}
        return Relation(f"{table} AS {name}", name, columns, KEYS[table] or None)

    def inner(self, depth: int) -> Selected:
        """A sub-query in a FROM."""
        roll = self.chance.random()
        if roll < 0.45:
            return self.grouped(depth, outer=False)
        if roll < 0.6:
            return self.distinct(depth)
        if roll < 0.75:
            return self.sets(depth)
        return self.rows(depth)

    def joined(self, depth: int, *, keyed: bool = False) -> tuple[str, list[Relation]]:
        """The text of a FROM, and what can be read of it."""
        relations = [self.relation(depth)]
        text = relations[0].text
        for _ in range(self.chance.choice((0, 1, 1, 1, 2, 2, 3)) if self._names < _MOST_JOINED else 0):
            other = self.relation(depth)
            on = self._on(relations, other)
            if on is None:
                continue
            words = self.chance.choice(
                ("JOIN", "JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", *_PARTIAL)
            )
            if keyed and words in ("RIGHT JOIN", "FULL JOIN"):
                words = "LEFT JOIN"
            if self.chance.random() < 0.2:
                on += f" AND {self._residual(relations, other)}"
            text += f" {words} {other.text} ON {on}"
            if words not in _PARTIAL:
                relations.append(other)
        return text, relations

    def _on(self, relations: list[Relation], other: Relation) -> str | None:
        pairs = [
            f"{self.chance.choice(mine)} = {self.chance.choice(theirs)}"
            for kind in ("whole", "whole", "text", "date")
            if (mine := [c for r in relations for c in r.of(kind)]) and (theirs := other.of(kind))
        ]
        if not pairs:
            return None
        on = self.chance.choice(pairs)
        if self.chance.random() < 0.12:
            on += f" AND {self.chance.choice(pairs)}"
        return on.replace(" = ", " <=> ") if self.chance.random() < 0.06 else on

    def _residual(self, relations: list[Relation], other: Relation) -> str:
        mine = [c for r in relations for c in r.of("whole")]
        theirs = other.of("whole")
        if mine and theirs and self.chance.random() < 0.6:
            return (
                f"{self.chance.choice(mine)} {self.chance.choice(('<', '>', '<>', '>='))} {self.chance.choice(theirs)}"
            )
        return self.truth([other], 0)

    # --- conditions and values ---

    def one_of(self, relations: list[Relation], *kinds: str) -> str | None:
        found = [column for relation in relations for column in relation.of(*kinds)]
        return self.chance.choice(found) if found else None

    def truth(self, relations: list[Relation], depth: int) -> str:
        made = self._truth(relations, depth)
        roll = self.chance.random()
        if roll < 0.12:
            return f"NOT ({made})"
        if roll < 0.3:
            return f"({made} {self.chance.choice(('AND', 'OR'))} {self._truth(relations, 0)})"
        return made

    def _truth(self, relations: list[Relation], depth: int) -> str:
        whole, text = self.one_of(relations, "whole"), self.one_of(relations, "text")
        forms = ["1 = 1"]
        if whole:
            number, sign = self.chance.randrange(5), self.chance.choice(("<", ">", "=", "<>", "<=", ">=", "<=>"))
            forms = [f"{whole} {sign} {number}", f"{whole} {sign} {self.one_of(relations, 'whole')}"]
            forms += [f"{whole} IS NULL", f"{whole} IN (1, 2, 4)", f"{whole} NOT IN (0, 3)", f"{whole} BETWEEN 1 AND 3"]
        if text:
            forms += [f"{text} IN ('a', 'é', 'it\\'s')", f"{text} LIKE 'a%'", f"{text} IS NOT NULL", f"{text} > 'A'"]
        if exact := self.one_of(relations, "exact"):
            forms += [f"{exact} > 0", f"{exact} < 1.5"]
        if truth := self.one_of(relations, "truth"):
            forms += [truth, f"{truth} IS TRUE"]
        if depth > 0 and whole and self.chance.random() < 0.5:
            return self._asking(whole, relations, depth)
        return self.chance.choice(forms)

    def _asking(self, whole: str, relations: list[Relation], depth: int) -> str:
        """A condition with a sub-query."""
        text, others = self.joined(depth - 1) if self.chance.random() < 0.3 else self._alone(depth - 1)
        column = self.one_of(others, "whole")
        if column is None:
            return f"{whole} > 1"
        where = f" WHERE {self.truth(others, 0)}" if self.chance.random() < 0.5 else ""
        link = f"{column} = {whole}"
        fold = self.chance.choice(("max", "min", "count", "sum", "avg"))
        other = self.one_of(others, "whole")
        own = self.one_of(relations, "whole")
        return self.chance.choice(
            [
                f"{whole} IN (SELECT {column} FROM {text}{where})",
                f"{whole} NOT IN (SELECT {column} FROM {text}{where})",
                f"EXISTS (SELECT 1 FROM {text}{where or ' WHERE 1 = 1'} AND {link})",
                f"NOT EXISTS (SELECT 1 FROM {text}{where or ' WHERE 1 = 1'} AND {link})",
                f"{own} >= (SELECT {fold}({other}) FROM {text}{where or ' WHERE 1 = 1'} AND {link})",
                f"{own} > (SELECT {fold}({column}) FROM {text}{where})",
            ]
        )

    def _alone(self, depth: int) -> tuple[str, list[Relation]]:
        one = self.relation(depth)
        return one.text, [one]

    def value(self, relations: list[Relation]) -> tuple[str, str]:
        """An expression of a row, and its class."""
        kind = self.chance.choice(
            ("whole", "whole", "whole", "text", "exact", "real", "time", "date", "truth", "local")
        )
        column = self.one_of(relations, kind)
        if column is None:
            kind, column = "whole", self.one_of(relations, "whole") or "1"
        more = {
            "whole": [
                f"{column} + 1", f"coalesce({column}, 0)", f"{column} * 2", f"{column} % 2", f"- {column}",
                f"nullif({column}, 2)", f"CASE WHEN {column} > 1 THEN 1 ELSE 0 END",
            ],
            "text": [
                f"upper({column})", f"coalesce({column}, '-')", f"{column} || 'x'", f"substr({column}, 1, 1)",
                f"concat_ws('-', {column}, {column})",
            ],
            "exact": [f"{column} + 1", f"round({column}, 1)", f"abs({column})"],
            "real": [f"{column} * 2", f"coalesce({column}, 0D)"],
            "date": [f"date_trunc('MONTH', {column})"],
        }.get(kind, [])  # fmt: skip
        if more and self.chance.random() < 0.35:
            made = self.chance.choice(more)
            return made, "time" if made.startswith("date_trunc") else kind
        return column, kind

    def group(self, relations: list[Relation]) -> tuple[str, str]:
        for _ in range(6):
            made, kind = self.value(relations)
            if kind in _KEYED or (kind in ("time", "exact") and self.chance.random() < 0.3):
                return made, kind
        return self.one_of(relations, *_KEYED) or "1", "whole"

    def fold(self, relations: list[Relation]) -> tuple[str, str]:
        """An aggregate, and its class."""
        whole = self.one_of(relations, "whole") or "1"
        exact, real = self.one_of(relations, "exact"), self.one_of(relations, "real")
        other, kind = self.value(relations)
        some = self.truth(relations, 0)
        forms = [
            ("count(*)", "whole"), (f"count({other})", "whole"), (f"sum({whole})", "whole"), (f"avg({whole})", "real"),
            (f"min({other})", kind), (f"max({other})", kind), (f"count(DISTINCT {other})", "whole"),
            (f"count_if({some})", "whole"), (f"sum({whole}) FILTER (WHERE {some})", "whole"),
            (f"count(*) FILTER (WHERE {some})", "whole"), (f"bool_or({some})", "truth"), (f"every({some})", "truth"),
            (f"sum(CASE WHEN {some} THEN {whole} ELSE 0 END)", "whole"), (f"sum(DISTINCT {whole})", "whole"),
            (f"stddev({whole})", "real"), (f"bit_xor({whole})", "whole"), (f"bit_or({whole})", "whole"),
            (f"percentile({whole}, 0.5)", "real"), (f"var_pop({whole})", "real"),
            (f"count(DISTINCT {whole}, {other})", "whole"),
        ]  # fmt: skip
        if exact:
            forms += [(f"sum({exact})", "exact"), (f"avg({exact})", "exact"), (f"max({exact})", "exact")]
        if real:
            forms += [(f"min({real})", "real"), (f"max({real})", "real"), (f"count({real})", "whole")]
            forms += [(f"sum({real})", "inexact")]
        found = self.chance.choice(forms)
        if found[1] == "whole" and self.chance.random() < 0.1:
            return f"{found[0]} + count(*)", "whole"
        return found

    # --- SELECTs ---

    def _where(self, relations: list[Relation], depth: int) -> str:
        return f" WHERE {self.truth(relations, depth)}" if self.chance.random() < 0.5 else ""

    def grouped(self, depth: int, *, outer: bool) -> Selected:
        text, relations = self.joined(depth)
        where = self._where(relations, depth)
        keys = dict([self.group(relations) for _ in range(self.chance.choice((0, 1, 1, 1, 2, 2)))])
        folds = [self.fold(relations) for _ in range(self.chance.choice((1, 1, 2, 3)))]
        columns = {f"g{at}": kind for at, kind in enumerate(keys.values())}
        columns |= {f"a{at}": kind for at, (_, kind) in enumerate(folds)}
        shown = [f"{made} AS g{at}" for at, made in enumerate(keys)]
        shown += [f"{made} AS a{at}" for at, (made, _) in enumerate(folds)]
        by = list(keys)
        time = self.one_of(relations, "time")
        if time and self.chance.random() < 0.15:
            width = self.chance.choice(("'1 hour'", "'1 hour', '30 minutes'"))
            word = "session_window" if self.chance.random() < 0.3 else "window"
            call = f"session_window({time}, '40 minutes')" if word == "session_window" else f"window({time}, {width})"
            shown.insert(0, f"{word}.start AS w0")
            columns = {"w0": "time"} | columns
            by.append(call)
        key = tuple(name for name in columns if name[0] in "gw")
        if not key:
            shown, columns, key = ["1 AS one", *shown], {"one": "whole"} | columns, ("one",)
        grouping = self._grouping(by)
        if grouping.startswith((" GROUP BY ROLLUP", " GROUP BY CUBE")):
            shown.append("grouping_id() AS gi")
            columns, key = columns | {"gi": "whole"}, (*key, "gi")
        having = self._having(relations, depth) if by and self.chance.random() < 0.25 else ""
        if outer and by and self.chance.random() < 0.2:
            windowed, kind = self._over_groups(key, keys, folds)
            shown.append(f"{windowed} AS p0")
            columns |= {"p0": kind}
        made = f"SELECT {', '.join(shown)} FROM {text}{where}{grouping}{having}"
        if by and self.chance.random() < (0.15 if outer else 0.06):
            first = self.chance.choice(
                [name for name, kind in columns.items() if kind in ("whole", "text", "date")] or [key[0]]
            )
            order = ", ".join(
                f"{name}{self.chance.choice(('', ' DESC', ' NULLS LAST'))}" for name in dict.fromkeys((first, *key))
            )
            made += f" ORDER BY {order} LIMIT {self.chance.choice((1, 2, 3, 5))}"
        return Selected(made, columns, key)

    def _grouping(self, by: list[str]) -> str:
        if not by:
            return ""
        roll = self.chance.random()
        if roll < 0.07 and not any("window(" in made for made in by):
            return f" GROUP BY {self.chance.choice(('ROLLUP', 'CUBE'))} ({', '.join(by)})"
        return f" GROUP BY {', '.join(by)}"

    def _having(self, relations: list[Relation], depth: int) -> str:
        made, kind = self.fold(relations)
        if kind != "whole":
            made = "count(*)"
        if depth > 0 and self.chance.random() < 0.2:
            text, others = self._alone(depth - 1)
            if column := self.one_of(others, "whole"):
                return f" HAVING {made} >= (SELECT min({column}) FROM {text})"
        return f" HAVING {made} {self.chance.choice(('>', '<', '>=', '<>'))} {self.chance.randrange(4)}"

    def _over_groups(self, key: tuple[str, ...], keys: dict[str, str], folds: list[tuple[str, str]]) -> tuple[str, str]:
        by = list(keys)
        fold = next((made for made, kind in folds if kind == "whole" and "DISTINCT" not in made), "count(*)")
        part = f"PARTITION BY {self.chance.choice(by)} " if by and self.chance.random() < 0.8 else ""
        if self.chance.random() < 0.4:
            return f"sum({fold}) OVER ({part.strip()})", "whole"
        return f"{self.chance.choice(('rank', 'dense_rank'))}() OVER ({part}ORDER BY {fold} DESC)", "whole"

    def rows(self, depth: int) -> Selected:
        """Rows beside each other, by the keys of all that is read."""
        for _ in range(8):
            text, relations = self.joined(depth, keyed=True)
            if all(relation.key for relation in relations):
                break
        else:
            return self.grouped(depth, outer=False)
        pairs = [(f"{r.name}.{column}", r.columns[column]) for r in relations for column in r.key or ()]
        shown = {made: (f"i{at}", kind) for at, (made, kind) in enumerate(pairs)}
        key = tuple(name for name, _ in shown.values())
        for at in range(self.chance.choice((1, 2, 3))):
            made, kind = self.value(relations)
            shown.setdefault(made, (f"v{at}", kind))
        qualify = ""
        if self.chance.random() < 0.25:
            by = self.one_of(relations, "whole")
            if by:
                order = ", ".join(made for made, _ in pairs)
                over = f"OVER (PARTITION BY {by} ORDER BY {order})"
                whole = self.one_of(relations, "whole")
                made = self.chance.choice(
                    (
                        f"row_number() {over}",
                        f"sum({whole}) {over}",
                        f"lag({whole}) {over}",
                        f"max({whole}) OVER (PARTITION BY {by})",
                    )
                )
                if self.chance.random() < 0.3:
                    qualify = f" QUALIFY row_number() {over} <= 2"
                else:
                    shown[made] = ("p0", "whole")
        head = ", ".join(f"{made} AS {name}" for made, (name, _) in shown.items())
        text = f"SELECT {head} FROM {text}{self._where(relations, depth)}{qualify}"
        if not qualify and self.chance.random() < 0.08:
            text += f" ORDER BY {', '.join(key)} LIMIT 4"
        return Selected(text, dict(shown.values()), key)

    def distinct(self, depth: int) -> Selected:
        text, relations = self.joined(depth)
        shown = dict([self.group(relations) for _ in range(self.chance.choice((1, 2)))])
        columns = {f"d{at}": kind for at, kind in enumerate(shown.values())}
        head = ", ".join(f"{made} AS d{at}" for at, made in enumerate(shown))
        return Selected(f"SELECT DISTINCT {head} FROM {text}{self._where(relations, depth)}", columns, tuple(columns))

    def _arm(self, depth: int, kinds: tuple[str, ...]) -> str | None:
        text, relations = self.joined(depth - 1 if depth else 0)
        found = [self.one_of(relations, kind) for kind in kinds]
        if not all(found):
            return None
        head = ", ".join(f"{made} AS u{at}" for at, made in enumerate(found))
        return f"SELECT {head} FROM {text}{self._where(relations, 0)}"

    def sets(self, depth: int) -> Selected:
        kinds = self.chance.choice((("whole",), ("whole", "text"), ("text",), ("whole", "whole")))
        arms = [arm for _ in range(8) if (arm := self._arm(depth, kinds))][: self.chance.choice((2, 2, 3))]
        if len(arms) < 2:
            return self.grouped(depth, outer=False)
        words = self.chance.choice(("UNION", "UNION", "INTERSECT", "EXCEPT"))
        columns = {f"u{at}": kind for at, kind in enumerate(kinds)}
        return Selected(f" {words} ".join(arms), columns, tuple(columns))

    def sets_of_groups(self, depth: int) -> Selected:
        kinds = self.chance.choice((("whole",), ("whole", "text"), ("text",)))
        arms = [arm for _ in range(8) if (arm := self._arm(depth, kinds))][:2]
        if len(arms) < 2:
            return self.grouped(depth, outer=False)
        words = self.chance.choice(("UNION ALL", "UNION ALL", "INTERSECT ALL", "EXCEPT ALL"))
        inner = f" {words} ".join(arms)
        name = self.name()
        relation = Relation("", name, {f"u{at}": kind for at, kind in enumerate(kinds)}, None)
        made, _ = self.fold([relation])
        by = ", ".join(f"{name}.u{at}" for at in range(len(kinds)))
        head = ", ".join(f"{name}.u{at} AS g{at}" for at in range(len(kinds)))
        columns = {f"g{at}": kind for at, kind in enumerate(kinds)}
        text = f"SELECT {head}, {made} AS a0 FROM ({inner}) AS {name} GROUP BY {by}"
        return Selected(text, columns | {"a0": "whole"}, tuple(columns))
