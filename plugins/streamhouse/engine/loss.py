"""What the records of a flow say together, and what follows from it: one table of rules (docs/restore.md).

Pure. `run`, `tier`, `plan`, `status` and `restore` ask here; `engine/observed.py` looks at the tables for all of them.
"""

from dataclasses import dataclass
from enum import StrEnum


class StateRecord(StrEnum):
    """What the state store says of a segment."""

    NOTHING = "no epoch"
    DONE = "an epoch that is done"
    IN_HAND = "an epoch in hand"


class LaterEpoch(StrEnum):
    """What notes and Spark's log say of a later epoch than the state store."""

    NOT_LATER = "nothing later"
    DONE = "a later epoch, which is done"
    LOGGED = "a later epoch, which is done by Spark's log alone"
    HALF = "a later epoch, which may be half done"
    UNKNOWN = "a later epoch, and not where it ends"


class SegmentRows(StrEnum):
    """What the tables of a segment have in the tiers that it writes, against the state store: the worst of them."""

    AS_LEFT = "what the flow left"
    MORE = "more than the flow left"
    READS_LOST = "what the flow left, but a hot table that it reads is lost"
    LOST_HOT = "a hot table is gone, is another one or an older one"
    READ_AHEAD = "a table ends before the position up to which a flow has read it"
    LOST_LAKE = "a table whose first tier is a lake is gone, is another one or an older one"


class CopyReach(StrEnum):
    """How far the lakes' copies of a segment's lost hot tables reach, against where the flow left the tables."""

    WITHIN = "not beyond it"
    BEYOND = "beyond it"


class LossVerdict(StrEnum):
    """What is to be done about a segment."""

    GO_ON = "nothing is missing"
    TAKE_OVER = "take over the positions of the notes, or of Spark's log"
    LEAVE = "leave the rows that something else wrote"
    FILL = "fill the hot tables from the lakes, and go on at their ends"
    TAKE_OVER_AND_FILL = "take over the positions, fill the hot tables from the lakes, and go on at their ends"
    COMPUTE = "compute what the tables lack from what the flow reads"


@dataclass(frozen=True)
class LossCase:
    """One combination of what the records of a segment say."""

    recorded: StateRecord
    others: LaterEpoch
    rows: SegmentRows
    copies: CopyReach = CopyReach.WITHIN


@dataclass(frozen=True)
class LossRule:
    """A row of the table: the first one that fits decides. An empty field fits all."""

    verdict: LossVerdict
    why: str
    recorded: frozenset[StateRecord] = frozenset(StateRecord)
    others: frozenset[LaterEpoch] = frozenset(LaterEpoch)
    rows: frozenset[SegmentRows] = frozenset(SegmentRows)
    copies: frozenset[CopyReach] = frozenset(CopyReach)

    def fits(self, case: LossCase) -> bool:
        """Whether it says something of a case."""
        return (
            case.recorded in self.recorded
            and case.others in self.others
            and case.rows in self.rows
            and case.copies in self.copies
        )


_ONLY = frozenset
_LOST = frozenset({SegmentRows.LOST_HOT, SegmentRows.READS_LOST})
RULES = (
    LossRule(
        LossVerdict.COMPUTE,
        "a table whose first tier is a lake lacks rows, which no other tier has",
        rows=_ONLY({SegmentRows.LOST_LAKE}),
    ),
    LossRule(
        LossVerdict.COMPUTE,
        "a flow has read rows that the table, which is an older one, does not have any more",
        rows=_ONLY({SegmentRows.READ_AHEAD}),
    ),
    LossRule(
        LossVerdict.COMPUTE,
        "tables have rows of an epoch that no record describes",
        others=_ONLY({LaterEpoch.UNKNOWN}),
    ),
    LossRule(
        LossVerdict.COMPUTE,
        "lakes have rows behind the last position that any record knows",
        rows=_LOST,
        copies=_ONLY({CopyReach.BEYOND}),
    ),
    LossRule(
        LossVerdict.TAKE_OVER_AND_FILL,
        "the state store is older than the other records, and hot tables are lost",
        others=_ONLY({LaterEpoch.DONE}),
        rows=_LOST,
    ),
    LossRule(
        LossVerdict.TAKE_OVER_AND_FILL,
        "the state store is older than Spark's log, and hot tables are lost",
        others=_ONLY({LaterEpoch.LOGGED}),
        rows=_ONLY({SegmentRows.LOST_HOT}),
    ),
    LossRule(
        LossVerdict.COMPUTE,
        "an epoch was half done when hot tables were lost, and it is unknown which of its rows there are",
        others=_ONLY({LaterEpoch.HALF}),
        rows=_LOST,
    ),
    LossRule(
        LossVerdict.COMPUTE,
        "an epoch was half done when hot tables were lost, and it is unknown which of its rows there are",
        recorded=_ONLY({StateRecord.IN_HAND}),
        rows=_LOST,
    ),
    LossRule(
        LossVerdict.COMPUTE,
        "hot tables were lost, and no record says how far the flow was",
        recorded=_ONLY({StateRecord.NOTHING}),
        rows=_ONLY({SegmentRows.LOST_HOT}),
    ),
    LossRule(
        LossVerdict.FILL,
        "hot tables are lost, and the state store knows how far the flow is",
        recorded=_ONLY({StateRecord.DONE}),
        rows=_LOST,
    ),
    LossRule(
        LossVerdict.TAKE_OVER,
        "the state store is older than the other records",
        others=_ONLY({LaterEpoch.DONE, LaterEpoch.HALF}),
    ),
    LossRule(
        LossVerdict.TAKE_OVER,
        "the state store is older than Spark's log, and tables have rows since",
        others=_ONLY({LaterEpoch.LOGGED}),
        rows=_ONLY({SegmentRows.MORE}),
    ),
    LossRule(
        LossVerdict.COMPUTE,
        "tables have rows, and no record says which",
        recorded=_ONLY({StateRecord.NOTHING}),
        rows=_ONLY({SegmentRows.MORE}),
    ),
    LossRule(
        LossVerdict.LEAVE,
        "a hot table has more rows than the flow left",
        recorded=_ONLY({StateRecord.DONE}),
        rows=_ONLY({SegmentRows.MORE}),
    ),
    LossRule(
        LossVerdict.GO_ON,
        "the records agree; a log of Spark that is newer is made again",
        others=_ONLY({LaterEpoch.NOT_LATER, LaterEpoch.LOGGED}),
        rows=_ONLY({SegmentRows.AS_LEFT}),
    ),
    LossRule(
        LossVerdict.GO_ON,
        "an epoch in hand wrote some of its rows; it runs again over the same ones",
        recorded=_ONLY({StateRecord.IN_HAND}),
        rows=_ONLY({SegmentRows.MORE}),
    ),
    LossRule(
        LossVerdict.GO_ON,
        "it has not begun",
        recorded=_ONLY({StateRecord.NOTHING}),
        rows=_ONLY({SegmentRows.READS_LOST}),
    ),
)


def judged(case: LossCase) -> LossRule:
    """The rule that decides a case; every case has one."""
    return next(rule for rule in RULES if rule.fits(case))


def hint(flow: str, verdict: LossVerdict) -> str:
    """What a person types."""
    if verdict is LossVerdict.COMPUTE:
        again = f"streamhouse restore {flow} --from-sources; or build them again: streamhouse restore {flow} --rebuild"
        return f"keep what the tables have, and compute what they lack: {again}"
    return f"see what is lost, and what comes back: streamhouse restore {flow} --dry-run"
