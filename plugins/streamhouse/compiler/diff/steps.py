"""One step before and after an edit: everything that changed, and what follows."""

from datetime import timedelta

from streamhouse.compiler.diff.around import Around
from streamhouse.compiler.diff.columns import column_findings, renames_of, tightened
from streamhouse.compiler.diff.expectations import expectation_findings
from streamhouse.compiler.diff.policy import EditedStep
from streamhouse.compiler.diff.query import query_findings
from streamhouse.compiler.diff.table import table_findings
from streamhouse.compiler.diff.widths import as_before, width_findings
from streamhouse.errors import DefinitionError
from streamhouse.model.outcome import Finding, Outcome
from streamhouse.model.plan import PlannedStep
from streamhouse.model.types import format_duration

_GROUPING = frozenset({15, 22})
_LAYOUT = frozenset({29, 33})


def step_findings(
    old: PlannedStep, new: PlannedStep, before: Around, after: Around, known: frozenset[str], age: timedelta
) -> list[Finding]:
    """What an edit did to a step that is, or reads, something else than before.

    Args:
        old: As applied, among `before`.
        new: Of the same id, among `after`.
        before: Says what the tables were that `old` reads.
        after: The same facts of `new`.
        known: Tables and sources of which older rows have passed by, or will have when the edit is done.
        age: How long the flow has run.
    """
    edited = EditedStep(old, new, after.keys, known, renames_of(old, new), age)
    try:
        was, now = before.meaning(old), as_before(new, before, after)
    except DefinitionError as error:  # such as SQL that a former version applied and this one does not know
        proof = f"the query cannot be compared: {error.message}"
        return [Finding(rule=0, outcome=Outcome.BLOCK, proof=proof, rows=True)]
    found = [*query_findings(edited, was, now), *width_findings(edited, now, before, after)]
    regrouped = any(finding.rule in _GROUPING for finding in found)
    laid = table_findings(edited, (before, after), regrouped=regrouped)
    relaid = regrouped or any(finding.rule in _LAYOUT and finding.outcome is Outcome.REBUILD for finding in laid)
    found += [*laid, *column_findings(edited, was, now, relaid=relaid)]
    found += expectation_findings(edited)
    rebuilt = any(finding.outcome is Outcome.REBUILD and not finding.keeps_values for finding in found)
    found += tightened(edited, (before, after), rebuilt=rebuilt)
    found += _settings(edited)
    if not found and old != new:
        found.append(_same(old, new))
    return sorted(found, key=lambda finding: -finding.outcome.weight)


def _same(old: PlannedStep, new: PlannedStep) -> Finding:
    if old.sql == new.sql and old.writes == new.writes:
        proof = "version, name or notes only"
        return Finding(rule=36, outcome=Outcome.NO_OP, proof=proof, keeps_values=True)
    turned = [c.name for c in old.columns] != [c.name for c in new.columns]
    if turned and {c.name for c in old.columns} == {c.name for c in new.columns}:
        proof = "the same columns in another order; they are written by name"
        return Finding(rule=7, outcome=Outcome.NO_OP, proof=proof, keeps_values=True)
    proof = "the SQL means what it meant"
    return Finding(rule=1, outcome=Outcome.NO_OP, proof=proof, keeps_values=True)


def _settings(edited: EditedStep) -> list[Finding]:
    old, new = edited.old, edited.new
    found = []
    if old.strategy is not new.strategy and bool(old.writes.merge) == bool(new.writes.merge):
        proof = f"kept up to date by {new.strategy} instead of {old.strategy}: {new.reason}"
        found.append(Finding(rule=40, outcome=Outcome.SWAP, proof=proof, keeps_values=True))
    for what in ("interval", "isolate"):
        if getattr(old, what) != getattr(new, what):
            proof = f"{what}: {_shown(getattr(old, what))} → {_shown(getattr(new, what))}"
            found.append(Finding(rule=39, outcome=Outcome.SWAP, proof=proof, keeps_values=True))
    return found


def _shown(value: object) -> str:
    return (
        "no"
        if value is None or value is False
        else "yes"
        if value is True
        else format_duration(value)
        if isinstance(value, timedelta)
        else str(value)
    )
