"""Proves that partial results of an epoch can be folded into the table by its store."""

from dataclasses import dataclass

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.model.types import MergeFunction, ReadMode
from streamhouse.sql.dialect import render
from streamhouse.sql.infer import Inference
from streamhouse.sql.rows import Inputs, NotProvenError, refuse_cuts, source_arms
from streamhouse.sql.scopes import GROUPING_SETS, aggregates_in, function_name, generators_in, peel
from streamhouse.sql.windows import is_bound
from streamhouse.sql.words import words

_FOLDS = {
    "sum": MergeFunction.SUM,
    "count": MergeFunction.SUM,
    "count_if": MergeFunction.SUM,
    "min": MergeFunction.MIN,
    "max": MergeFunction.MAX,
    "bool_and": MergeFunction.BOOL_AND,
    "every": MergeFunction.BOOL_AND,
    "bool_or": MergeFunction.BOOL_OR,
    "any": MergeFunction.BOOL_OR,
    "some": MergeFunction.BOOL_OR,
}
_ORDERED = words(
    """
    tinyint smallint int bigint float double decimal string date timestamp timestamp_ntz
    """
)


@dataclass(frozen=True)
class Fold:
    """How the table is kept.

    Attributes:
        key: Output columns that are the group keys, in output order.
        functions: Every other output column → how the store folds it.
    """

    key: tuple[str, ...]
    functions: dict[str, MergeFunction]


def group_keys(query: exp.Select) -> list[exp.Expr]:
    """The expressions of a plain GROUP BY.

    Raises:
        NotProvenError: there is none, or it makes several groupings.
    """
    group = query.args.get("group")
    if group is None:
        raise NotProvenError("there is no GROUP BY")
    several = ("rollup", "cube", "grouping_sets", "all", "totals")
    if any(group.args.get(k) for k in several) or any(isinstance(e, GROUPING_SETS) for e in group.expressions):
        raise NotProvenError("ROLLUP, CUBE and GROUPING SETS make several groupings")
    return list(group.expressions)


def key_text(node: exp.Expr) -> str:
    """What two expressions share when one value of one means one value of the other.

    The start of a time window identifies the window, so `window(ts, '1 hour').start` stands for it.
    """
    inner = node.unnest()
    return render(inner.this.unnest() if is_bound(inner) else inner)


def fold(root: Scope, inputs: Inputs, inference: Inference) -> Fold:
    """How a store can fold the result.

    Raises:
        NotProvenError: it cannot.
    """
    scope, outer = peel(root)
    query = scope.expression
    if not isinstance(query, exp.Select):
        raise NotProvenError("the result is no GROUP BY")
    keys = group_keys(query)
    updating = [p for p, i in inputs.items() if i.mode is ReadMode.CHANGES and not i.append_only]
    if updating:
        raise NotProvenError(f"rows of {' and '.join(updating)} are updated, and what was added cannot be taken back")
    for clause, word in (("having", "HAVING"), ("distinct", "DISTINCT")):
        if query.args.get(clause):
            raise NotProvenError(f"{word} needs the whole group")
    refuse_cuts(query)
    source_arms(scope, inputs, inference)
    if any(function_name(n) == "session_window" for key in keys for n in key.walk()):
        raise NotProvenError("a session window depends on the rows around it")
    return _columns(query, scope, outer, keys, inference)


def _columns(
    query: exp.Select, scope: Scope, outer: dict[str, list[str]], keys: list[exp.Expr], inference: Inference
) -> Fold:
    key_names: dict[str, str] = {}
    folds: dict[str, MergeFunction] = {}
    texts = [key_text(key) for key in keys]
    for item in query.selects:
        node, text = item.unalias(), key_text(item.unalias())
        for name in outer.get(item.alias_or_name, []):
            if text in texts and text not in key_names:
                key_names[text] = name
            elif text in texts or _is_function_of(node, texts):
                folds[name] = MergeFunction.LAST_VALUE
            else:
                folds[name] = _function(name, node, scope, inference)
    missing = [text for text in texts if text not in key_names]
    if missing:
        raise NotProvenError(f"the group key {missing[0]} is not in the output")
    return Fold(tuple(key_names.values()), folds)


def _is_function_of(node: exp.Expr, texts: list[str]) -> bool:
    """Whether an expression has one value in each group because it uses group keys only."""
    if aggregates_in(node) or generators_in(node):
        return False
    if key_text(node) in texts:
        return True
    if isinstance(node, (exp.Column, exp.Query)):
        return False
    return all(_is_function_of(child, texts) for child in node.iter_expressions())


def _function(name: str, node: exp.Expr, scope: Scope, inference: Inference) -> MergeFunction:
    call = node.unnest()
    if isinstance(call, exp.Filter):
        call = call.this
    function = _FOLDS.get(function_name(call))
    if function is None:
        shown = render(node)
        if aggregates_in(node) and aggregates_in(node)[0] is not call:
            raise NotProvenError(f"'{name}' computes with aggregates ({shown}), and such results do not add up")
        raise NotProvenError(f"'{name}' is {shown}, which does not add up from parts")
    if any(isinstance(part, exp.Distinct) for part in call.iter_expressions()):
        raise NotProvenError(f"'{name}' counts distinct values, which do not add up from parts")
    if function in {MergeFunction.MIN, MergeFunction.MAX}:
        kind = inference.type_of(call, scope)
        if kind is None or kind.kind not in _ORDERED:
            raise NotProvenError(f"'{name}' is a {function} of {kind}, which stores do not compare")
    return function
