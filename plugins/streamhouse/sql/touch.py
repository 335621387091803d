"""Proves that the result for some keys needs only the input rows with those keys."""

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.model.types import ReadMode
from streamhouse.sql.infer import Inference
from streamhouse.sql.rows import Inputs, NotProvenError
from streamhouse.sql.tracer import Tracer, identical
from streamhouse.sql.traces import Own, Relation
from streamhouse.sql.typed import Typed


def key_columns(scope: Scope, key: tuple[str, ...], inputs: Inputs, inference: Inference) -> dict[str, dict[str, Own]]:
    """For each driving port, output columns → what has their values there; the same columns for every port.

    They are the largest part of `key` that every port has as columns, or, where it has none, of all output
    columns; and with them the largest part of `key` that every port can compute from the row at hand, unless
    it follows from these columns.
    Restricting every driving port to rows with certain values in those columns and running the query
    gives exactly the result rows with those values.

    Raises:
        NotProvenError: no column traces to every driving port.
    """
    tracer = Tracer(inputs, inference)
    relation = tracer.relation(scope)
    refuse_unseen(scope, inputs, tracer)
    outputs = inference.outputs(scope)
    missing: dict[str, str] = {}
    of_key = [c for name in key for c in outputs if c.name == name]
    found = _common(relation, of_key, missing, computed=False)
    if not any(found.values()):
        others = [c for c in outputs if c.name not in key and identical(c.type, c.type)]
        found = _common(relation, others, {}, computed=False)
    found = _with_computed(found, _common(relation, of_key, missing, computed=True))
    if not any(found.values()):
        tied = set.intersection(*(set(trace) for trace in relation.traces.values())) if relation.traces else set()
        ends = dict.fromkeys(why for use, why in tracer.ends.items() if use not in tied)
        raise NotProvenError("; ".join(ends or missing.values()) or "there is no primary key")
    return found


def _common(
    relation: Relation, columns: list[Typed], missing: dict[str, str], *, computed: bool
) -> dict[str, dict[str, Own]]:
    """Port → those of `columns` that have a trace to every use of every port → what has their values there.

    `missing` gets, for each of the others, why not.
    """
    found: dict[str, dict[str, Own]] = {port: {} for port in relation.uses.values()}
    for column in columns:
        name, trace = column.name, relation.traces.get(column.name, {})
        own_by_port: dict[str, Own] = {}
        for use, port in relation.uses.items():
            own = trace.get(use)
            if own is None or (own.column is None and not computed):
                missing[name] = f"'{name}' does not trace to a column of {port}"
            elif own_by_port.setdefault(port, own) != own:
                missing[name] = f"'{name}' is in several columns of {port}"
            elif own.type != column.type:
                # Keys of several inputs are put together, and compared with those of the result.
                missing[name] = f"'{name}' is {column.type}, and {port}.{own.text} is {own.type}"
            else:
                continue
            break
        else:
            if not any(own in found[port].values() for port, own in own_by_port.items()):
                for port, own in own_by_port.items():
                    found[port][name] = own
    return found


def _with_computed(found: dict[str, dict[str, Own]], more: dict[str, dict[str, Own]]) -> dict[str, dict[str, Own]]:
    """`found` with the output columns of `more` that are computed, and not from columns of `found` alone."""
    known = {port: {own.column for own in owns.values()} for port, owns in found.items()}
    telling = {
        name
        for port, owns in more.items()
        for name, own in owns.items()
        if own.column is None and not known[port].issuperset(own.columns)
    }
    named = {name: None for owns in more.values() for name in owns if name in telling}
    return {port: owns | {name: more[port][name] for name in named} for port, owns in found.items()}


def refuse_unseen(scope: Scope, inputs: Inputs, tracer: Tracer) -> None:
    """Refuse a query in which a driving port stands where the tracer did not meet it.

    Raises:
        NotProvenError: there is one.
    """
    # A place where a table can stand that the walk does not know must not pass for a table that is not read.
    for table in scope.expression.find_all(exp.Table):
        info = inputs.get(table.name)
        if info is not None and info.mode is ReadMode.CHANGES and not table.db and id(table) not in tracer.visited:
            raise NotProvenError(f"it is not followed how {table.name} is read")
