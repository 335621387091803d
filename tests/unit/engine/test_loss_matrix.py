"""Every loss of a small project, played through by the rules: no row is passed over, and none comes twice.

A project is played as the epochs that each of its parts has: a flow of a hot table with a copy in a lake, and a table
whose first tier is a lake. Epoch 1 is in the older images, 2 in those of now, 3 is newer than the rest, or in hand.
"""

from dataclasses import dataclass, replace
from itertools import product

from streamhouse.engine.loss import CopyReach, LaterEpoch, LossCase, LossVerdict, SegmentRows, judged
from tests.loss_images import FILLS, GONE, NOW, OLD, later_of, recorded_of


@dataclass(frozen=True)
class Parts:
    """The last epoch that each part of a project has, whole; `GONE`: the part is lost.

    Attributes:
        half: The epoch behind that of the state store is in hand: some tables have rows of it.
    """

    hot: int = NOW
    lake: int = NOW
    copy: int = NOW
    state: int = NOW
    checkpoints: int = NOW
    half: bool = False


def case_of(p):
    """What is seen of the parts, as `jobs/positions.py` does, and where another record says that the flow is."""
    noted = max(p.hot, p.lake)  # each table has notes of its epochs
    others, later = later_of(p.state + p.half, noted, p.checkpoints)
    position = p.state if later is None else later
    rows = SegmentRows.AS_LEFT
    left = noted if others is LaterEpoch.DONE else p.state
    if p.hot < max(left, p.copy) or not p.hot:
        rows = SegmentRows.LOST_HOT
    elif p.half or p.hot > max(left, p.state):
        rows = SegmentRows.MORE
    short = left if rows is not SegmentRows.LOST_HOT or others is not LaterEpoch.LOGGED else p.checkpoints
    if p.lake < short or not p.lake:
        rows = SegmentRows.LOST_LAKE
    copies = CopyReach.BEYOND if p.copy > position else CopyReach.WITHIN
    return LossCase(recorded_of(p.state, is_half=p.half), others, rows, copies), position


def wrong(p):
    """What is wrong with what the rules make of the parts; None: nothing."""
    case, position = case_of(p)
    verdict = judged(case).verdict
    if verdict is LossVerdict.COMPUTE:
        return None  # by the sources, or it is refused
    hot, lake = p.hot, p.lake
    if verdict in FILLS:
        hot = p.copy  # what it lacks up to the position is named
        if hot > position:
            return "rows of the copy come twice"
        hot = position
    if verdict in (LossVerdict.GO_ON, LossVerdict.LEAVE, LossVerdict.FILL):
        position = p.state
    if p.half and verdict is LossVerdict.GO_ON:
        return None if (hot, lake) == (p.state, p.state) else "an epoch in hand runs again over other rows"
    if hot != position or lake != position:
        return f"it goes on behind epoch {position}, the tables end behind {hot} and {lake}"
    if max(p.copy, 0) > position:
        return "the copy is ahead of the table for good"
    return None


def cells():
    """Each part gone, older, as now or newer than the rest; at rest, and with an epoch in hand."""
    for hot, lake, copy, state, checkpoints in product(range(4), repeat=5):
        yield Parts(hot, lake, copy, state, checkpoints)
    for hot, lake, copy, checkpoints in product(range(3), repeat=4):
        yield Parts(hot, lake, copy, NOW, checkpoints, half=True)


def test_every_cell_is_right_or_computed_from_the_sources_or_refused():
    found = {str(p): text for p in cells() if (text := wrong(p)) is not None}
    assert found == {}


def test_what_is_usual_needs_no_sources():
    """Else the rules could be safe by computing everything."""
    usual = [
        Parts(),
        Parts(checkpoints=GONE),
        Parts(checkpoints=OLD),
        Parts(state=GONE),
        Parts(state=OLD),
        Parts(hot=GONE),
        Parts(hot=OLD, copy=OLD),
        Parts(hot=GONE, state=GONE),
        Parts(half=True),
        Parts(half=True, checkpoints=GONE),
        Parts(OLD, OLD, OLD, OLD, NOW),
        Parts(OLD, OLD, GONE, OLD, OLD),
    ]
    assert [p for p in usual if judged(case_of(p)[0]).verdict is LossVerdict.COMPUTE] == []


def test_the_usual_machine_that_died_is_not_taken_for_a_flow_that_never_ran():
    died = Parts(hot=GONE, state=GONE, checkpoints=GONE)
    assert judged(case_of(died)[0]).verdict is not LossVerdict.GO_ON
    assert judged(case_of(replace(died, lake=GONE))[0]).verdict is LossVerdict.COMPUTE
