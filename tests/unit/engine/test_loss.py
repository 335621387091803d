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

CASES = [LossCase(*one) for one in product(StateRecord, LaterEpoch, SegmentRows, CopyReach)]
TAKES_OVER = {LossVerdict.TAKE_OVER, LossVerdict.TAKE_OVER_AND_FILL}
FILLS = {LossVerdict.FILL, LossVerdict.TAKE_OVER_AND_FILL}


def wrong_with(case):
    """What is unsafe about the verdict of a case; nothing is the right answer."""
    rule = judged(case)
    verdict = rule.verdict
    lost = case.rows in (SegmentRows.LOST_HOT, SegmentRows.LOST_LAKE, SegmentRows.READS_LOST, SegmentRows.READ_AHEAD)
    not_begun = case.rows is SegmentRows.READS_LOST and case.recorded is StateRecord.NOTHING
    if verdict is LossVerdict.GO_ON:
        if case.others not in (LaterEpoch.NOT_LATER, LaterEpoch.LOGGED):
            yield "rows of a later epoch would come twice"
        if lost and not not_begun:
            yield "a lost table is taken for a whole one"
        if case.rows is SegmentRows.MORE and case.recorded is not StateRecord.IN_HAND:
            yield "rows of which nothing is known are taken for its own"
    if verdict in TAKES_OVER and case.others in (LaterEpoch.NOT_LATER, LaterEpoch.UNKNOWN):
        yield "positions are taken from a record that has none"
    if verdict in TAKES_OVER and case.others is LaterEpoch.LOGGED and case.rows is SegmentRows.AS_LEFT:
        yield "Spark's log is believed, though the tables are older"
    if verdict in FILLS:
        if case.rows not in (SegmentRows.LOST_HOT, SegmentRows.READS_LOST):
            yield "there is nothing to fill"
        if case.copies is not CopyReach.WITHIN:
            yield "rows of the lakes come twice"
        if case.others is LaterEpoch.HALF or (verdict is LossVerdict.FILL and case.recorded is not StateRecord.DONE):
            yield "it is unknown which rows of an epoch the lakes have"
    if lost and not not_begun and verdict not in FILLS | {LossVerdict.COMPUTE}:
        yield "nothing brings the rows back"
    if "streamhouse restore f" not in hint("f", verdict):
        yield "no command is named"


def test_every_combination_has_a_safe_verdict():
    assert {str(case): found for case in CASES if (found := [*wrong_with(case)])} == {}


def test_every_rule_decides_something():
    assert {judged(case) for case in CASES} == set(RULES)
