"""Columns of a relation that tell which rows of its inputs make which of its rows.

A column has a *trace* when keeping the relation's rows with certain values in that column is the same
as keeping, in each input the trace names, the rows with those values in the named column and computing
the relation from what is left. The same holds for several columns with traces taken together, and so for
every value that is computed from them row by row.
"""

from dataclasses import dataclass, field
from functools import lru_cache

from sqlglot import exp

from streamhouse.sql.dialect import quote_names, render
from streamhouse.sql.spark_type import SparkType


@dataclass(frozen=True)
class Own:
    """What a port has of a traced value: a column, or an expression over its columns.

    Attributes:
        tree: Over columns without a table.
        type: Of its value.
    """

    tree: exp.Expr
    type: SparkType

    @property
    def column(self) -> str | None:
        """The name of the column; None: it is computed."""
        return self.tree.name if isinstance(self.tree, exp.Column) else None

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column it is made of."""
        return tuple(dict.fromkeys(column.name for column in self.tree.find_all(exp.Column)))

    @property
    def text(self) -> str:
        """The name of the column, or canonical Spark SQL."""
        if self.column is not None:
            return self.column
        tree = self.tree.copy()
        quote_names(tree)
        return render(tree)


Trace = dict[int, Own]  # use of a port → what it has of the value


@dataclass
class Relation:
    """What a scope gives.

    Attributes:
        uses: Each use of a driving port → the port. A CTE read twice counts twice.
        traces: Output columns that have a trace.
        sure: Output columns that are never NULL.
    """

    uses: dict[int, str] = field(default_factory=dict)
    traces: dict[str, Trace] = field(default_factory=dict)
    sure: set[str] = field(default_factory=set)


class TracedColumns:
    """Columns of a FROM clause while its joins are added; equal columns share a trace.

    A column is called by its text, `source.column`.

    Attributes:
        uses: As in `Relation`.
        sure: Columns that are never NULL.
        computes: Whether any text may be that of an expression that is no column of a source.
    """

    def __init__(self) -> None:
        self.uses: dict[int, str] = {}
        self.sure: set[str] = set()
        self.computes = False
        self._class_of: dict[str, int] = {}
        self._traces: dict[int, Trace] = {}

    def add(self, alias: str, relation: Relation) -> None:
        """Join a source whose rows are all kept or matched."""
        self.uses |= relation.uses
        self.sure |= {f"{alias}.{name}" for name in relation.sure}
        for name, trace in relation.traces.items():
            self._name(f"{alias}.{name}", trace)

    def name(self, text: str, trace: Trace) -> None:
        """Give what is computed a trace of its own."""
        self.computes = True
        self._name(text, trace)

    def _name(self, text: str, trace: Trace) -> None:
        self._class_of[text] = len(self._traces)
        self._traces[len(self._traces)] = dict(trace)

    def alias(self, text: str, same_as: str) -> None:
        """Another text that has the value of a column."""
        self.computes = True
        if same_as in self._class_of:
            self._class_of[text] = self._class_of[same_as]

    def trace(self, text: str) -> Trace | None:
        """Of a column; None: it has none. Empty: it comes from lookups alone."""
        return self._traces[self._class_of[text]] if text in self._class_of else None

    def equate(self, one: str, other: str) -> None:
        """Only rows are left in which two columns are equal."""
        self.computes = self.computes or not {one, other} <= self._class_of.keys()
        self.sure |= {one, other}
        a, b = self._class_of.get(one), self._class_of.get(other)
        if a is None or b is None or a == b:
            return
        for text, of in self._class_of.items():
            if of == b:
                self._class_of[text] = a
        self._traces[a] |= {use: column for use, column in self._traces[b].items() if use not in self._traces[a]}

    def extend(self, text: str, trace: Trace | None, *, enforced: bool) -> None:
        """What keeps rows by `text` may also restrict the other side of a join by `trace`.

        Args:
            text: A column of the side whose rows are kept.
            trace: Of the column it must equal; None or empty: nothing there to restrict.
            enforced: A row without a match is dropped. Where it is kept instead, rows that nothing
                restricts (those of a lookup) would wrongly appear to have no match.
        """
        mine = self.trace(text)
        if mine is None or not trace:
            return
        if not mine and not enforced:
            of = self._class_of[text]
            self.forget({t for t, c in self._class_of.items() if c == of})
            return
        mine.update({use: column for use, column in trace.items() if use not in mine})

    def forget(self, texts: set[str]) -> None:
        """Take the traces of columns away."""
        for text in texts & set(self._class_of):
            del self._class_of[text]

    @property
    def names(self) -> set[str]:
        """Every column that has a trace."""
        return set(self._class_of)

    def keep_only(self, texts: set[str]) -> None:
        """Take the traces away of all columns but these and those equal to them."""
        classes = {self._class_of[t] for t in texts if t in self._class_of}
        self.forget({t for t, of in self._class_of.items() if of not in classes})


def text_of(node: exp.Expr) -> str:
    """What an expression is called in `TracedColumns`."""
    inner = node.unnest()
    return f"{inner.table}.{inner.name}" if isinstance(inner, exp.Column) else render(inner)


@lru_cache(maxsize=4096)
def coalesce_of(one: str, other: str) -> str:
    """What `COALESCE` of two columns is called in `TracedColumns`."""
    columns = [exp.column(*reversed(text.split(".", 1))) if "(" not in text else text for text in (one, other)]
    shown = [c if isinstance(c, str) else render(c) for c in columns]
    return f"COALESCE({', '.join(shown)})"
