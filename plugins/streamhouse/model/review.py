"""What is known of new versions of tables before they serve: whether they may, and how they differ from what serves."""

from enum import StrEnum

from pydantic import Field

from streamhouse.model.types import Frozen


class SwapGate(StrEnum):
    """What lets the tables that a change built serve."""

    AUDIT = "audit"  # that their audit passes
    PERSON = "person"  # a person's word, whatever the audit says
    OPEN = "open"  # nothing more: a person let them, whatever the audit says


class AuditVerdict(StrEnum):
    """What a check found, mildest first."""

    PASSED = "passed"
    WARNING = "warning"  # reported, and nothing else
    FAILED = "failed"  # the tables must not serve, unless a person says so


class AuditCheck(Frozen):
    """One check of a table.

    Attributes:
        name: `rows`, `key`, or `expect.NAME`.
        text: What was found, with figures, for a person.
    """

    name: str
    verdict: AuditVerdict
    text: str


class DifferingRow(Frozen):
    """A row in which two versions differ; values as text, long ones cut off.

    Attributes:
        row: Of a keyed table the key, else the row.
        old: Column that differs → its value in the version that serves; empty: the row is in one version only.
        new: The same, in the new version.
    """

    row: dict[str, str | None]
    old: dict[str, str | None] = Field(default_factory=dict)
    new: dict[str, str | None] = Field(default_factory=dict)


class Difference(Frozen):
    """Two versions of a table, compared over the columns that both have, as of the same positions of their flow.

    Attributes:
        by: `key`: rows of one key are one row; `rows`: whole rows, each as often as it is there.
        one_in: Of so many keys (rows) one was compared, on both sides the same; 1: all. Counts are of those.
        equal: Rows that say the same.
        only_old: Rows that the new version lacks.
        only_new: Rows that only the new version has.
        changed: Keys in both, whose other columns differ; 0 by `rows`.
        columns: Column → how many of `changed` differ in it, most first.
        added: Columns that only the new version has.
        dropped: Columns that only the old one has.
        samples: `only_old`, `only_new`, `changed` → some of those rows.
    """

    by: str
    one_in: int
    equal: int
    only_old: int
    only_new: int
    changed: int
    columns: dict[str, int] = Field(default_factory=dict)
    added: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    samples: dict[str, tuple[DifferingRow, ...]] = Field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether nothing differs in what was compared."""
        return not (self.only_old or self.only_new or self.changed)


class TableReview(Frozen):
    """One table that is rebuilt.

    Attributes:
        old_version: That serves; None: none does.
        old_rows: How many rows it has; None: as above.
        difference: None: there is nothing to compare with.
    """

    table: str
    old_version: int | None
    new_version: int
    old_rows: int | None
    new_rows: int
    checks: tuple[AuditCheck, ...] = ()
    difference: Difference | None = None


class Review(Frozen):
    """The audit of what a change built, and how that differs from what serves.

    Attributes:
        at_ms: When it was made.
        tables: Upstream first.
        notes: What a reader must know of it.
    """

    at_ms: int
    tables: tuple[TableReview, ...] = ()
    notes: tuple[str, ...] = ()

    def found(self, verdict: AuditVerdict) -> list[str]:
        """What the checks with a verdict found, each with its table."""
        return [f"{one.table}: {c.text}" for one in self.tables for c in one.checks if c.verdict is verdict]

    @property
    def passed(self) -> bool:
        """Whether no check failed."""
        return not self.found(AuditVerdict.FAILED)
