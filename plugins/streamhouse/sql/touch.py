"""Proves that the result for some keys needs only the input rows with those keys."""

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.model.types import ReadMode
from streamhouse.sql.infer import Inference
from streamhouse.sql.rows import Inputs, NotProvenError
from streamhouse.sql.tracer import Tracer, identical
from streamhouse.sql.traces import Relation


def key_columns(scope: Scope, key: tuple[str, ...], inputs: Inputs, inference: Inference) -> dict[str, dict[str, str]]:
    """For each driving port, output columns → the columns that hold them there; the same for every port.

    They are the largest part of `key` that every port has, or, where it has none, of all output columns.
    Restricting every driving port to rows with certain values in those columns and running the query
    gives exactly the result rows with those values.

    Raises:
        NotProvenError: no column traces to every driving port.
    """
    tracer = Tracer(inputs, inference)
    relation = tracer.relation(scope)
    _refuse_unseen(scope, inputs, tracer)
    missing: dict[str, str] = {}
    found = _common(relation, key, missing)
    if not any(found.values()):
        outputs = inference.outputs(scope)
        found = _common(relation, tuple(c.name for c in outputs if c.name not in key and identical(c.type, c.type)), {})
    if not any(found.values()):
        tied = set.intersection(*(set(trace) for trace in relation.traces.values())) if relation.traces else set()
        ends = dict.fromkeys(why for use, why in tracer.ends.items() if use not in tied)
        raise NotProvenError("; ".join(ends or missing.values()) or "there is no primary key")
    return found


def _common(relation: Relation, names: tuple[str, ...], missing: dict[str, str]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {port: {} for port in relation.uses.values()}
    for column in names:
        trace = relation.traces.get(column, {})
        lost = [port for use, port in relation.uses.items() if use not in trace]
        if lost:
            missing[column] = f"'{column}' does not trace to a column of {lost[0]}"
            continue
        columns: dict[str, set[str]] = {}
        for use, port in relation.uses.items():
            columns.setdefault(port, set()).add(trace[use])
        twice = [port for port, several in columns.items() if len(several) > 1]
        if twice:
            missing[column] = f"'{column}' is in several columns of {twice[0]}"
            continue
        taken = any(next(iter(one)) in found[port].values() for port, one in columns.items())
        if not taken:
            for port, one in columns.items():
                found[port][column] = next(iter(one))
    return found


def _refuse_unseen(scope: Scope, inputs: Inputs, tracer: Tracer) -> None:
    # A place where a table can stand that the walk does not know must not pass for a table that is not read.
    for table in scope.expression.find_all(exp.Table):
        info = inputs.get(table.name)
        if info is not None and info.mode is ReadMode.CHANGES and not table.db and id(table) not in tracer.seen:
            raise NotProvenError(f"it is not followed how {table.name} is read")
