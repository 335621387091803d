"""Every combination of losses has a verdict, and 'nothing is missing' is said only when the records agree."""

from itertools import product

from streamhouse.engine.loss import (
    RULES,
    CopyReach,
    LaterEpoch,
    LossCase,
    LossVerdict,
    SegmentRows,
    StateRecord,
    hint,
    judged,
)
from tests.tables import each

CASES = [LossCase(*one) for one in product(StateRecord, LaterEpoch, SegmentRows, CopyReach)]
TAKES_OVER = {LossVerdict.TAKE_OVER, LossVerdict.TAKE_OVER_AND_FILL}
FILLS = {LossVerdict.FILL, LossVerdict.TAKE_OVER_AND_FILL}


@each("case", CASES, ids=str)
def test_every_combination_has_a_verdict(case):
    verdict = judged(case).verdict
    lost = case.rows in (SegmentRows.LOST_HOT, SegmentRows.LOST_LAKE, SegmentRows.READS_LOST)
    if verdict is LossVerdict.GO_ON:
        assert case.others is LaterEpoch.NOT_LATER
        assert not lost or (case.rows is SegmentRows.READS_LOST and case.recorded is StateRecord.NOTHING)
        assert case.rows is not SegmentRows.MORE or case.recorded is StateRecord.IN_HAND
    if verdict in TAKES_OVER:
        assert case.others in (LaterEpoch.DONE, LaterEpoch.HALF), "positions are taken only from a record that has them"
    if verdict in FILLS:
        assert case.rows in (SegmentRows.LOST_HOT, SegmentRows.READS_LOST)
        assert case.copies is CopyReach.WITHIN, "else rows of the lakes come twice"
        assert case.others is LaterEpoch.DONE or (
            case.recorded is StateRecord.DONE and case.others is LaterEpoch.NOT_LATER
        )
    if lost:
        assert verdict in FILLS | {LossVerdict.COMPUTE} or case.recorded is StateRecord.NOTHING
    assert "streamhouse restore f" in hint("f", verdict)


def test_every_rule_decides_something():
    assert {judged(case) for case in CASES} == set(RULES)
