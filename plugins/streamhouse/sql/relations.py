"""A checked query as blocks: what `flatten` merges and `canonical` writes down.

Unlike a syntax tree it has no names a person chose: a column belongs to a source object, a WITH query stands
wherever it is read, parentheses are gone, and NOT, BETWEEN and > are written in one way each. Every rewrite
holds for SQL's three truth values and for NaN, which Spark orders above all numbers.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

_NEGATED = {"eq": "neq", "neq": "eq"}


class UnfollowedError(Exception):
    """A query has a shape that is compared by its text only; the message says which."""


@dataclass(frozen=True, slots=True)
class Node:
    """One operation.

    Attributes:
        op: Its name.
        args: What it works on.
        tag: `agg`, `win` or `gen` where it folds rows, looks around, or makes rows; `mixed` of an equality of
            values that Spark converts before it compares them.
    """

    op: str
    args: tuple["Part", ...] = ()
    tag: str = ""


Part: TypeAlias = "Node | Relation | str"


@dataclass(eq=False)
class Leaf:
    """A table or source that a port reads."""

    table: str
    mode: str  # changes, lookup


@dataclass(eq=False)
class Generated:
    """LATERAL VIEW: rows made of each row of the sources before it."""

    call: Node
    names: tuple[str, ...]


@dataclass(eq=False)
class JoinedRelation:
    """One relation a block reads, and how it is joined to those before: `from`, `inner`, `left`, ..."""

    id: str
    kind: str
    relation: "Relation"
    on: list[Node] = field(default_factory=list)


@dataclass(eq=False)
class SelectBlock:
    """One SELECT. `group` None: rows are not folded; empty: into one."""

    sources: list[JoinedRelation]
    outputs: dict[str, Node]
    where: list[Node] = field(default_factory=list)
    group: list[Node] | None = None
    having: list[Node] = field(default_factory=list)
    distinct: bool = False
    cut: tuple[Node, ...] = ()  # ORDER BY, LIMIT, OFFSET


@dataclass(eq=False)
class Combined:
    """UNION, EXCEPT or INTERSECT; columns by position, named as in the first arm.

    `even`: all arms have the same types. Other types are widened pair by pair, so the pairs matter.
    """

    op: str
    distinct: bool
    arms: list["Relation"]
    names: tuple[str, ...]
    even: bool

    def joins(self, op: str, *, distinct: bool, even: bool) -> bool:
        """Whether a set operation around this one is one with it."""
        return self.op == op == "union" and self.distinct == distinct and self.even and even


Relation: TypeAlias = Leaf | Generated | SelectBlock | Combined


def nodes(node: Node) -> Iterator[Node]:
    """The node and all below it, without those of sub-queries."""
    yield node
    for part in node.args:
        if isinstance(part, Node):
            yield from nodes(part)


def columns_in(node: Node) -> Iterator[tuple[str, str]]:
    """`(source id, column)` of every column below a node, also of those in sub-queries."""
    if node.op == "col":
        yield str(node.args[0]), str(node.args[1])
        return
    for part in node.args:
        if isinstance(part, Node):
            yield from columns_in(part)
        elif not isinstance(part, str):
            for inner in expressions_of(part):
                yield from columns_in(inner)


def expressions_of(relation: Relation) -> Iterator[Node]:
    """Every expression of a relation and of those below it."""
    if isinstance(relation, Generated):
        yield relation.call
    elif isinstance(relation, Combined):
        for arm in relation.arms:
            yield from expressions_of(arm)
    elif isinstance(relation, SelectBlock):
        for source in relation.sources:
            yield from source.on
            yield from expressions_of(source.relation)
        yield from (*relation.outputs.values(), *relation.where, *(relation.group or ()), *relation.having)
        yield from relation.cut


def leaves_of(relation: Relation) -> Iterator[tuple[str, Leaf]]:
    """`(source id, leaf)` of every table that a relation reads, also in sub-queries."""
    if isinstance(relation, Combined):
        for arm in relation.arms:
            yield from leaves_of(arm)
    elif isinstance(relation, SelectBlock):
        for source in relation.sources:
            if isinstance(source.relation, Leaf):
                yield source.id, source.relation
            yield from leaves_of(source.relation)
        for node in expressions_of(relation):
            yield from _leaves_in(node)


def _leaves_in(node: Node) -> Iterator[tuple[str, Leaf]]:
    for part in node.args:
        if isinstance(part, Node):
            yield from _leaves_in(part)
        elif not isinstance(part, str):
            yield from leaves_of(part)


def aggregates_in(node: Node) -> bool:
    """Whether an expression folds rows; a function that stands under OVER does not."""
    if node.tag == "agg":
        return True
    inner = node.args
    if node.tag == "win":
        call = _windowed(node)
        inner = tuple(part for part in (*call.args, *node.args[1:]))
    return any(aggregates_in(part) for part in inner if isinstance(part, Node))


def _windowed(window: Node) -> Node:
    call = window.args[0]
    while isinstance(call, Node) and not call.tag and call.args and isinstance(call.args[0], Node):
        call = call.args[0]  # FILTER, IGNORE NULLS
    return call if isinstance(call, Node) else window


def has(node: Node, tag: str) -> bool:
    """Whether an expression holds a node with a tag."""
    return any(part.tag == tag for part in nodes(node))


def conjuncts(node: Node) -> list[Node]:
    """The parts of `a AND b AND c`; none of TRUE."""
    if node.op == "and":
        return [inner for part in node.args if isinstance(part, Node) for inner in conjuncts(part)]
    return [] if node == TRUE else [node]


TRUE, FALSE = Node("boolean", ("True",)), Node("boolean", ("False",))


def both(*parts: Node) -> Node:
    """`a AND b`, flat."""
    return _flat("and", parts, TRUE, FALSE)


def either(*parts: Node) -> Node:
    """`a OR b`, flat."""
    return _flat("or", parts, FALSE, TRUE)


def _flat(op: str, parts: tuple[Node, ...], neutral: Node, deciding: Node) -> Node:
    """Of truth values, so that one that stands alone is what the operation gives."""
    found: list[Node] = []
    for part in parts:
        inner = [p for p in part.args if isinstance(p, Node)] if part.op == op else [part]
        found += [p for p in inner if p != neutral and p not in found]
    if deciding in found:
        return deciding
    return found[0] if len(found) == 1 else Node(op, tuple(found)) if found else neutral


def negated(node: Node) -> Node:
    """`NOT node`, with the NOT as far in as it goes."""
    parts = tuple(part for part in node.args if isinstance(part, Node))
    if node.op in {"and", "or"}:
        return (either if node.op == "and" else both)(*(negated(part) for part in parts))
    if node in (TRUE, FALSE):
        return FALSE if node == TRUE else TRUE
    if node.op == "not":
        return parts[0]
    if node.op in {"lt", "lte"}:  # NOT a < b is b <= a: Spark orders all values, NaN too
        return Node("lte" if node.op == "lt" else "lt", (parts[1], parts[0]))
    if node.op in {"eq", "neq"}:
        return Node(_NEGATED[node.op], parts)
    return Node("not", (node,))
