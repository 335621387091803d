"""Writes relations down so that equal meanings have equal texts.

A source is called by its table, or by its place among the queries a block reads; a column of a query by the
expression it stands for, so neither an alias nor a column that nothing reads leaves a trace.
"""

from collections.abc import Mapping
from hashlib import sha256

from streamhouse.sql.relations import Combined, Generated, JoinedRelation, Leaf, Node, Relation, SelectBlock, has

_LONGEST = 80  # characters of an expression in the name of a column
_SIGNS = {"eq": "=", "neq": "<>", "lt": "<", "lte": "<=", "add": "+", "sub": "-", "mul": "*", "div": "/", "mod": "%"}
_EITHER_WAY = frozenset({"eq", "neq", "nullsafeeq", "add", "mul", "bitwiseand", "bitwiseor", "bitwisexor"})
_NESTED = "'"
EVERY = frozenset({"from", "inner"})
"""Kinds of joins without which there is no row."""


class SourceNames:
    """What the sources in sight are called."""

    def __init__(self, sources: Mapping[str, tuple[str, JoinedRelation]] | None = None, depth: int = 0) -> None:
        self._sources = dict(sources or {})
        self._depth = depth

    def within(self, block: SelectBlock) -> "SourceNames":
        """The names inside a block."""
        used: dict[str, int] = {}
        found = {}
        for source in _in_order(block, self):
            relation = source.relation
            base = relation.table if isinstance(relation, Leaf) else "rows" if isinstance(relation, Generated) else "q"
            used[base] = used.get(base, 0) + 1
            number = f"#{used[base]}" if used[base] > 1 else ""
            found[source.id] = (f"{base}{number}{_NESTED * self._depth}", source)
        return SourceNames({**self._sources, **found}, self._depth + 1)

    def label(self, source: str) -> str:
        """What a source is called."""
        return self._sources[source][0]

    def knows(self, source: str) -> bool:
        """Whether a source is in sight."""
        return source in self._sources

    def looks(self, source: str, name: str) -> bool:
        """Whether a column of a source is a function over a window of rows."""
        relation = self._sources[source][1].relation if source in self._sources else None
        return isinstance(relation, SelectBlock) and name in relation.outputs and has(relation.outputs[name], "win")

    def column(self, source: str, name: str) -> str:
        """What a column of a source is called."""
        label, joined_relation = self._sources[source]
        relation = joined_relation.relation
        if isinstance(relation, Leaf):
            return f"{label}.{_name(name)}"
        if isinstance(relation, Generated):
            return f"{label}.{relation.names.index(name) if name in relation.names else name}"
        return f"{label}.[{_short(column_text(relation, name, self))}]"


def _short(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    return f"{text[:_LONGEST]}…{sha256(text.encode()).hexdigest()[:24]}"


def column_text(relation: Relation, name: str, names: SourceNames) -> str:
    """The expression that an output column of a relation stands for."""
    if isinstance(relation, Combined):
        at = relation.names.index(name)
        return " | ".join(column_text(arm, _names_of(arm)[at], names) for arm in _ordered(relation, names))
    if isinstance(relation, SelectBlock):
        return text_of(relation.outputs[name], names.within(relation))
    return name


def _names_of(relation: Relation) -> tuple[str, ...]:
    if isinstance(relation, Combined):
        return relation.names
    return tuple(relation.outputs) if isinstance(relation, SelectBlock) else ()


def _ordered(relation: Combined, names: SourceNames) -> list[Relation]:
    if relation.op != "union":
        return relation.arms
    return sorted(relation.arms, key=lambda arm: rows_text(arm, names))


def rows_text(relation: Relation, names: SourceNames) -> str:
    """Which rows a relation has, whatever is shown of them."""
    if isinstance(relation, Leaf):
        return relation.table if relation.mode == "changes" else f"{relation.table} as {relation.mode}"
    if isinstance(relation, Generated):
        return text_of(relation.call, names)
    if isinstance(relation, Combined):
        arms = [f"({rows_text(arm, names)})" for arm in _ordered(relation, names)]
        if relation.op == "union" and not relation.distinct:
            return " union all ".join(arms)
        shown = [column_text(relation, name, names) for name in relation.names]
        distinct = "distinct" if relation.distinct else "all"
        return f"{f' {relation.op} {distinct} '.join(arms)} of {sorted(shown)}"
    own = names.within(relation)
    sources = _in_order(relation, names)
    parts = [_source_text(source, own, first=source is sources[0]) for source in sources]
    for word, nodes in (("where", relation.where), ("having", relation.having)):
        if nodes:
            parts.append(f"{word} {{{'; '.join(_texts(nodes, own))}}}")
    if relation.group is not None:
        parts.append(f"group by {{{'; '.join(_texts(relation.group, own))}}}")
    if generators := [text_of(node, own) for node in relation.outputs.values() if _makes(node)]:
        parts.append(f"making {{{'; '.join(sorted(generators))}}}")
    if relation.distinct:
        parts.append(f"distinct {{{'; '.join(_texts(list(relation.outputs.values()), own))}}}")
    parts += [text_of(node, own) for node in relation.cut]
    return " ".join(parts)


def _in_order(block: SelectBlock, names: SourceNames) -> list[JoinedRelation]:
    """The sources, with those that every row needs first and in an order of their own.

    Inner joins ask for nothing but that all of them have a row, once their conditions stand in the WHERE. Two that
    have the same text stay in the order in which they are written.
    """
    if {s.kind for s in block.sources} & {"right", "full"}:
        return block.sources
    needed = [source for source in block.sources if source.kind in EVERY]
    if len(needed) > 1:
        needed.sort(key=lambda source: _key(source.relation, names))
    return [*needed, *(source for source in block.sources if source.kind not in EVERY)]


def _key(relation: Relation, names: SourceNames) -> str:
    return " ".join([rows_text(relation, names), *(column_text(relation, name, names) for name in _names_of(relation))])


def _makes(node: Node) -> bool:
    return node.tag == "gen" or any(_makes(part) for part in node.args if isinstance(part, Node))


def _source_text(source: JoinedRelation, own: SourceNames, *, first: bool) -> str:
    rows = rows_text(source.relation, own)
    shown = rows if isinstance(source.relation, Leaf) else f"({rows})"
    on = f" on {{{'; '.join(_texts(source.on, own))}}}" if source.on else ""
    kind = source.kind if source.kind not in EVERY else "from" if first else "inner"
    return f"{kind} {shown}{on}"


def _texts(nodes: list[Node], names: SourceNames) -> list[str]:
    return sorted({text_of(node, names) for node in nodes})


def text_of(node: Node, names: SourceNames) -> str:
    """An expression in brackets enough to be read in one way only."""
    if node.op == "col":
        return names.column(str(node.args[0]), str(node.args[1]))
    if node.op == "text":
        return f"'{str(node.args[0]).replace(chr(39), chr(39) * 2)}'"
    if node.op in {"identifier", "var"} and isinstance(node.args[0], Node):
        return _name(str(node.args[0].args[0]))
    if node.op in {"number", "type", "word"}:
        return str(node.args[0])
    if node.op == "boolean":
        return str(node.args[0]).lower()
    if node.op == "star":
        return "*"
    if node.op == "null":
        return "null"
    if node.op == "query":
        return _query_text(node, names)
    if node.op == "exists" and isinstance(node.args[0], Node) and node.args[0].op == "query":
        return f"exists({_part(node.args[0].args[0], names)})"
    parts = [_part(part, names) for part in node.args]
    if node.op in {"and", "or"}:
        return f"({f' {node.op} '.join(sorted(set(parts)))})"
    if node.op in _EITHER_WAY:
        parts.sort()
    if node.op == "is" and len(parts) == 2:
        return f"({parts[0]} is {parts[1]})"
    if node.op == "dot" and len(parts) == 2:
        return f"({parts[0]}).{parts[1]}"
    if node.op in _SIGNS and len(parts) == 2:
        return f"({parts[0]} {_SIGNS[node.op]} {parts[1]})"
    return f"{node.op.removesuffix('()')}({', '.join(parts)})"


def _name(text: str) -> str:
    plain = text.isidentifier() and text.lower() not in {"null", "true", "false"}
    return text if plain else f"`{text.replace('`', '``')}`"


def _part(part: Node | Relation | str, names: SourceNames) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, Node):
        return rows_text(part, names)
    if part.op in {":expressions", ":partition_by"}:
        texts = [_part(inner, names) for inner in part.args]
        return f"[{', '.join(sorted(set(texts)) if part.op == ':partition_by' else texts)}]"
    return text_of(part, names)


def _query_text(node: Node, names: SourceNames) -> str:
    relation = node.args[0]
    assert isinstance(relation, (SelectBlock, Combined))
    shown = ", ".join(column_text(relation, name, names) for name in _names_of(relation))
    return f"(select {shown} {rows_text(relation, names)})"
