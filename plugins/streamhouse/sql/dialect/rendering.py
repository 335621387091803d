"""Text of a tree, as Spark reads it: nothing is rewritten for older engines."""

from textwrap import dedent

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.dialects.spark import Spark

from streamhouse.sql.classes import Kinds
from streamhouse.sql.dialect.brackets import bracket
from streamhouse.sql.dialect.literals import WRITTEN, quoted
from streamhouse.sql.dialect.qualify import without_qualify

LINE_WIDTH = 100
_NAMED = (exp.Column, exp.Alias, exp.TableAlias, exp.Table, exp.Window)
_TYPES = {exp.DType.TIME: "TIME", exp.DType.TIMESTAMP: "TIMESTAMP_NTZ", exp.DType.TIMESTAMPLTZ: "TIMESTAMP"}

_SPELT = Kinds(exp.Literal, exp.Cast, exp.Interval, exp.Add, exp.DataType, exp.Struct)
_SPELT_AS_WRITTEN = Kinds(exp.Literal, exp.Cast, exp.Interval, exp.Add, exp.DataType, exp.Struct, exp.Identifier)
_RARE = ("db", "catalog", "join_mark", "shadow")
_RESERVED = type(Spark()).generator_class.RESERVED_KEYWORDS


def rendered(tree: exp.Expr, dialect: Dialect, *, as_written: bool, lines: bool = False) -> str:
    """The text of a tree.

    Args:
        tree: Not changed.
        dialect: Spark's.
        as_written: Whether names that are values (of fields) have the case they were written in.
        lines: Whether each clause has a line of its own.
    """
    if not as_written and (plain := _plain_column(tree)) is not None:
        return plain
    # In brackets, because sqlglot moves the CTEs of a root to its top, where Spark reads them otherwise.
    root = exp.Paren(this=tree.copy())
    nodes = list(root.walk(bfs=False))
    if without_qualify(nodes):
        nodes = list(root.walk(bfs=False))
    if bracket(nodes):
        nodes = list(root.walk(bfs=False))
    spelt = _SPELT_AS_WRITTEN if as_written else _SPELT
    for node in nodes:
        if spelt[type(node)]:
            _spell(node, as_written=as_written)
    if lines:
        text = dialect.generate(root, copy=False, comments=False, pretty=True, max_text_width=LINE_WIDTH)
        return dedent(text[1:-1].strip("\n"))
    return dialect.generate(root, copy=False, comments=False)[1:-1]


def _plain_column(tree: exp.Expr) -> str | None:
    """The text of a column with at most one qualifier whose names need no quotes; None: something else."""
    if type(tree) is not exp.Column or tree.comments or any(tree.args.get(key) for key in _RARE):
        return None
    parts = [part for part in (tree.args.get("table"), tree.args.get("this")) if part is not None]
    for part in parts:
        if type(part) is not exp.Identifier or part.args.get("quoted") or part.comments:
            return None
        if not part.name.isidentifier() or part.name.lower() in _RESERVED:
            return None
    return ".".join(part.name for part in parts)


def _spell(node: exp.Expr, *, as_written: bool) -> None:
    if isinstance(node, exp.Literal):
        if node.is_string and (not node.name.isprintable() or {"\\", "'"} & set(node.name)):
            node.replace(exp.Var(this=quoted(node.name)))
    elif isinstance(node, (exp.Cast, exp.Interval, exp.Add)):
        if (text := node.meta_get(WRITTEN)) is not None:
            node.replace(exp.Var(this=text))
    elif isinstance(node, exp.DataType):
        if (name := _TYPES.get(node.this)) is not None:
            node.replace(exp.DataType(this=exp.DType.USERDEFINED, kind=name))
    elif isinstance(node, exp.Struct):
        node.set("expressions", [_field(item, place) for place, item in enumerate(node.expressions, 1)])
    elif as_written and isinstance(node, exp.Identifier):
        text = node.meta_get(WRITTEN)
        if text is not None and text.lower() == node.name and _is_value(node):
            node.set("this", text)


def _is_value(name: exp.Identifier) -> bool:
    """Whether the name of a field or of a key of a map, which is part of what a query gives."""
    owner = name.parent
    if isinstance(owner, exp.Dot) and owner.expression is name:
        return True
    value = owner is not None and owner.this is name
    if (not isinstance(owner, _NAMED) or (isinstance(owner, exp.Alias) and value)) and name.find_ancestor(exp.Lambda):
        return True  # a parameter of a lambda, in which it names a field
    if not isinstance(owner, exp.Column) or owner.this is not name:
        return False
    call = owner.parent
    while isinstance(call, exp.Paren):
        call = call.parent
    return isinstance(call, (exp.Tuple, exp.Struct)) or (
        isinstance(call, exp.Anonymous) and call.name.lower() == "arrays_zip"
    )


def _field(item: exp.Expr, place: int) -> exp.Expr:
    if not isinstance(item, exp.PropertyEQ):
        return item
    value, name = item.expression, item.this.name
    implied = value.name == name if isinstance(value, exp.Column) else name == f"col{place}"
    return value if implied else exp.alias_(value, item.this, copy=False)
