"""`dwd.orders.changes` for `dwd.orders$changes`: a name that no shell takes a part of for a variable. Pure."""

from sqlglot import exp

from streamhouse.model.types import Layer

_LAYERS = frozenset(Layer)


def take_dots(tree: exp.Query) -> None:
    """Write `$` where a dot stands before a part of a table; columns named by such a table follow."""
    renamed: dict[tuple[str, ...], str] = {}
    for node in tree.find_all(exp.Table):
        parts = [part for part in node.parts if isinstance(part, exp.Identifier)]
        if len(parts) < 3 or len(parts) != len(node.parts) or parts[0].name.lower() not in _LAYERS:
            continue
        name = exp.to_identifier("$".join(part.name for part in parts[1:]), quoted=True)
        name.meta.update(parts[-1].meta)
        node.set("this", name)
        node.set("db", parts[0])
        node.set("catalog", None)
        if not node.alias:
            words = tuple(part.name.lower() for part in parts)
            renamed |= {words[first:]: name.name for first in range(len(words))}
    if renamed:
        own = {node.alias.lower() for node in tree.find_all(exp.Table, exp.Subquery, exp.CTE) if node.alias}
        for column in list(tree.find_all(exp.Column)):
            _follow(column, {words: name for words, name in renamed.items() if words[0] not in own})


def _follow(column: exp.Column, renamed: dict[tuple[str, ...], str]) -> None:
    """Name a column by the new name of its table."""
    whole: exp.Expr = column
    while isinstance(whole.parent, exp.Dot) and whole.arg_key == "this":
        whole = whole.parent
    parts = _parts(whole)
    words = tuple(part.name.lower() for part in parts)
    for length in range(len(parts) - 1, 0, -1):
        if (name := renamed.get(words[:length])) is not None:
            rest = [part.copy() for part in parts[length:]]
            named: exp.Expr = exp.Column(this=rest[0], table=exp.to_identifier(name, quoted=True))
            for field in rest[1:]:
                named = exp.Dot(this=named, expression=field)
            whole.replace(named)
            return


def _parts(node: exp.Expr) -> list[exp.Expr]:
    if isinstance(node, exp.Dot):
        return [*_parts(node.this), node.expression]
    return list(node.parts) if isinstance(node, exp.Column) else [node]
