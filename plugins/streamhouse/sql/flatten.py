"""Merges blocks that only pass rows on into the block that reads them, wherever that changes no result.

sqlglot's `merge_subqueries` does the same for texts, but takes a literal out from below a LEFT JOIN, where a
row without a match must show NULL, and its `simplify` adds up numbers past the end of their type.
"""

from streamhouse.sql.relations import (
    TRUE,
    Combined,
    Generated,
    JoinedRelation,
    Node,
    Relation,
    SelectBlock,
    aggregates_in,
    columns_in,
    expressions_of,
    has,
)

_CONSTANTS = frozenset({"text", "number", "boolean", "null"})
Outputs = dict[str, Node]


def flatten(relation: Relation) -> Relation:
    """Merge, inside out, what can be merged; changes the relation, and gives the one that stands for it."""
    if isinstance(relation, Combined):
        return _one_level(relation)
    if not isinstance(relation, SelectBlock):
        return relation
    for source in relation.sources:
        source.relation = flatten(source.relation)
    for node in _own(relation):
        _flatten_queries(node)
    # Without aggregates DISTINCT is a GROUP BY of every column.
    if relation.distinct and relation.group is None and not _any(relation, "win", "gen"):
        relation.distinct, relation.group = False, list(relation.outputs.values())
    while any(_merged(relation, source) for source in relation.sources):
        pass
    _inner_conditions(relation)
    _constant_keys(relation)
    _conditions_on_keys(relation)
    return _renamed(relation) or relation


def _one_level(combined: Combined) -> Combined:
    """UNION ALL of UNION ALLs is one, and so with UNION."""
    arms: list[Relation] = []
    for arm in map(flatten, combined.arms):
        same = isinstance(arm, Combined) and arm.joins(combined.op, distinct=combined.distinct, even=combined.even)
        arms += arm.arms if same and isinstance(arm, Combined) else [arm]
    combined.arms = arms
    return combined


def _renamed(block: SelectBlock) -> Combined | None:
    """Of a block that only renames and reorders the columns of a set operation: that operation."""
    inner = block.sources[0].relation if len(block.sources) == 1 else None
    if not isinstance(inner, Combined) or block.where or block.group is not None or block.distinct or block.cut:
        return None
    shown = list(block.outputs.values())
    if any(node.op != "col" or node.args[0] != block.sources[0].id for node in shown):
        return None
    wanted = [str(node.args[1]) for node in shown]
    whole = set(wanted) == set(inner.names) and len(wanted) == len(inner.names)
    if not whole or any(not isinstance(arm, SelectBlock) for arm in inner.arms):
        return None
    for arm in inner.arms:
        assert isinstance(arm, SelectBlock)
        old_outputs = dict(zip(inner.names, arm.outputs.values(), strict=True))
        arm.outputs = {name: old_outputs[old] for name, old in zip(block.outputs, wanted, strict=True)}
    return Combined(inner.op, inner.distinct, inner.arms, tuple(block.outputs), inner.even)


def _own(block: SelectBlock) -> list[Node]:
    return [
        *(node for source in block.sources for node in source.on),
        *(s.relation.call for s in block.sources if isinstance(s.relation, Generated)),
        *block.outputs.values(),
        *block.where,
        *(block.group or ()),
        *block.having,
        *block.cut,
    ]


def _flatten_queries(node: Node) -> None:
    for part in node.args:
        if isinstance(part, Node):
            _flatten_queries(part)
        elif not isinstance(part, str):
            flatten(part)


def _any(block: SelectBlock, *tags: str) -> bool:
    return any(has(node, tag) for node in block.outputs.values() for tag in tags)


def _merged(block: SelectBlock, source: JoinedRelation) -> bool:
    inner = source.relation
    if not isinstance(inner, SelectBlock) or inner.distinct or not inner.sources or _any(inner, "gen"):
        return False
    passes = inner.group is None and not inner.cut and not _any(inner, "win")
    if passes:
        return _splice(block, source, inner)
    if len(block.sources) == 1:
        return _absorb(block, source, inner)
    return False


def _splice(block: SelectBlock, source: JoinedRelation, inner: SelectBlock) -> bool:
    """The sources of a block that only filters and computes stand among those of the block around it."""
    kinds = {s.kind for s in block.sources}
    first, one = source is block.sources[0], len(inner.sources) == 1
    # RIGHT and FULL fill the columns of what stands before them with NULL, and computed ones are not NULL then.
    filled = bool(kinds & {"right", "full"}) or source.kind in {"left", "right", "full"}
    if filled and not all(node.op == "col" for node in _referenced(block, source, inner).values()):
        return False
    if not first and not one:
        return False
    if first and "right" not in kinds and "full" not in kinds:
        block.where += inner.where
    elif source.kind in {"left", "semi", "anti"}:
        source.on += inner.where
    elif source.kind == "inner" and not filled:
        block.where += inner.where
    elif inner.where:
        return False
    at = block.sources.index(source)
    inner.sources[0].kind = source.kind
    inner.sources[0].on = source.on
    block.sources[at : at + 1] = inner.sources
    _substitute(block, source.id, inner.outputs)
    return True


def _absorb(block: SelectBlock, source: JoinedRelation, inner: SelectBlock) -> bool:
    """A block that only computes from, or filters, the one block it reads becomes a part of that block."""
    if block.group is not None or block.cut or block.distinct or _any(block, "gen"):
        return False
    used = _referenced(block, source, inner)
    looks = any(has(node, "win") for node in used.values())
    if _any(block, "win") and (looks or inner.cut):
        return False
    if block.where and (looks or inner.cut or inner.group is None):
        return False
    _substitute(block, source.id, inner.outputs)
    block.sources, block.group, block.cut = inner.sources, inner.group, inner.cut
    block.having, block.where = [*inner.having, *block.where], inner.where
    if inner.group is None:
        block.having = []
    return True


def _referenced(block: SelectBlock, source: JoinedRelation, inner: SelectBlock) -> Outputs:
    used = {name for node in expressions_of(block) for owner, name in columns_in(node) if owner == source.id}
    return {name: node for name, node in inner.outputs.items() if name in used}


def _inner_conditions(block: SelectBlock) -> None:
    """With inner joins and LEFT JOINs alone, what an inner join asks for may be asked at the end."""
    if {s.kind for s in block.sources} & {"right", "full"}:
        return
    for source in block.sources:
        if source.kind == "inner":
            block.where += source.on
            source.on = []


def _constant_keys(block: SelectBlock) -> None:
    """A constant parts no group from another; alone it says that without rows there is no group."""
    if block.group:
        block.group = [key for key in block.group if key.op not in _CONSTANTS] or [TRUE]


def _conditions_on_keys(block: SelectBlock) -> None:
    """A HAVING that looks at nothing but group keys chooses rows as well as groups."""
    if not block.group:
        return
    keys = list(block.group)
    moved = [node for node in block.having if _depends_only_on(node, keys)]
    block.where += moved
    block.having = [node for node in block.having if node not in moved]


def _depends_only_on(node: Node, keys: list[Node]) -> bool:
    if node in keys:
        return not has(node, "gen")
    if node.op in {"col", "query"} or aggregates_in(node) or has(node, "win"):
        return False
    return all(_depends_only_on(part, keys) for part in node.args if isinstance(part, Node))


# --- substitution ---


def _substitute(block: SelectBlock, source: str, outputs: Outputs) -> None:
    def changed(node: Node) -> Node:
        if node.op == "col":
            return outputs[str(node.args[1])] if node.args[0] == source else node
        parts = tuple(changed(part) if isinstance(part, Node) else part for part in node.args)
        for part in parts:
            if not isinstance(part, (Node, str)):
                below(part)
        return node if parts == node.args else Node(node.op, parts, node.tag)

    def below(relation: Relation) -> None:
        if isinstance(relation, Generated):
            relation.call = changed(relation.call)
        elif isinstance(relation, Combined):
            for arm in relation.arms:
                below(arm)
        elif isinstance(relation, SelectBlock):
            for inner in relation.sources:
                inner.on = [changed(node) for node in inner.on]
                below(inner.relation)
            relation.outputs = {name: changed(node) for name, node in relation.outputs.items()}
            relation.where = [changed(node) for node in relation.where]
            relation.having = [changed(node) for node in relation.having]
            relation.group = None if relation.group is None else [changed(node) for node in relation.group]
            relation.cut = tuple(changed(node) for node in relation.cut)

    below(block)
