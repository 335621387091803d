"""Numbers of epochs."""

from streamhouse.autopilot.epoch_figures import rows_read
from streamhouse.ingest.tables.places import whole
from streamhouse.state.records import EpochRecord


def test_places_in_a_table_of_others_are_no_rows():
    ends = {"orders": whole(5).position, "events": {"0": 7}}
    assert rows_read(EpochRecord("f", "s", 1, 1, 1, 1, start={"events": {"0": 3}}, end=ends)) == 4
