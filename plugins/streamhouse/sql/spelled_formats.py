"""Formats that are put together of texts, spelled out as one text: `to_number(k, '99' || '.9')` is by '99.9'.

The format of a number decides the type of `to_number`, and whether Spark takes the call at all.
"""

from collections.abc import Iterable

from sqlglot import exp

from streamhouse.sql.constants import FORMATTED
from streamhouse.sql.literals import whole_number
from streamhouse.sql.scopes import function_name

_LONGEST = 1000


def spell_formats(nodes: Iterable[exp.Expr]) -> bool:
    """Write each such format as one text; changes the tree.

    Args:
        nodes: All of a query as parsed.

    Returns:
        Whether there was one, so that `nodes` may be others now.
    """
    found = False
    for call in nodes:
        if type(call) is not exp.Anonymous or len(call.expressions) != 2 or function_name(call) not in FORMATTED:
            continue
        form = call.expressions[1]
        text = _text(form)
        if text is not None and not isinstance(form, exp.Literal):
            literal = exp.Literal.string(text)
            if (first := next((part for part in form.walk() if part.meta_get("line") is not None), None)) is not None:
                literal.meta.update(first.meta)
            form.replace(literal)
            found = True
    return found


def _text(node: exp.Expr) -> str | None:
    """The text that an expression of literals is; None: it is another one, or not known."""
    inner = node.unnest()
    if isinstance(inner, exp.Literal):  # that of a parameter has no place: another value may come
        return inner.name if inner.is_string and inner.meta_get("start") is not None else None
    if isinstance(inner, exp.DPipe):
        return _joined([inner.this, inner.expression])
    name = function_name(inner)
    if name == "concat":
        return _joined(list(inner.iter_expressions()))
    if name == "repeat":
        return _repeated(list(inner.iter_expressions()))
    return None


def _joined(parts: list[exp.Expr]) -> str | None:
    texts = [_text(part) for part in parts]
    return None if None in texts else "".join(filter(None, texts))


def _repeated(parts: list[exp.Expr]) -> str | None:
    text, times = _text(parts[0]), whole_number(parts[1]) if len(parts) == 2 else None
    return text * times if text is not None and times is not None and 0 < times * len(text) < _LONGEST else None
