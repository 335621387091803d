"""Combinations of losses: after a restore every table equals the batch, or it is said what it lacks."""

import pytest

from streamhouse.errors import StoreError
from tests.drills import WARM_FLOWS, drill

pytestmark = [pytest.mark.services, pytest.mark.spark]


def dies_at(point):
    def reach(name, detail=""):
        if name == point:
            raise StoreError("it dies")

    return reach


@pytest.mark.parametrize("point", ["after_last_write", "after_begin"])
def test_an_epoch_that_was_cut_off_and_lost_its_offsets(tmp_path, spark, monkeypatch, point):
    """What it wrote is not passed over, and the rows that came meanwhile are not either."""
    with drill(tmp_path / "project", spark, WARM_FLOWS) as d:
        d.begin()
        d.add()
        d.run()
        d.add()
        with monkeypatch.context() as patched:
            patched.setattr("streamhouse.engine.stream.reach", dies_at(point))
            with pytest.raises(StoreError, match="it dies"):
                d.run()
        assert d.open.state.unfinished("f", "lake") == 1
        (d.folder / "checkpoints" / "f" / "lake" / "0" / "offsets" / "1").unlink()
        for _ in range(2):
            d.add()
            d.run()
            assert d.differences() == {}
