"""Combinations of losses: after a restore every table equals the batch, or it is said what it lacks."""

import pytest

from streamhouse.errors import StateConflictError, StoreError, StreamhouseError
from streamhouse.jobs.restore import rebuild_flows
from streamhouse.state.troubles import RESTORE
from tests.drills import WARM_FLOWS, drill
from tests.gate.levels import deep

pytestmark = [
    pytest.mark.services,
    pytest.mark.spark,
    deep(
        "each combination of losses takes half a minute",
        stays=("test_an_older_state_store_without_the_hot_tier[now]", "test_a_machine_died_and_the_lakes_are_left"),
    ),
]


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


@pytest.fixture(scope="module")
def built(tmp_path_factory, spark):
    """Images: `old`, a file in every tier; `now`, two; `ahead`, a third one that no lake has; `hand`, cut off."""
    with pytest.MonkeyPatch.context() as patched, drill(tmp_path_factory.mktemp("losses") / "project", spark) as d:
        for image in ("old", "now", "ahead"):
            d.begin()
            d.add()
            d.run()
            if image != "ahead":
                d.tier()
            assert image == "ahead" or d.differences() == {}
            d.end()
            d.save(image)
        d.begin()
        d.add()
        patched.setattr("streamhouse.engine.stream.reach", dies_at("after_last_write"))
        with pytest.raises(StoreError, match="it dies"):
            d.run()
        d.end()
        d.save("hand")
        patched.undo()
        yield d


@pytest.fixture
def lost(built):
    """Puts the project together from pieces of images, with the files of `files` images, and begins."""
    d = built

    def begin(pieces, others="now"):
        d.files = {"old": 1, "now": 2, "ahead": 3, "hand": 4}[others]
        for number in range(10):
            (d.root / "data" / f"{number:04}.csv").unlink(missing_ok=True)
        files, d.files = d.files, 0
        for _ in range(files):
            d.add()
        d.compose(pieces, others)
        d.begin()
        return d

    yield begin
    d.end()


def goes_on(d):
    """One more file, through every flow and tier; the tables that differ from the batch and are not named."""
    d.add()
    d.run()
    d.tier()
    named = {one.table for one in d.open.state.troubles.current() if one.job == RESTORE}
    return {name: text for name, text in d.differences().items() if name.split()[0] not in named}


def is_refused(d):
    with pytest.raises(StreamhouseError) as refused:
        d.run()
    return "streamhouse restore" in str(refused.value)


@pytest.mark.parametrize("others", ["now", "ahead"])
def test_an_older_state_store_without_the_hot_tier(lost, others):
    d = lost({"hot": None, "state": "old"}, others)
    assert is_refused(d)
    d.restore()
    assert goes_on(d) == {}


def test_an_older_state_store_and_checkpoints_without_the_hot_tier(lost):
    """The lakes' marks are past the last position that is known."""
    d = lost({"hot": None, "state": "old", "checkpoints": "old"})
    assert is_refused(d)
    with pytest.raises(StateConflictError, match=r"(?s)behind the last position .* restore f --from-sources"):
        d.restore()
    d.restore(from_sources=True)
    assert goes_on(d) == {}
    assert d.open.state.troubles.current() == []


def test_a_flow_that_reads_what_came_back_goes_on_at_its_end(lost):
    d = lost({"hot": None, "state": None})
    d.restore("f")
    assert goes_on(d) == {}


def test_a_machine_died_and_the_lakes_are_left(lost):
    d = lost({"hot": None, "state": None, "checkpoints": None})
    assert is_refused(d)
    with pytest.raises(StateConflictError, match="restore f --from-sources"):
        d.restore()
    d.restore(from_sources=True)
    assert goes_on(d) == {}


def test_a_hot_tier_that_is_lost_while_an_epoch_is_in_hand(lost):
    d = lost({"hot": None}, "hand")
    assert is_refused(d)
    with pytest.raises(StateConflictError, match=r"(?s)half done .* restore f --from-sources"):
        d.restore()
    d.restore(from_sources=True)
    assert goes_on(d) == {}


@pytest.mark.parametrize("pieces", [{"hot": "old"}, {"hot": None}], ids=str)
def test_a_hot_tier_that_is_older_or_gone(lost, pieces):
    d = lost(pieces)
    assert is_refused(d)
    done = d.restore()
    assert any(one.did for one in done)
    assert goes_on(d) == {}
    assert "ods.hot" in {one.table for one in d.open.state.troubles.current() if one.job == RESTORE}, "it is named"


@pytest.mark.parametrize("pieces", [{"warm": "old"}, {"warm": None}], ids=str)
def test_a_warm_tier_that_is_older_or_gone(lost, pieces):
    d = lost(pieces)
    with pytest.raises(StateConflictError, match="restore f --from-sources"):
        d.restore()
    d.restore(from_sources=True)
    assert goes_on(d) == {}


def test_tables_that_are_built_again_are_no_question_to_those_who_read_them(lost):
    d = lost({})
    plans = {name: d.plan(name) for name in d.flows}
    with pytest.raises(StateConflictError, match="restore f g --rebuild"):
        rebuild_flows(d.open, {"f": plans["f"]})
    rebuild_flows(d.open, plans)
    assert goes_on(d) == {}
    assert d.open.state.approvals.list() == []


@pytest.mark.parametrize("pieces", [{"cold": "old"}, {"cold": None}], ids=str)
def test_a_cold_tier_that_is_older_or_gone(lost, pieces):
    d = lost(pieces)
    with pytest.raises(StateConflictError, match="restore g --from-sources"):
        d.restore()
    d.restore(from_sources=True)
    assert goes_on(d) == {}
