"""The text that a person typed, with nothing replaced but the names of tables. Pure.

So Spark reads what was written, and not what we made of it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlglot import exp


@dataclass(frozen=True)
class Name:
    """A table's name in the text, `[start, end)`.

    Attributes:
        start: Its first character.
        end: Behind its last.
        use: Name of what is read.
        alias: What the query calls it where it gives no name; empty: it gives one.
    """

    start: int
    end: int
    use: str
    alias: str


@dataclass(frozen=True)
class WrittenQuery:
    """A text, and where it names tables.

    Attributes:
        text: Without clauses that Spark does not know; as long as what was typed.
        names: Of tables, in the order of the text.
        cuts: What is left out: the layer in `dwd.orders.amount`.
    """

    text: str
    names: tuple[Name, ...]
    cuts: tuple[tuple[int, int], ...] = ()

    def over(self, views: Mapping[str, str]) -> str:
        """The text over views: name of what is read → the view that has its rows."""
        put = [
            (name.start, name.end, views[name.use] + (f" AS {name.alias}" if name.alias else "")) for name in self.names
        ]
        text = self.text
        for start, end, new in sorted([*put, *((start, end, "") for start, end in self.cuts)], reverse=True):
            text = text[:start] + new + text[end:]
        return text.rstrip().rstrip(";")


def written(text: str, tables: Iterable[tuple[exp.Table, str]], columns: Iterable[exp.Column]) -> WrittenQuery | None:
    """The names of tables in a text.

    Args:
        text: Without clauses that Spark does not know.
        tables: Each place that names a table, as parsed, and what is read there.
        columns: Those that name their table with its layer.

    Returns:
        None: the text needs more than other names.
    """
    names, cuts = [], []
    for table, use in tables:
        span = _span(table.parts, text)
        if span is None or len(table.parts) > 2 or any(table.args.get(key) for key in ("version", "when", "sample")):
            return None
        alias = "" if table.alias else f"`{table.name}`"
        names.append(Name(*span, use, alias))
    for column in columns:
        whole, rest = _span(column.parts, text), _span(column.parts[1:], text)
        if whole is None or rest is None:
            return None
        cuts.append((whole[0], rest[0]))
    return WrittenQuery(text, tuple(sorted(names, key=lambda name: name.start)), tuple(cuts))


def _span(parts: Iterable[exp.Expr], text: str) -> tuple[int, int] | None:
    """Where a name of several parts stands; None: the tree does not tell."""
    places = [(part.meta_get("start"), part.meta_get("end"), part.name) for part in parts]
    for start, end, name in places:
        if start is None or end is None or text[start : end + 1].strip("`") != name:
            return None
    return min(start for start, *_ in places), max(end for _, end, _ in places) + 1
