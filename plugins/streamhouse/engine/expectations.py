"""Expectations: conditions on output rows, checked while a step runs.

A row for which a condition is not true (so also where it is NULL) violates it. What then happens says
`on_violation`: `warn` counts it, `drop` leaves it out, `quarantine` writes it to the step's quarantine
table instead, `fail` fails the epoch before anything of it is written.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from streamhouse.errors import EpochFailedError, Location
from streamhouse.model.action import Expectation
from streamhouse.model.plan import EXPECTATION, PlannedStep
from streamhouse.sql.dialect import parse_condition

FLAG = "__expect_"
"""Begin of the names of the columns that tell whether a row meets an expectation."""


@dataclass(frozen=True)
class Judged:
    """Rows after their expectations.

    Attributes:
        valid_rows: For the step's table.
        quarantined: For its quarantine table, with the name of the first expectation each row violates.
        violations: Expectation → rows that violate it; only those that were violated.
    """

    valid_rows: pa.Table
    quarantined: pa.Table | None = None
    violations: dict[str, int] = field(default_factory=dict)


def with_flags(query: exp.Query, expect: Mapping[str, Expectation]) -> exp.Query:
    """The query with one more boolean column for each expectation.

    Example:
        >>> rule = {"paid": Expectation(check="cents > 0")}
        >>> with_flags(exp.select("cents").from_("sales"), rule).sql("spark")
        'SELECT *, (cents > 0) IS TRUE AS __expect_paid FROM (SELECT cents FROM sales) AS result'
    """
    if not expect:
        return query
    flags = [
        exp.alias_(
            exp.Is(this=exp.paren(parse_condition(rule.check, Location(name))), expression=exp.true()), FLAG + name
        )
        for name, rule in expect.items()
    ]
    return exp.select("*", *flags).from_(query.subquery("result"))


def judge(step: PlannedStep, rows: pa.Table) -> Judged:
    """Take the rows of a query made by `with_flags` apart.

    Raises:
        EpochFailedError: an expectation with `on_violation: fail` is violated.
    """
    if not step.expect:
        return Judged(rows)
    flags = {name: rows[FLAG + name] for name in step.expect}
    plain = rows.drop_columns([FLAG + name for name in step.expect])
    violations = {name: rows.num_rows - (pc.sum(flag).as_py() or 0) for name, flag in flags.items()}
    violations = {name: count for name, count in violations.items() if count}
    for name, count in violations.items():
        if step.expect[name].on_violation == "fail":
            violating_rows = plain.select([column.name for column in step.columns]).filter(pc.invert(flags[name]))
            first = violating_rows.slice(0, 1).to_pylist()[0]
            raise EpochFailedError(
                f"{step.id}: {count} rows violate '{name}': {step.expect[name].check}",
                hint=f"the first of them: {first}; nothing of the epoch was recorded as done",
            )
    out = [name for name in violations if step.expect[name].on_violation in ("drop", "quarantine")]
    valid_rows = plain
    if out:
        keep = flags[out[0]]
        for name in out[1:]:
            keep = pc.and_(keep, flags[name])
        valid_rows = plain.filter(keep)
    return Judged(valid_rows, _quarantined(step, plain, flags, violations), violations)


def _quarantined(
    step: PlannedStep, plain: pa.Table, flags: Mapping[str, pa.ChunkedArray], violations: Mapping[str, int]
) -> pa.Table | None:
    parts = []
    clean = None
    for name in violations:
        if step.expect[name].on_violation == "quarantine":
            bad = pc.invert(flags[name])
            wanted = bad if clean is None else pc.and_(bad, clean)
            clean = flags[name] if clean is None else pc.and_(clean, flags[name])
            part = plain.filter(wanted)
            parts.append(part.append_column(EXPECTATION, pa.array([name] * part.num_rows, pa.string())))
    return pa.concat_tables(parts) if parts else None
