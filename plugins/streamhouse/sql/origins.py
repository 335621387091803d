"""Which columns of its tables a relation's columns are made of, and which decide its rows."""

from collections.abc import Mapping
from dataclasses import dataclass

from streamhouse.sql.relations import Combined, Generated, JoinedRelation, Leaf, Node, Relation, SelectBlock

Origins = frozenset[tuple[str, str]]
"""`(table, column)`s."""


@dataclass(frozen=True)
class Traced:
    """`values`: output column → what its value is made of; `decides`: what decides which rows there are."""

    values: Mapping[str, Origins]
    decides: Origins


def origins_of(relation: Relation) -> Traced:
    """The origins of a flattened relation."""
    return _trace(relation, {})


def _trace(relation: Relation, outer: Mapping[str, tuple[JoinedRelation, Traced]]) -> Traced:
    if isinstance(relation, Combined):
        arms = [_trace(arm, outer) for arm in relation.arms]
        values = {
            name: frozenset[tuple[str, str]]().union(*(list(arm.values.values())[at] for arm in arms))
            for at, name in enumerate(relation.names)
        }
        deciding = frozenset[tuple[str, str]]().union(*(arm.decides for arm in arms))
        whole = relation.distinct or relation.op != "union"
        return Traced(values, deciding.union(*values.values()) if whole else deciding)
    if not isinstance(relation, SelectBlock):
        return Traced({}, frozenset())
    sources = dict(outer)
    decides: Origins = frozenset()
    for source in relation.sources:
        below = _trace(source.relation, outer)
        if isinstance(source.relation, Generated):
            below = Traced({}, _of(source.relation.call, sources))
        sources[source.id] = (source, below)
        decides |= below.decides
    rows = [*relation.where, *(relation.group or ()), *relation.having, *relation.cut]
    rows += [node for source in relation.sources for node in source.on]
    rows += [node for node in relation.outputs.values() if relation.distinct or _makes(node)]
    decides = decides.union(*(_of(node, sources) for node in rows))
    return Traced({name: _of(node, sources) for name, node in relation.outputs.items()}, decides)


def _makes(node: Node) -> bool:
    return node.tag == "gen" or any(_makes(part) for part in node.args if isinstance(part, Node))


def _of(node: Node, sources: Mapping[str, tuple[JoinedRelation, Traced]]) -> Origins:
    if node.op == "col":
        source, below = sources[str(node.args[0])]
        relation, name = source.relation, str(node.args[1])
        if isinstance(relation, Leaf):
            return frozenset({(relation.table, name)})
        return below.decides if isinstance(relation, Generated) else below.values.get(name, frozenset())
    found: Origins = frozenset()
    for part in node.args:
        if isinstance(part, Node):
            found |= _of(part, sources)
        elif not isinstance(part, str):
            inner = _trace(part, sources)
            found = found.union(inner.decides, *inner.values.values())
    return found
