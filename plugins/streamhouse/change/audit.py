"""Judges what is to serve by figures of it and of what serves now. Pure.

A check fails only where what is wrong is plain; what may be meant is a warning. A person can let it serve all the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from streamhouse.model.action import Expectation
from streamhouse.model.review import AuditCheck, AuditVerdict

RISE = 0.05
"""By how much the share of rows that violate an expectation may rise from one version to the next."""
_FEW, _MANY = 0.5, 2.0  # of the rows there were: fewer or more than this is reported


@dataclass(frozen=True)
class Profile:
    """Figures of one version of a table.

    Attributes:
        rows: How many it has.
        null_keys: How many have a NULL in the key.
        double_keys: How many keys more than one row has, of those that were looked at.
        quarantine_rows: Rows of its quarantine table.
        violations: Expectation → rows, in the table and in quarantine, that violate it; absent: it is unknown,
            as the version lacks a column.
    """

    rows: int
    null_keys: int = 0
    double_keys: int = 0
    quarantine_rows: int = 0
    violations: dict[str, int] = field(default_factory=dict)

    def share(self, rule: str) -> float | None:
        """The part of all rows that violates an expectation, from 0 to 1; None: it is unknown."""
        found, judged = self.violations.get(rule), self.rows + self.quarantine_rows
        return None if found is None else found / judged if judged else 0.0


def audit(
    new: Profile, old: Profile | None, expect: Mapping[str, Expectation], *, keyed: bool, same_rows: bool
) -> tuple[AuditCheck, ...]:
    """Check a new version of a table.

    Args:
        new: Of the version that is to serve.
        old: Of the one that serves, judged by the same expectations; None: none does.
        expect: Of the step, or steps, that write it.
        keyed: Whether it has a primary key.
        same_rows: Whether a row means the same in both: they have the same key, or none.

    Example:
        >>> [check] = audit(Profile(0), Profile(7), {}, keyed=False, same_rows=True)
        >>> print(check.verdict, check.text)
        failed it is empty, and 7 rows serve
    """
    checks = [_rows(new, old, same_rows=same_rows)] if old is not None else []
    if keyed:
        checks.append(_key(new))
    return (*checks, *(_expectation(name, rule, new, old) for name, rule in expect.items()))


def _rows(new: Profile, old: Profile, *, same_rows: bool) -> AuditCheck:
    if old.rows and not new.rows:
        return AuditCheck(name="rows", verdict=AuditVerdict.FAILED, text=f"it is empty, and {old.rows:,} rows serve")
    odd = same_rows and old.rows and not _FEW <= new.rows / old.rows <= _MANY
    text = f"{new.rows:,} rows, and {old.rows:,} serve"
    return AuditCheck(name="rows", verdict=AuditVerdict.WARNING if odd else AuditVerdict.PASSED, text=text)


def _key(new: Profile) -> AuditCheck:
    found = [
        text
        for count, text in (
            (new.null_keys, f"{new.null_keys:,} rows have a NULL in the key"),
            (new.double_keys, f"{new.double_keys:,} keys have more than one row"),
        )
        if count
    ]
    verdict = AuditVerdict.FAILED if found else AuditVerdict.PASSED
    return AuditCheck(name="key", verdict=verdict, text="; ".join(found) or "every key is there once")


def _expectation(name: str, rule: Expectation, new: Profile, old: Profile | None) -> AuditCheck:
    count, share = new.violations.get(name, 0), new.share(name) or 0.0
    before = old.share(name) if old is not None else None
    verdict = AuditVerdict.PASSED
    if rule.on_violation == "fail":
        verdict = AuditVerdict.FAILED if count else AuditVerdict.PASSED
    elif before is not None:
        rise = share - before
        verdict = AuditVerdict.FAILED if rise > RISE else AuditVerdict.WARNING if rise > 0 else AuditVerdict.PASSED
    elif share > RISE:
        verdict = AuditVerdict.WARNING
    text = f"{count:,} rows ({share:.1%}) violate '{name}': {rule.check}"
    if before is not None:
        text += f"; of what serves {before:.1%} do"
    return AuditCheck(name=f"expect.{name}", verdict=verdict, text=text)
