"""What may happen to the records and tables of a project, what to type then, and what comes back. Pure.

`docs/restore.md` begins with this table; a test compares both, and each row with the rules that decide about it.
"""

from dataclasses import dataclass

from streamhouse.engine.loss import CopyReach, LaterEpoch, LossCase, LossVerdict, SegmentRows, StateRecord, judged

NOTHING_TO_TYPE = "nothing: `streamhouse run` goes on"
RESTORE_IT = "`streamhouse restore`"
COMPUTE_IT = "`streamhouse restore FLOW --from-sources`"
REBUILD_IT = "`streamhouse restore FLOW --rebuild`"
_TYPED = {
    LossVerdict.GO_ON: NOTHING_TO_TYPE,
    LossVerdict.TAKE_OVER: RESTORE_IT,
    LossVerdict.LEAVE: RESTORE_IT,
    LossVerdict.FILL: RESTORE_IT,
    LossVerdict.TAKE_OVER_AND_FILL: RESTORE_IT,
    LossVerdict.COMPUTE: COMPUTE_IT,
}


@dataclass(frozen=True)
class Accident:
    """A row of the table.

    Attributes:
        happened: For people.
        command: What to type.
        back: What there is then.
        cases: What the records of a segment say then; none: the rules are not asked.
    """

    happened: str
    command: str
    back: str
    cases: tuple[LossCase, ...] = ()


def typed(case: LossCase) -> str:
    """What a person types where the records of a segment say this."""
    return _TYPED[judged(case).verdict]


_S, _L, _R, _BEYOND = StateRecord, LaterEpoch, SegmentRows, CopyReach.BEYOND
ACCIDENTS = (
    Accident(
        "Spark's checkpoints are gone, older, newer or damaged",
        NOTHING_TO_TYPE,
        "everything; the checkpoints are made again from the state store",
        (
            LossCase(_S.DONE, _L.NOT_LATER, _R.AS_LEFT),
            LossCase(_S.IN_HAND, _L.NOT_LATER, _R.MORE),
            LossCase(_S.NOTHING, _L.NOT_LATER, _R.READS_LOST),
        ),
    ),
    Accident(
        "the state store and all tables are older, of one moment (a machine was put back from a backup)",
        NOTHING_TO_TYPE,
        "everything; the sources are read again from there",
        (LossCase(_S.DONE, _L.LOGGED, _R.AS_LEFT),),
    ),
    Accident(
        "the state store is gone or older",
        RESTORE_IT,
        "tables and positions. Not: history of plans, changes, approvals, events",
        (
            LossCase(_S.NOTHING, _L.DONE, _R.AS_LEFT),
            LossCase(_S.DONE, _L.HALF, _R.MORE),
            LossCase(_S.DONE, _L.LOGGED, _R.MORE),
        ),
    ),
    Accident(
        "the hot tier is gone or older",
        RESTORE_IT,
        "hot tables, from the copies in the lakes. What no lake has is reported and marked",
        (LossCase(_S.DONE, _L.NOT_LATER, _R.LOST_HOT), LossCase(_S.DONE, _L.NOT_LATER, _R.READS_LOST)),
    ),
    Accident(
        "the hot tier and the state store are gone or older, and the checkpoints are there",
        RESTORE_IT,
        "the same, and positions",
        (LossCase(_S.NOTHING, _L.DONE, _R.LOST_HOT), LossCase(_S.DONE, _L.LOGGED, _R.LOST_HOT)),
    ),
    Accident(
        "the hot tier, the state store and the checkpoints are gone or older, and lakes have rows behind all of them "
        "(the machine died, the lakes are in a store)",
        COMPUTE_IT,
        "the rows of the lakes, and what the sources have beyond them",
        (
            LossCase(_S.NOTHING, _L.NOT_LATER, _R.LOST_HOT),
            LossCase(_S.DONE, _L.NOT_LATER, _R.LOST_HOT, _BEYOND),
            LossCase(_S.DONE, _L.LOGGED, _R.LOST_HOT, _BEYOND),
        ),
    ),
    Accident(
        "the hot tier is lost while a flow runs, or an epoch is in hand",
        COMPUTE_IT,
        "the rows of the lakes, and what the sources have beyond them",
        (LossCase(_S.IN_HAND, _L.NOT_LATER, _R.LOST_HOT), LossCase(_S.DONE, _L.HALF, _R.LOST_HOT)),
    ),
    Accident(
        "a lake that a flow writes first is gone or older",
        COMPUTE_IT,
        "what the SQL makes of the sources",
        (LossCase(_S.DONE, _L.NOT_LATER, _R.LOST_LAKE), LossCase(_S.NOTHING, _L.DONE, _R.LOST_LAKE)),
    ),
    Accident(
        "a table is older than what another flow has read of it",
        COMPUTE_IT,
        "what the SQL makes of the sources, in the tables of both flows",
        (LossCase(_S.DONE, _L.NOT_LATER, _R.READ_AHEAD), LossCase(_S.NOTHING, _L.DONE, _R.READ_AHEAD)),
    ),
    Accident(
        "tables have rows, and no record says which",
        COMPUTE_IT,
        "what the SQL makes of the sources",
        (LossCase(_S.NOTHING, _L.NOT_LATER, _R.MORE), LossCase(_S.DONE, _L.UNKNOWN, _R.AS_LEFT)),
    ),
    Accident(
        "a part was put back from a copy after the flow had run on without it: tables and the state store have epochs "
        "of the same numbers, and not the same epochs",
        COMPUTE_IT,
        "the rows that the tables have, and what the SQL makes of the sources",
        (LossCase(_S.DONE, _L.UNKNOWN, _R.MORE),),
    ),
    Accident(
        "another program wrote rows to a hot table",
        RESTORE_IT,
        "the rows stay, and the flow goes on",
        (LossCase(_S.DONE, _L.NOT_LATER, _R.MORE),),
    ),
    Accident(
        "a copy in a lake is gone or older, or has rows of another history of its flow",
        RESTORE_IT,
        "the copy, from the first tier; not the rows that the first tier dropped",
    ),
    Accident(
        "a file of a lake is damaged (SH400), and there is no copy of the file",
        "what the hint says: `mv` of the table's folder, then `streamhouse restore`",
        "as for a lake, or a copy in a lake, that is gone",
    ),
    Accident("nothing of this helps", REBUILD_IT, "what the sources still have"),
)
