"""Expectations: conditions on the output of an action."""

from collections.abc import Collection, Mapping

from sqlglot import exp

from streamhouse.errors import Location, StreamhouseError, TypeMismatchError
from streamhouse.model.action import Action, Expectation
from streamhouse.model.table import Column
from streamhouse.sql.dialect import parse_condition, render
from streamhouse.sql.parameters import fill_parameters
from streamhouse.sql.ports import ActionPort
from streamhouse.sql.schema import analyse


def plan_expectations(
    action: Action, columns: tuple[Column, ...], literals: Mapping[str, exp.Expr]
) -> tuple[dict[str, Expectation], list[StreamhouseError]]:
    """The expectations with parameters filled in, and an error for each that is no condition on the output.

    Args:
        action: Whose `expect` is checked.
        columns: Of its output.
        literals: Parameter → its value.
    """
    planned: dict[str, Expectation] = {}
    errors: list[StreamhouseError] = []
    output = {"output": ActionPort(columns, {})}
    for name, expectation in action.expect.items():
        try:
            check = parse_condition(expectation.check, action.at)
            select = exp.select(exp.alias_(check, "met")).from_("output")
            fill_parameters(select, action.params, literals, "", action.at)
            text = render(select.selects[0].this)
            kind = analyse(select, output, "", action.at).columns[0].type
        except StreamhouseError as error:
            error.at, error.message = action.at, f"expect.{name}: {error.message}"
            errors.append(error)
            continue
        if kind != "boolean":
            problem = f"expect.{name}: '{expectation.check}' is {kind}, not a condition"
            hint = "write a comparison, such as amount >= 0"
            errors.append(TypeMismatchError(problem, at=action.at, hint=hint))
        planned[name] = expectation.model_copy(update={"check": text})
    return planned, errors


def judges_parts(expect: Mapping[str, Expectation], key: Collection[str]) -> str:
    """Why rows cannot be left to a store that folds them by a key; empty: they can.

    An epoch of such a step has parts of its rows. One that is left out, or does not fail, by what the part has says
    nothing of the whole. A warning may count parts.
    """
    for name, rule in expect.items():
        condition_columns = {
            column.name.lower() for column in parse_condition(rule.check, Location("")).find_all(exp.Column)
        }
        if rule.on_violation != "warn" and (folded := sorted(condition_columns - {column.lower() for column in key})):
            return (
                f"{name} ({rule.on_violation}) judges whole rows by {', '.join(folded)}, and an epoch has parts of them"
            )
    return ""
