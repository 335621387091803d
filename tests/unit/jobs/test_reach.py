"""Whether a copy in a lake has rows behind the position at which a flow would go on: they would come twice."""

import pytest

from streamhouse.jobs.copy_marks import reaches_beyond
from streamhouse.model.types import Tier
from streamhouse.stores.mark import Mark

WRITER, TABLE = "f/main", "dwd.t"


@pytest.mark.parametrize(
    ("offsets", "left", "beyond"),
    [
        ({"0": 5}, {TABLE: {"0": 5}}, False),
        ({"0": 4, "1": 0}, {TABLE: {"0": 5}}, False),
        ({"0": 6}, {TABLE: {"0": 5}}, True),
        ({"0": 5, "1": 1}, {TABLE: {"0": 5}}, True),
        ({"0": 1}, {}, True),
        ({}, {}, False),
    ],
    ids=str,
)
def test_positions_are_compared_where_they_are_known(offsets, left, beyond):
    assert reaches_beyond(TABLE, Mark(1, Tier.HOT, offsets, {WRITER: 99}), left, WRITER, None) is beyond


@pytest.mark.parametrize(
    ("epochs", "epoch", "beyond"),
    [({WRITER: 3}, 3, False), ({WRITER: 2}, 3, False), ({WRITER: 4}, 3, True), ({}, 3, True), ({"g/main": 1}, 3, True)],
    ids=str,
)
def test_epochs_are_compared_where_only_spark_knows_how_far_a_flow_was(epochs, epoch, beyond):
    """A mark that an older version wrote says nothing: that is not taken for the answer that suits."""
    assert reaches_beyond(TABLE, Mark(1, Tier.HOT, {"0": 5}, epochs), {}, WRITER, epoch) is beyond
