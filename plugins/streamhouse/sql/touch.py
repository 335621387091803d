"""Proves that the result for some keys needs only the input rows with those keys."""

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.model.types import ReadMode
from streamhouse.sql.infer import Inference, Typed
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
    outputs = inference.outputs(scope)
    missing: dict[str, str] = {}
    found = _common(relation, [c for name in key for c in outputs if c.name == name], inference, missing)
    if not any(found.values()):
        others = [c for c in outputs if c.name not in key and identical(c.type, c.type)]
        found = _common(relation, others, inference, {})
    if not any(found.values()):
        tied = set.intersection(*(set(trace) for trace in relation.traces.values())) if relation.traces else set()
        ends = dict.fromkeys(why for use, why in tracer.ends.items() if use not in tied)
        raise NotProvenError("; ".join(ends or missing.values()) or "there is no primary key")
    return found


def _common(
    relation: Relation, columns: list[Typed], inference: Inference, missing: dict[str, str]
) -> dict[str, dict[str, str]]:
    """Port → those of `columns` that have a trace to every use of every port → the column there.

    `missing` gets, for each of the others, why not.
    """
    found: dict[str, dict[str, str]] = {port: {} for port in relation.uses.values()}
    for column in columns:
        name, trace = column.name, relation.traces.get(column.name, {})
        held: dict[str, str] = {}
        for use, port in relation.uses.items():
            own = trace.get(use)
            if own is None:
                missing[name] = f"'{name}' does not trace to a column of {port}"
            elif held.setdefault(port, own) != own:
                missing[name] = f"'{name}' is in several columns of {port}"
            elif inference.port_type(port, own) != column.type:
                # Keys of several inputs are put together, and compared with those of the result.
                missing[name] = f"'{name}' is {column.type}, and {port}.{own} is {inference.port_type(port, own)}"
            else:
                continue
            break
        else:
            if not any(own in found[port].values() for port, own in held.items()):
                for port, own in held.items():
                    found[port][name] = own
    return found


def _refuse_unseen(scope: Scope, inputs: Inputs, tracer: Tracer) -> None:
    # A place where a table can stand that the walk does not know must not pass for a table that is not read.
    for table in scope.expression.find_all(exp.Table):
        info = inputs.get(table.name)
        if info is not None and info.mode is ReadMode.CHANGES and not table.db and id(table) not in tracer.seen:
            raise NotProvenError(f"it is not followed how {table.name} is read")
