"""CTEs: how often they are read, and names that no two share, since printed all stand side by side at the top."""

from collections.abc import Mapping

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

NO_RECURSION = "a recursive CTE cannot be kept up to date"
LEVELS = "write a CTE for each level, which joins the one before, and UNION ALL of them; leave out RECURSIVE"
"""A way to write a recursive query of a known depth."""
MOST_READS = 500
"""How many tables a query may read, each CTE written out where it is read, as Spark does it."""


def written_out(query: exp.Expr) -> int:
    """How many tables a query reads once each CTE is written out where it is read.

    Example:
        >>> from sqlglot import parse_one
        >>> written_out(parse_one("WITH a AS (SELECT * FROM t, t), b AS (SELECT * FROM a, a) SELECT * FROM b, b"))
        8
    """
    return _reads(query, {})


def _reads(query: exp.Expr, around: Mapping[str, int]) -> int:
    with_, known, reads = query.args.get("with_"), dict(around), 0
    for cte in with_.expressions if with_ is not None else ():
        known[cte.alias.lower()] = _reads(cte.this, known)
    for node in query.walk(prune=lambda node: node is with_ or _has_ctes(node, query)):
        if _has_ctes(node, query):
            reads += _reads(node, known)
        elif isinstance(node, exp.Table):
            reads += 1 if node.db else known.get(node.name.lower(), 1)
    return reads


def _has_ctes(node: exp.Expr, around: exp.Expr) -> bool:
    return node is not around and node.args.get("with_") is not None


def name_apart(root: Scope) -> bool:
    """Give every WITH query that is named like another a name of its own; changes the tree.

    Returns:
        Whether a name was changed, so that scopes must be built again.

    Example:
        >>> from sqlglot import parse_one
        >>> from sqlglot.optimizer.scope import build_scope
        >>> tree = parse_one("WITH q AS (WITH q AS (SELECT 1 AS a) SELECT q.a FROM q) SELECT q.a FROM q")
        >>> name_apart(build_scope(tree))
        True
        >>> tree.sql("spark")
        'WITH q_2 AS (SELECT 1 AS a), q AS (SELECT q.a FROM q_2 AS q) SELECT q.a FROM q'
    """
    named = _other_names(root)
    for scope in root.traverse():
        for node, source in scope.selected_sources.values():
            holder = source.expression.parent if isinstance(source, Scope) else None
            if isinstance(node, exp.Table) and id(holder) in named:
                alias = node.alias_or_name
                node.set("this", exp.to_identifier(named[id(holder)]))
                node.set("alias", exp.TableAlias(this=exp.to_identifier(alias)))
    for cte in list(root.expression.find_all(exp.CTE)):
        if id(cte) in named:
            cte.args["alias"].set("this", exp.to_identifier(named[id(cte)]))
    return bool(named)


def _other_names(root: Scope) -> dict[int, str]:
    """The `id` of each WITH query that is named like another → a name that no other has."""
    named: dict[int, str] = {}
    taken: set[str] = set()
    for cte in root.expression.find_all(exp.CTE):
        name, number = cte.alias, 1
        while name in taken:
            number += 1
            name = f"{cte.alias}_{number}"
        taken.add(name)
        if name != cte.alias:
            named[id(cte)] = name
    return named


def is_visible(table: exp.Table) -> bool:
    """Whether a CTE of the name of a table comes before it, or is of a query around it."""
    name, node = table.name.lower(), table.parent
    inside: exp.Expr = table
    while node is not None:
        if isinstance(node, exp.With):
            before = node.expressions[: next(i for i, cte in enumerate(node.expressions) if cte is inside)]
            if any(cte.alias.lower() == name for cte in before):
                return True
            inside, node = node, node.parent
            inside, node = (node, node.parent) if node is not None else (inside, None)
            continue
        with_ = node.args.get("with_")
        if with_ is not None and with_ is not inside and any(cte.alias.lower() == name for cte in with_.expressions):
            return True
        inside, node = node, node.parent
    return False


def unseen(table: exp.Table) -> tuple[str, str]:
    """Message and hint for a table that has the name of a CTE and is not `is_visible`."""
    name, node = table.name.lower(), table.parent
    while node is not None:
        if isinstance(node, exp.CTE) and node.alias.lower() == name:
            return f"the CTE '{name}' reads itself, and {NO_RECURSION}", LEVELS
        node = node.parent
    hint = "write a CTE before those that read it, and beside or above what reads it"
    return f"the CTE '{name}' does not exist here", hint
