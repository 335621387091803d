"""What a query means, written in one way, and the parts by which two meanings differ.

Two queries with equal canonical forms give the same rows in Spark, for any tables. The reverse does not
hold: what is not recognised as equal counts as changed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from streamhouse.errors import Location
from streamhouse.model.table import Column
from streamhouse.sql.dialect import SPARK, parse_query, render
from streamhouse.sql.flatten import flatten
from streamhouse.sql.lineage import lineage
from streamhouse.sql.origins import Origins, origins_of
from streamhouse.sql.ports import ActionPort
from streamhouse.sql.relations import (
    Combined,
    Generated,
    JoinedRelation,
    Leaf,
    Node,
    Relation,
    SelectBlock,
    UnfollowedError,
    aggregates_in,
    columns_in,
    expressions_of,
    has,
    leaves_of,
)
from streamhouse.sql.schema import CheckedQuery, analyse
from streamhouse.sql.unfold import unfold
from streamhouse.sql.wording import SourceNames, column_text, rows_text, text_of

__all__ = ["Canonical", "CanonicalCondition", "CanonicalInput", "CanonicalOutput", "Joined", "Rows", "canonical"]

_AT = Location("")


@dataclass(frozen=True)
class CanonicalInput:
    """What one port reads.

    Attributes:
        table: Its name, or a source's.
        columns: Of that table.
        mode: `changes` or `lookup`.
    """

    table: str
    columns: tuple[Column, ...]
    mode: str = "changes"


@dataclass(frozen=True)
class CanonicalOutput:
    """One output column: its expression, and what it takes to compute it."""

    text: str
    folds: bool = False  # an aggregate
    looks: bool = False  # a function over a window of rows
    constant: bool = False  # reads no column
    casts: tuple[str, str] | None = None  # of a CAST at the top: what it converts, and the type it gives


@dataclass(frozen=True, order=True)
class CanonicalCondition:
    """One part of a WHERE, ON or HAVING.

    Attributes:
        text: Canonical.
        sources: How many of the block's sources it looks at.
        equates: Whether it is `a = b` of two sources.
        looks: Whether it asks for what a function over a window of rows gave, such as a row number.
    """

    text: str
    sources: int = 1
    equates: bool = False
    looks: bool = False


@dataclass(frozen=True)
class Joined:
    """One source of a block.

    Attributes:
        kind: `from`, `inner`, `left`, `right`, `full`, `semi`, `anti` or `lateral`.
        text: The table and how it is read, or the rows of the query that stands here.
        table: Of a plain table; empty otherwise.
        label: What its columns are called by.
        on: Conditions of the join; those of an inner join stand in `Rows.where` where that is the same.
        rows: Of a query that stands here.
        equated: Columns of the source that an ON equates with something.
    """

    kind: str
    text: str
    table: str = ""
    label: str = ""
    on: frozenset[CanonicalCondition] = frozenset()
    rows: "Rows | None" = None
    equated: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Rows:
    """What decides which rows a query has, apart from the values in them.

    Attributes:
        text: All of it; equal texts have equal rows.
        sources: In the order of the FROM; empty when `arms` is not.
        where: Parts that all hold.
        group: Keys; None: rows are not folded; empty: into one.
        having: Parts that all hold of a group.
        generators: Generators among the output columns: each row gives several.
        distinct: Columns, when equal rows are one.
        cut: ORDER BY and LIMIT.
        operator: `union all`, `union`, `except`, `intersect`; empty: it is no set operation.
        arms: Of the set operation.
    """

    text: str
    sources: tuple[Joined, ...] = ()
    where: frozenset[CanonicalCondition] = frozenset()
    group: frozenset[str] | None = None
    having: frozenset[CanonicalCondition] = frozenset()
    generators: frozenset[str] = frozenset()
    distinct: frozenset[str] | None = None
    cut: tuple[str, ...] = ()
    operator: str = ""
    arms: tuple["Canonical", ...] = ()


@dataclass(frozen=True)
class Canonical:
    """A query's meaning.

    Attributes:
        outputs: Column → its expression.
        rows: What decides which rows there are; None: the query is not followed, and compared as text.
        text: Of a query that is not followed.
        types: Of the columns it reads, `table.column` → type.
        why: Why it is not followed.
        values: Output column → the `(table, column)`s its value is made of.
        decides: The `(table, column)`s that decide which rows there are.
    """

    outputs: Mapping[str, CanonicalOutput]
    rows: Rows | None
    text: str = ""
    types: frozenset[tuple[str, str]] = frozenset()
    why: str = ""
    values: Mapping[str, Origins] = field(default_factory=dict)
    decides: Origins = frozenset()

    @cached_property
    def key(self) -> tuple[object, ...]:
        """Equal for queries that give the same rows under the same column names, in any order of columns."""
        shown = tuple(sorted((name, output.text) for name, output in self.outputs.items()))
        return (shown, self.rows.text if self.rows is not None else self.text, self.types)

    def means(self, other: "Canonical") -> bool:
        """Whether the two are known to give the same rows."""
        return self.key == other.key


def canonical(sql: str, inputs: Mapping[str, CanonicalInput]) -> Canonical:
    """The meaning of a step's SQL.

    Args:
        sql: As in `PlannedStep.sql`: over ports, parameters filled in.
        inputs: Port → what it reads.

    Raises:
        DefinitionError: the SQL does not fit the inputs.
    """
    return _canonical(sql, tuple(sorted(inputs.items())))


@lru_cache(maxsize=4096)
def _canonical(sql: str, inputs: tuple[tuple[str, CanonicalInput], ...]) -> Canonical:
    return _canonical_of(analysed(sql, dict(inputs)), dict(inputs), sql)


def analysed(sql: str, inputs: Mapping[str, CanonicalInput]) -> CheckedQuery:
    """A step's SQL with its scopes; not to be changed. Which tables its ports read makes no difference to them."""
    ports = tuple((port, one.columns, one.mode) for port, one in sorted(inputs.items()))
    return _analysed(sql, ports)


@lru_cache(maxsize=1024)
def _analysed(sql: str, ports: tuple[tuple[str, tuple[Column, ...], str], ...]) -> CheckedQuery:
    inputs = {port.lower(): ActionPort(columns, {}, mode == "lookup") for port, columns, mode in ports}
    return analyse(parse_query(sql, _AT), inputs, sql, _AT)


def _canonical_of(query: CheckedQuery, inputs: Mapping[str, CanonicalInput], sql: str) -> Canonical:
    leaves = {
        port.lower(): Leaf(canonical_input.table, canonical_input.mode) for port, canonical_input in inputs.items()
    }
    known = {
        f"{canonical_input.table}.{c.name.lower()}": c.type
        for canonical_input in inputs.values()
        for c in canonical_input.columns
    }
    try:
        relation = unfold(query.scope, leaves, query.inference)
    except UnfollowedError as error:
        return _as_text(query, leaves, frozenset(known.items()), sql, str(error))
    relation = flatten(relation)
    names, tables = SourceNames(), {owner: leaf.table for owner, leaf in leaves_of(relation)}
    read = {
        (tables[owner], name)
        for node in expressions_of(relation)
        for owner, name in columns_in(node)
        if owner in tables
    }
    types = frozenset((name, known[name]) for table, column in read if (name := f"{table}.{column.lower()}") in known)
    outputs = {name: _output(relation, name, names) for name in _columns(relation)}
    origins = origins_of(relation)
    return Canonical(outputs, _rows(relation, names), "", types, "", origins.values, origins.decides)


def _as_text(
    query: CheckedQuery, leaves: Mapping[str, Leaf], types: frozenset[tuple[str, str]], sql: str, why: str
) -> Canonical:
    read = sorted((port, leaf.table, leaf.mode) for port, leaf in leaves.items())
    outputs = {item.alias_or_name: CanonicalOutput(render(item)) for item in query.tree.selects}
    values = {
        name: frozenset((leaves[port].table, column) for port, column in origins)
        for name, origins in lineage(query).items()
    }
    decides = frozenset((leaves[port].table, column) for port, columns in query.reads.items() for column in columns)
    return Canonical(outputs, None, f"{_written(sql)} {read}", types, why, values, decides)


def _written(sql: str) -> str:
    """A text without comments, and with one space wherever there is any: two texts side by side are one."""
    found, end = [], 0
    for token in SPARK.tokenize(sql):
        found += [" ", sql[token.start : token.end + 1]] if token.start > end else [sql[token.start : token.end + 1]]
        end = token.end + 1
    return "".join(found).strip()


def _columns(relation: Relation) -> tuple[str, ...]:
    if isinstance(relation, Combined):
        return relation.names
    return tuple(relation.outputs) if isinstance(relation, SelectBlock) else ()


def _output(relation: Relation, name: str, names: SourceNames) -> CanonicalOutput:
    text = column_text(relation, name, names)
    if not isinstance(relation, SelectBlock):
        return CanonicalOutput(text)
    node, own = relation.outputs[name], names.within(relation)
    casts = None
    if node.op == "cast" and isinstance(node.args[0], Node) and isinstance(node.args[1], Node):
        casts = (text_of(node.args[0], own), text_of(node.args[1], own))
    constant = not any(part.op in {"col", "query"} for part in _walk(node)) and not aggregates_in(node)
    return CanonicalOutput(text, aggregates_in(node), has(node, "win"), constant, casts)


def _walk(node: Node) -> list[Node]:
    return [node, *(inner for part in node.args if isinstance(part, Node) for inner in _walk(part))]


def _rows(relation: Relation, names: SourceNames) -> Rows | None:
    text = rows_text(relation, names)
    if isinstance(relation, Combined):
        arms = tuple(
            Canonical(
                {name: _output(arm, own, names) for name, own in zip(relation.names, _columns(arm), strict=True)},
                _rows(arm, names),
            )
            for arm in relation.arms
        )
        operator = relation.op if relation.distinct or relation.op != "union" else "union all"
        return Rows(text, operator=operator, arms=arms)
    if not isinstance(relation, SelectBlock):
        return None
    own = names.within(relation)
    generators = [node for node in relation.outputs.values() if has(node, "gen")]
    shown = frozenset(text_of(node, own) for node in relation.outputs.values())
    return Rows(
        text,
        tuple(_joined(source, own) for source in relation.sources),
        frozenset(_condition(node, own) for node in relation.where),
        None if relation.group is None else frozenset(text_of(node, own) for node in relation.group),
        frozenset(_condition(node, own) for node in relation.having),
        frozenset(text_of(node, own) for node in generators),
        shown if relation.distinct else None,
        tuple(text_of(node, own) for node in relation.cut),
    )


def _joined(source: JoinedRelation, own: SourceNames) -> Joined:
    relation = source.relation
    table = relation.table if isinstance(relation, Leaf) else ""
    inner = _rows(relation, own) if isinstance(relation, (SelectBlock, Combined)) else None
    text = text_of(relation.call, own) if isinstance(relation, Generated) else rows_text(relation, own)
    on = frozenset(_condition(node, own) for node in source.on)
    equated = frozenset(
        str(side.args[1])
        for node in source.on
        if node.op == "eq" and node.tag != "mixed"
        for side, other in (node.args, node.args[::-1])
        if isinstance(side, Node) and side.op == "col" and side.args[0] == source.id
        if isinstance(other, Node) and source.id not in {owner for owner, _ in columns_in(other)}
    )
    return Joined(source.kind, text, table, own.label(source.id), on, inner, equated)


def _condition(node: Node, own: SourceNames) -> CanonicalCondition:
    sides = [_sources(part, own) for part in node.args if isinstance(part, Node)]
    both = node.op == "eq" and len(sides) == 2 and all(sides) and not sides[0] & sides[1]
    looks = any(part.op == "col" and own.looks(str(part.args[0]), str(part.args[1])) for part in _walk(node))
    return CanonicalCondition(text_of(node, own), len(_sources(node, own)), both, looks)


def _sources(node: Node, own: SourceNames) -> frozenset[str]:
    return frozenset(str(part.args[0]) for part in _walk(node) if part.op == "col" and own.knows(str(part.args[0])))
