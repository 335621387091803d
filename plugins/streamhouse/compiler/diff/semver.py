"""The version that an edited action should have, by what the edit does to those who use it (semver.org)."""

from collections.abc import Iterable, Iterator, Mapping

from streamhouse.model.outcome import Finding, Outcome, StepChange, VersionAdvice
from streamhouse.model.plan import PlannedStep

_BREAKS = frozenset({5, 6, 9, 12})  # a column goes, has another name, or a type that readers must mind
_ADDS = frozenset({3, 4, 8, 10, 11})


def version_advice(
    before: Mapping[str, PlannedStep], after: Mapping[str, PlannedStep], changes: Iterable[StepChange]
) -> tuple[VersionAdvice, ...]:
    """For each action that was edited and whose version says too little, the one it should have.

    Args:
        before: Step → as applied.
        after: Step → as desired.
        changes: What changed.
    """
    wanted: dict[str, VersionAdvice] = {}
    for change in changes:
        old, new = before.get(change.step), after.get(change.step)
        if old is None or new is None or old.action != new.action or not _edited(old, new):
            continue
        least = _raised(old.version, list(change.findings))
        known = wanted.get(new.action)
        if _parts(new.version) < _parts(least) and (known is None or _parts(known.least) < _parts(least)):
            why = change.main.proof if change.main is not None else "its text changed"
            wanted[new.action] = VersionAdvice(
                action=new.action, was=old.version, now=new.version, least=least, why=why
            )
    return tuple(wanted.values())


def _edited(old: PlannedStep, new: PlannedStep) -> bool:
    """Whether the action itself changed: not only a parameter, what the step reads, or how its table is laid out."""
    if old.params != new.params or [r.table for r in old.reads] != [r.table for r in new.reads]:
        return False
    if set(old.writes.primary_key) != set(new.writes.primary_key):
        return True
    return (old.sql, old.expect, old.renamed, old.columns) != (new.sql, new.expect, new.renamed, new.columns)


def _raised(version: str, findings: list[Finding]) -> str:
    major, minor, patch = _parts(version)
    levels = set(_levels(findings))
    if "major" in levels:
        return f"{major + 1}.0.0"
    return f"{major}.{minor + 1}.0" if "minor" in levels else f"{major}.{minor}.{patch + 1}"


def _levels(findings: list[Finding]) -> Iterator[str]:
    for finding in findings:
        if finding.rule in _BREAKS:
            yield "major"
        elif finding.rule in _ADDS:
            yield "minor"
        elif finding.outcome in (Outcome.FORWARD, Outcome.REBUILD, Outcome.BLOCK):
            yield "major"  # rows or values mean something else


def _parts(version: str) -> tuple[int, int, int]:
    major, minor, patch = version.split(".")
    return int(major), int(minor), int(patch)
