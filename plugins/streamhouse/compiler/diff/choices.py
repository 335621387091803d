"""What a person's choice makes of the findings of a step whose change blocks."""

from collections.abc import Collection

from streamhouse.model.outcome import Finding, Outcome

_MIXES = frozenset({13, 14, 17, 18, 19, 21, 35})  # rows of the old meaning can stand beside new ones
_OTHER_TYPE = 9  # which a stored column cannot take


def decided(
    findings: list[Finding], choice: Outcome, *, by_row: bool, beside: Collection[Finding] = ()
) -> list[Finding]:
    """The findings once a person chose.

    Args:
        findings: Of one step.
        choice: FORWARD: rows already written keep their meaning, where the table can go on holding them.
            REBUILD: every row is recomputed from what there is.
        by_row: Whether each row of the table comes of the rows of one epoch.
        beside: Further findings of the step, decided before.

    Returns:
        With FORWARD, what blocks still blocks where all rows are recomputed all the same.
    """
    results = [_decided(finding, choice, by_row=by_row) for finding in findings]
    rebuilt = any(f.outcome is Outcome.REBUILD and not f.keeps_values for f in (*results, *beside))
    if choice is Outcome.FORWARD and rebuilt:
        return [
            original if original.outcome is Outcome.BLOCK else now
            for original, now in zip(findings, results, strict=True)
        ]
    return results


def _decided(finding: Finding, choice: Outcome, *, by_row: bool) -> Finding:
    blocks = finding.outcome is Outcome.BLOCK
    proof = f"{finding.proof}; a person chose {choice}"
    if choice is Outcome.REBUILD and (blocks or finding.outcome is Outcome.FORWARD):
        return finding.model_copy(update={"outcome": choice, "proof": proof, "keeps_values": False, "restate": False})
    mixes = by_row and finding.outcome is Outcome.REBUILD and finding.rule in _MIXES
    if choice is Outcome.FORWARD and (mixes or (blocks and finding.rule != _OTHER_TYPE)):
        return finding.model_copy(update={"outcome": choice, "proof": proof})
    return finding
