"""Expectations that came, went or changed: those that keep rows out of the table are filters."""

from collections.abc import Iterator
from functools import lru_cache

from sqlglot import exp

from streamhouse.compiler.diff.policy import EditedStep, changed
from streamhouse.errors import Location
from streamhouse.model.action import Expectation
from streamhouse.model.outcome import Finding, Outcome
from streamhouse.model.plan import PlannedStep
from streamhouse.model.table import Column
from streamhouse.sql.canonical import CanonicalInput, canonical
from streamhouse.sql.dialect import parse_condition, render

_KEEPS_OUT = frozenset({"drop", "quarantine"})


def expectation_findings(edited: EditedStep) -> Iterator[Finding]:
    """One finding for each expectation that differs; a name is none of the difference."""
    old, new = _meanings(edited.old), _meanings(edited.new)
    before = frozenset(text for text, rule in old if rule in _KEEPS_OUT)
    after = frozenset(text for text, rule in new if rule in _KEEPS_OUT)
    if before != after:
        was, now = (" and ".join(sorted(side)) or "nothing" for side in (before - after, after - before))
        yield changed(edited, 13, f"rows are kept out unless {now}, and were unless {was}", rows=True).model_copy(
            update={"rule": 35}
        )
    rest = [
        (text, rule) for text, rule in sorted(old ^ new) if rule not in _KEEPS_OUT or (text in before and text in after)
    ]
    for text, rule in rest:
        outcome = Outcome.NO_OP if rule == "warn" else Outcome.SWAP
        word = "came" if (text, rule) in new else "went"
        yield Finding(rule=35, outcome=outcome, proof=f"{word}: {text} or {rule}", keeps_values=True)


def _meanings(step: PlannedStep) -> frozenset[tuple[str, str]]:
    return frozenset((_meaning(rule, step.columns), rule.on_violation) for rule in step.expect.values())


def _meaning(rule: Expectation, columns: tuple[Column, ...]) -> str:
    return _canonical(rule.check, tuple(c.model_copy(update={"name": c.name.lower()}) for c in columns))


@lru_cache(maxsize=1024)
def _canonical(check: str, columns: tuple[Column, ...]) -> str:
    condition = parse_condition(check, Location(""))
    query = exp.select(exp.alias_(condition, "met")).from_("row")
    return canonical(render(query), {"row": CanonicalInput("row", columns)}).outputs["met"].text
