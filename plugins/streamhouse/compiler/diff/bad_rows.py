"""What an edit of the steps that read a source means for its dead letters."""

from collections.abc import Mapping, Sequence

from streamhouse.model.bad_rows import ACTION, letters_source
from streamhouse.model.outcome import Finding, Outcome
from streamhouse.model.plan import PlannedStep


def letters_again(
    before: Mapping[str, PlannedStep], after: Mapping[str, PlannedStep], found: Mapping[str, Sequence[Finding]]
) -> dict[str, Finding]:
    """Dead-letter step → why its table is rebuilt: else a row that can be read now would be in both tables.

    Args:
        before: Id → step, as the flow runs.
        after: Id → step, after the edit.
        found: Id → what follows for the step by itself.
    """
    again = {
        read.table
        for name, step in after.items()
        if any(finding.outcome is Outcome.REBUILD for finding in found[name])
        for read in step.reads
    }
    names = {letters_source(table): table for table in again}
    findings: dict[str, Finding] = {}
    for name, step in after.items():
        source = names.get(step.reads[0].table) if step.action == ACTION and name in before else None
        if source is not None and not any(finding.outcome is Outcome.REBUILD for finding in found[name]):
            proof = f"the source {source} is read again: rows that can be read now leave its dead letters"
            findings[name] = Finding(rule=37, outcome=Outcome.REBUILD, proof=proof, rows=True)
    return findings
