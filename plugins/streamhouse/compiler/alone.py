"""An action that no flow uses, checked as one that is used: against the columns that its header declares."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sqlglot import exp

from streamhouse.compiler.expect import plan_expectations
from streamhouse.compiler.meaning import errors_of_meaning, word_errors
from streamhouse.compiler.meaning_words import MeaningPlaces
from streamhouse.compiler.step import output_errors
from streamhouse.errors import DefinitionErrors, Location, SqlSyntaxError, StreamhouseError, TypeMismatchError
from streamhouse.model.action import Action, Parameter
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.sql.check import check_functions, check_limits, check_places
from streamhouse.sql.dialect import parse_expression, parse_query
from streamhouse.sql.last_resort import guard_analysis
from streamhouse.sql.parameters import SAMPLED, fill_parameters, typed_literal
from streamhouse.sql.ports import ActionPort
from streamhouse.sql.schema import CheckedQuery, analyse

_SAMPLES: Mapping[str, Any] = {"string": "1 hour", "boolean": True, "date": "2000-01-01"}
"""Values for parameters that have none, by type; a text that is a duration is also any other text."""


Found = tuple[list[StreamhouseError], list[StreamhouseError]]
"""What is wrong with an action, and what is wrong with what it says of the meaning of its table."""


def action_errors(action: Action, tables: Mapping[str, Table]) -> Found:
    """What is wrong with an action, as far as it follows from its own file.

    An input that takes any columns leaves names and types open; then what follows from the SQL alone is checked.

    Args:
        action: No flow uses it.
        tables: Of all flows, which what it says of columns may refer to.
    """
    try:
        with guard_analysis(action.sql_at, f"the SQL of action '{action.action}'"):
            return _errors(action, tables)
    except DefinitionErrors as errors:
        return list(errors.errors), list(word_errors(action))
    except StreamhouseError as error:
        return [error], list(word_errors(action))


def _errors(action: Action, tables: Mapping[str, Table]) -> Found:
    literals, errors = _literals(action)
    if errors:
        return errors, list(word_errors(action))
    tree = parse_query(action.sql, action.sql_at)
    fill_parameters(tree, action.params, literals, action.sql, action.sql_at)
    if not all(action.inputs.values()):
        nodes = list(tree.walk())
        for check in (check_functions, check_limits, check_places):
            check(nodes, action.sql, action.sql_at)
        return list(_call_errors(action)), list(word_errors(action))
    ports = {
        port.lower(): ActionPort(tuple(Column(name=name, type=kind) for name, kind in declared.items()), declared)
        for port, declared in action.inputs.items()
    }
    passes = action.output.extra_columns == "pass" and len(ports) == 1  # of several, a step says which one drives
    query = analyse(tree, ports, action.sql, action.sql_at, extra_columns=passes)
    _, unmet = plan_expectations(action, query.columns, literals)
    return [*output_errors(action, query), *unmet], errors_of_meaning(action, _table(action, query), tables)


def _call_errors(action: Action) -> Iterator[StreamhouseError]:
    """An error for each expectation and measure that calls what no flow may call, whatever its columns are."""
    checks = [(f"expect.{name}", rule.check, action.at) for name, rule in action.expect.items()]
    places = MeaningPlaces(action.places, (), action.at)
    folds = [
        (f"measures.{name}", measure.sql, places.value("measures", name, "sql"))
        for name, measure in action.measures.items()
    ]
    for what, text, at in (*checks, *folds):
        try:
            check_functions(list(parse_expression(text, at).walk()), "", at)
        except SqlSyntaxError:
            continue  # it is no expression, which is said elsewhere
        except DefinitionErrors as errors:
            yield from (_named(what, error, at) for error in errors.errors)
        except StreamhouseError as error:
            yield _named(what, error, at)


def _named(what: str, error: StreamhouseError, at: Location) -> StreamhouseError:
    error.at, error.message = at, f"{what}: {error.message}"
    return error


def _table(action: Action, query: CheckedQuery) -> Table:
    name = f"{action.step.layer}.{action.action}"
    return Table(name=name, columns=query.columns, tiers=Tiers(warm=True))


def _literals(action: Action) -> tuple[dict[str, exp.Expr], list[StreamhouseError]]:
    """A value for each parameter: its default, one of an example, or any of its type."""
    literals: dict[str, exp.Expr] = {}
    errors: list[StreamhouseError] = []
    for name, declared in action.params.items():
        value = _value(name, declared, action)
        try:
            literal = typed_literal(name, declared.type, _sample(declared) if value is None else value, action.at)
            if value is None:
                literal.meta[SAMPLED] = True
            literals[name] = literal
        except ValueError as error:
            errors.append(TypeMismatchError(f"parameter '{name}': {error}", at=action.at))
        except StreamhouseError as error:
            errors.append(error)
    return literals, errors


def _value(name: str, declared: Parameter, action: Action) -> Any:
    if declared.default is not None:
        return declared.default
    given: Iterable[Any] = (example.params[name] for example in action.examples if name in example.params)
    return next(iter(given), None)


def _sample(declared: Parameter) -> Any:
    kind, _, inner = declared.type.partition("<")
    if kind == "array":
        return [_SAMPLES.get(inner.removesuffix(">"), 1)]
    if kind.startswith("timestamp"):
        return "2000-01-01 00:00:00"
    return _SAMPLES.get(kind, 1)
