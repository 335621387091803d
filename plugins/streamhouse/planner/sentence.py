"""A Request as one sentence that a person can read and correct, and names of its parts in words."""

from collections.abc import Iterable
from datetime import UTC, date, datetime

from streamhouse.model.types import format_duration
from streamhouse.planner.request import (
    AnyOf,
    Arithmetic,
    Banded,
    Between,
    Block,
    ColumnRef,
    Condition,
    Constant,
    Cut,
    Derived,
    During,
    Filter,
    Measure,
    Number,
    Ranking,
    Related,
    Request,
    Scalar,
)
from streamhouse.planner.sql.constants import number

_COMPARED = {
    "=": "is", "<>": "is not", "<": "is below", "<=": "is at most", ">": "is above", ">=": "is at least",
    "in": "is one of", "not in": "is none of", "contains": "contains", "starts": "begins with", "ends": "ends with",
    "is null": "is empty", "is not null": "is not empty",
}  # fmt: skip


def sentence(request: Request) -> str:
    """The whole Request, beginning with a capital letter and ending with a full stop."""
    parts = [_block(request.block)]
    if request.ranking is not None:
        parts.append(_ranking(request.ranking))
    if request.alert:
        parts.append("as an alert")
    if request.freshness is not None:
        parts.append(f"fresh within {format_duration(request.freshness)}")
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}."


def _block(block: Block) -> str:
    source = block.base if block.inner is None else f"({_block(block.inner)})"
    parts = [_subject(block, source or "")]
    if block.joins:
        parts.append("with " + _listed(f"{join.role} from {join.table}" for join in block.joins))
    if block.filters:
        parts.append("only rows where " + " and ".join(filter_words(one) for one in block.filters))
    if block.having:
        parts.append("only results where " + " and ".join(filter_words(one) for one in block.having))
    return ", ".join(parts)


def _subject(block: Block, source: str) -> str:
    figures = [measure_words(one) for one in block.measures] + [derived_words(one) for one in block.derived]
    per = [one.name for one in block.dimensions]
    if block.sessions is not None:
        gap = format_duration(block.sessions.gap)
        per = [*(part.column for part in block.sessions.per), f"session (a new one after {gap} without a row)"]
    if figures or per:
        what = _listed(figures) or "each combination"
        return f"{what} of {source}" + (f" per {_listed(per)}" if per else "")
    columns = _listed(one.name for one in block.columns) or "all columns"
    if block.pick is None:
        return f"rows of {source} with {columns}"
    which = "last" if block.pick.last else "first"
    each = _listed(scalar_words(part) for part in block.pick.per)
    return f"the {which} row of {source} by {scalar_words(block.pick.by)} for each {each}, with {columns}"


def measure_words(measure: Measure) -> str:
    """What a measure is, with its name."""
    where = f" where {' and '.join(filter_words(one) for one in measure.where)}" if measure.where else ""
    if measure.named is not None:
        return f"{measure.name}{where}" if measure.name == measure.named else f"{measure.named} ({measure.name}){where}"
    if measure.of is None:
        return f"number of rows ({measure.name}){where}"
    of = scalar_words(measure.of)
    words = {
        "count": f"number of rows with {of}", "count distinct": f"number of different {of}", "sum": f"sum of {of}",
        "avg": f"average of {of}", "min": f"lowest {of}", "max": f"highest {of}", "median": f"median of {of}",
        "stddev": f"standard deviation of {of}", "percentile": f"percentile {measure.fraction} of {of}",
        "first": f"first {of}", "last": f"last {of}",
    }  # fmt: skip
    return f"{words[measure.function]} ({measure.name}){where}"


def derived_words(derived: Derived) -> str:
    """What a derived number is, with its name."""
    percent = " in percent" if derived.percent else f" times {derived.per_many}" if derived.per_many > 1 else ""
    per = f" within each {_listed(derived.per)}" if derived.per else ""
    periods = "the period before" if derived.periods == 1 else f"{derived.periods} periods before"
    words = {
        "ratio": f"{derived.of} divided by {derived.to}{percent}",
        "difference": f"{derived.of} minus {derived.to}",
        "share": f"share of the total {derived.of}{percent}{per}",
        "change": f"change of {derived.of} against {periods}{percent}",
        "previous": f"{derived.of} of {periods}",
        "running": f"{derived.of} added up over time",
        "moving": f"{'sum' if derived.fold == 'sum' else 'average'} of {derived.of} over {derived.periods} periods",
        "rank": f"rank by {derived.of}{per}",
        "above_average": f"{derived.of} minus its average{per}",
    }
    return f"{words[derived.kind]} ({derived.name})"


def filter_words(condition: Filter) -> str:
    """A condition in words."""
    if isinstance(condition, AnyOf):
        return "(" + " or ".join(filter_words(one) for one in condition.of) + ")"
    if isinstance(condition, Related):
        found = "there are" if condition.exists else "there are no"
        many = f" at least {condition.at_least}" if condition.at_least > 1 and condition.exists else ""
        many = f" {condition.at_least} or more" if condition.at_least > 1 and not condition.exists else many
        where = f" where {' and '.join(filter_words(one) for one in condition.filters)}" if condition.filters else ""
        return f"{found}{many} rows of {condition.table} with the same {_listed(condition.on.values())}{where}"
    if isinstance(condition, During):
        return _during(condition)
    return _condition(condition)


def _condition(condition: Condition) -> str:
    left = condition.left if isinstance(condition.left, str) else scalar_words(condition.left)
    if condition.other is not None:
        right = condition.other if isinstance(condition.other, str) else scalar_words(condition.other)
    else:
        right = _listed(_constant(value) for value in condition.values)
    return f"{left} {_COMPARED[condition.operator]} {right}".rstrip()


def _during(time_range: During) -> str:
    time = scalar_words(time_range.of)
    if time_range.within is not None:
        plural = "" if time_range.within == 1 else "s"
        return f"{time} is within the last {time_range.within} {time_range.unit.value}{plural}"
    since = f"from {_constant(time_range.since)}" if time_range.since is not None else ""
    until = f"before {_constant(time_range.until)}" if time_range.until is not None else ""
    return f"{time} is {' and '.join(part for part in (since, until) if part)}"


def scalar_words(of: Scalar) -> str:
    """A value of a row in words."""
    if isinstance(of, ColumnRef):
        return f"{of.role}.{of.column}" if of.role else of.column
    if isinstance(of, Number):
        return number(of.value).sql()
    if isinstance(of, Cut):
        return f"{of.grain.value.replace('_', ' ')} of {scalar_words(of.of)}"
    if isinstance(of, Between):
        return f"{of.unit}s from {scalar_words(of.first)} to {scalar_words(of.last)}"
    if isinstance(of, Banded):
        return f"band of {scalar_words(of.of)} ({', '.join(number(bound).sql() for bound in of.bounds)})"
    sides = [f"({scalar_words(side)})" if isinstance(side, Arithmetic) else scalar_words(side) for side in
             (of.left, of.right)]  # fmt: skip
    return f"{sides[0]} {of.operator} {sides[1]}"


def _ranking(ranking: Ranking) -> str:
    end = "highest" if ranking.descending else "lowest"
    each = f" of each {_listed(ranking.per)}" if ranking.per else ""
    ties = ", and all that are equal to the last of them" if ranking.ties else ""
    if ranking.count == 1:
        return f"only the one with the {end} {ranking.by}{each}{ties}"
    return f"only the {ranking.count} with the {end} {ranking.by}{each}{ties}"


def _constant(value: Constant | None) -> str:
    if isinstance(value, datetime):
        shown = (value.astimezone(UTC) if value.tzinfo else value).replace(tzinfo=None)
        return shown.date().isoformat() if shown.time() == datetime.min.time() else shown.isoformat(sep=" ")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"'{value}'" if isinstance(value, str) else str(value)


def _listed(words: Iterable[str]) -> str:
    found = list(words)
    return found[0] if len(found) == 1 else f"{', '.join(found[:-1])} and {found[-1]}" if found else ""
