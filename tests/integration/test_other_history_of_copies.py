"""A copy in a lake that was put back from a copy, after the flow had run on without it: it has rows of other epochs."""

import subprocess
from contextlib import contextmanager

import pytest

from streamhouse.errors import StreamhouseError, TableLostError
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.lost_tables import LossKind
from tests.drills import WARM_FLOWS, drill
from tests.gate.levels import deep, soak

pytestmark = [pytest.mark.spark, deep("two histories of a project are run, and a copy of one is put into the other")]

FLOWS = {name: yaml.replace("{warm: 30d}", "{warm: 30d, cold: forever}") for name, yaml in WARM_FLOWS.items()}
HOT_FLOWS = {name: yaml.replace("{warm: 30d}", "{hot: 7d, cold: forever}") for name, yaml in WARM_FLOWS.items()}
OTHER_FILE = 7  # that the second history reads in place of the later files of the first


def one_epoch(d):
    d.add()
    d.run()
    d.tier()


@contextmanager
def put_together(d, pieces):
    """The second history, with pieces of the first one."""
    d.compose(pieces, "branch")
    for file in (d.root / "data").glob("*.csv"):
        if int(file.stem) > OTHER_FILE:
            file.unlink()
    d.files = OTHER_FILE + 1
    d.begin()
    try:
        yield
    finally:
        d.end()


@pytest.fixture(scope="module")
def histories(tmp_path_factory, spark):
    """Images: `old`; `now` and `far`, which went on from it by one epoch and by two; `branch`, by another one."""
    with drill(tmp_path_factory.mktemp("other") / "project", spark, FLOWS) as d:
        for image in ("old", "now", "far"):
            d.begin()
            one_epoch(d)
            d.end()
            d.save(image)
        for number in (1, 2):
            (d.root / "data" / f"{number:04}.csv").unlink()
        d.compose({}, "old")
        d.files = OTHER_FILE
        d.begin()
        one_epoch(d)
        assert d.differences() == {}
        d.end()
        d.save("branch")
        yield d


@pytest.mark.parametrize("image", ["now", pytest.param("far", marks=soak)])
def test_a_copy_of_another_history_is_named_and_comes_back(histories, image):
    d = histories
    with put_together(d, {"cold": image}):
        assert len(d.differences()) == len(("ods.one cold", "dwd.two cold")), "the copies have rows of other files"
        found = d.looked().lost
        assert {(one.flow, one.tier, one.tables) for one in found} == {
            ("f", "cold", ("ods.one",)),
            ("f", "cold", ("dwd.two",)),
        }
        assert all("another epoch 1 of f/lake" in one.what and "streamhouse restore f" in one.hint for one in found)
        with pytest.raises(TableLostError, match="another epoch 1 of f/lake"):
            d.tier()
        [done] = d.restore()
        assert [text for text in done.did if "filled again from the first tier" in text]
        assert d.differences() == {}
        assert d.looked().lost == []
        one_epoch(d)
        assert d.differences() == {}


@soak
def test_a_first_tier_that_is_gone_beside_a_copy_of_another_history(histories):
    """No row of such a copy stays."""
    d = histories
    with put_together(d, {"cold": "now", "warm": None}):
        with pytest.raises(StreamhouseError, match="restore f --from-sources"):
            d.restore()
        d.restore(from_sources=True)
        one_epoch(d)
        assert d.differences() == {}


@soak
def test_copies_stay_where_the_state_store_is_the_one_of_another_history(histories):
    """The first tiers have other epochs than the state store as well: their copies may have the only rows."""
    d = histories
    with put_together(d, {"state": "now"}):
        assert [(one.kind, one.tables) for one in d.looked().lost] == [(LossKind.STATE, ())]
        with pytest.raises(StreamhouseError, match="restore f --from-sources"):
            d.restore()
        [done] = d.restore(from_sources=True)
        assert not [text for text in done.did if "filled again" in text]
        one_epoch(d)
        assert d.differences() == {}


@soak
@pytest.mark.services
def test_a_hot_table_that_is_lost_beside_a_copy_of_another_history(tmp_path, spark):
    """No row of the copy is taken, and none is removed, until a person has moved it away."""
    with drill(tmp_path / "project", spark, HOT_FLOWS) as d:
        d.lose_cold()
        cold = {"warehouse": str(d._cold)}
        d.project = Project(d.root, Settings.model_validate({"auto_apply": "all", "cold": cold}))
        for image in ("old", "now"):
            d.begin()
            one_epoch(d)
            d.end()
            d.save(image)
        (d.root / "data" / "0001.csv").unlink()
        d.compose({}, "old")
        d.files = OTHER_FILE
        d.begin()
        one_epoch(d)
        d.end()
        d.save("branch")
        d.compose({"cold": "now", "hot": None}, "branch")
        d.begin()
        for _ in ("ods.one", "dwd.two"):
            lost = "its hot table is lost, and its copy in the cold tier"
            with pytest.raises(StreamhouseError, match=lost) as refused:
                d.restore(from_sources=True)
            moved, typed = refused.value.hint.removeprefix("bring the right copy back; without one: ").split("; ")
            assert typed == "streamhouse restore f --from-sources"
            subprocess.run(moved, shell=True, check=True)
        d.restore(from_sources=True)
        one_epoch(d)
        assert d.differences() == {}
