"""Whether rows that were not read are gone."""

from datetime import timedelta

import pytest

from streamhouse.model.schema_change import Policy
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.model.types import Tier
from streamhouse.upstream.ability import granted
from streamhouse.upstream.decide import verdict
from streamhouse.upstream.known_input import KnownInput, followed
from streamhouse.upstream.lost import changes_lost, loss_text, positions_lost, table_lost
from streamhouse.upstream.reading_step import ReadingStep

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


LOG = Table(name="ods.log", columns=(Column(name="n", type="int"),), tiers=Tiers(hot=timedelta(hours=1)))
KEYED = LOG.model_copy(update={"primary_key": ("n",)})


def test_a_table_that_is_a_log_is_read_on_behind_what_is_gone():
    event = table_lost(LOG, [{"0": 3, "1": 9}], {"0": 15, "1": 0}, NEWEST, {})
    assert (event.object, event.tier, event.lost) == ("ods.log", Tier.HOT, {"0": ((3, 15),)})
    assert table_lost(LOG, [{"0": 3, "1": 9}], {"0": 15, "1": 0}, NEWEST, event.lost) is None
    assert table_lost(LOG, [{"0": 3}], {"0": 0, "1": 4}, NEWEST, {}).lost == {"1": ((0, 4),)}, "not begun is at 0"
    assert table_lost(LOG, [{}], {"0": 15, "1": 15}, NEWEST, {}) is None, "who reads nothing yet lost nothing"


def test_nobody_goes_on_behind_lost_changes_of_a_keyed_table():
    event = table_lost(KEYED, [{"0": 3, "1": 9}], {"0": 15, "1": 0}, NEWEST, {})
    assert event.lost == {}
    assert event.detail == "12 of 0, from 3 to 15"
    assert table_lost(KEYED, [{"0": 0, "1": 0}], {"0": 15, "1": 15}, NEWEST, {}) is None, "its state stands in for it"


def test_one_loss_of_changes_in_a_lake_is_one_event_until_the_table_is_read_again():
    first = changes_lost(LOG, [{"snapshot": 3}], "no snapshot 4")
    assert first.id == changes_lost(LOG, [{"snapshot": 3}], "no snapshot 7").id
    assert first.id != changes_lost(LOG, [{"snapshot": 9}], "no snapshot 10").id


def test_what_is_read_from_its_beginning_has_other_offsets_than_those_that_were_given_up():
    known = KnownInput(LOG, skipped_ranges={"0": ((3, 15),)})
    told = verdict(changes_lost(LOG, [{"0": 3}], "gone"), ReadingStep("f", "s", LOG), Policy.EVOLVE)
    event = changes_lost(LOG, [{"0": 3}], "gone")
    found = followed(known, event, [granted(told, event)])
    assert (found.again, found.skipped_ranges) == (event.id, {})
