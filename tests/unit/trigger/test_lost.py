"""Whether rows that were not read are gone."""

import pytest

from streamhouse.trigger.lost import loss_text, positions_lost

NEWEST = {"0": 50, "1": 50}


def lost(read, oldest, given_up=None, newest=NEWEST):
    return positions_lost("shop:messages", read, {"0": 0, "1": 0, **oldest}, newest, given_up or {})


@pytest.mark.parametrize(
    ("read", "oldest", "given_up"),
    [
        ([{"0": 3}], {}, {}),
        ([{"0": 15}], {"0": 15}, {}),  # all of it was read
        ([{}], {"0": 15}, {}),  # who has not begun begins with what is there
        ([{"0": 50}], {"0": 50}, {}),  # everything was read, and is gone
        ([{"0": 3}], {"0": 15}, {"0": ((3, 15),)}),
        ([{"0": 3}], {"0": 20}, {"0": ((3, 15), (15, 20))}),
    ],
)
def test_nothing_is_gone(read, oldest, given_up):
    assert lost(read, oldest, given_up) is None


def test_what_is_gone_is_told_with_how_many_rows():
    event = lost([{"0": 3, "1": 9}, {"0": 7, "1": 2}], {"0": 15, "1": 4})
    assert event.lost == {"0": ((3, 15),), "1": ((2, 4),)}
    assert event.detail == "12 of 0, from 3 to 15; 2 of 1, from 2 to 4"
    told = "up to 14 rows of shop:messages are gone and were not read: 0: 3 to 15; 1: 2 to 4"
    assert loss_text(event) == told


def test_one_loss_is_one_event_until_it_is_given_up():
    first, more = lost([{"0": 3}], {"0": 15}), lost([{"0": 3}], {"0": 20})
    assert first.id == more.id
    assert first.lost != more.lost
    again = lost([{"0": 3}], {"0": 20}, {"0": ((3, 15),)})
    assert again.lost == {"0": ((15, 20),)}
    assert again.id != first.id


def test_a_log_that_ends_before_where_it_was_read_has_nothing_to_go_on_behind():
    event = lost([{"0": 60, "1": 3}], {"1": 9})
    assert event.lost == {}
    assert "0 ends at 50, before 60" in event.detail
    assert lost([{"2": 1}], {}).detail.startswith("2 ends at 0, before 1"), "a part that is not there any more"
