"""Upkeep that runs do by themselves: when, what it spares, and what becomes of errors."""

import os
import time
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from streamhouse.errors import StoreError
from streamhouse.jobs import upkeep as module
from streamhouse.jobs.upkeep import upkeep_beside, upkeep_once_a_day
from streamhouse.model.table import Tiers
from streamhouse.model.types import FOREVER, Tier
from streamhouse.project.settings import Settings
from streamhouse.state.records import EpochRecord, Owner
from streamhouse.state.store import StateStore
from streamhouse.stores.upkeep import Files
from tests.patience import until
from tests.unit.compiler.test_detached import plan, step

OFTEN = timedelta(milliseconds=10)


class Keeper:
    """Remembers what it was asked to do."""

    def __init__(self):
        self.expired, self.orphans, self.error, self.verified = [], 0, None, []

    def files(self, _):
        return Files(9, 9)

    def compact(self, _, *, full):
        assert not full
        if self.error:
            raise self.error

    def expire(self, _, older_than, read_from, *, unless_many):
        assert not read_from
        self.expired.append((older_than, unless_many))
        return 1

    def remove_orphans(self, *_):
        self.orphans += 1
        return 0


@pytest.fixture
def keeper(monkeypatch):
    made = Keeper()
    monkeypatch.setattr(module, "open_upkeep", lambda *_: {Tier.WARM: made})
    monkeypatch.setattr(module, "verify", lambda store, _: made.verified.append(store))
    return made


@pytest.fixture
def open_(tmp_path):
    made = plan(main=[step("ods.a", "src", tiers=Tiers(hot="7d", warm="forever"))])
    with StateStore(f"sqlite:///{tmp_path / 'state.db'}") as state:
        state.save_plan(made)
        project = SimpleNamespace(settings=Settings(), state_dir=tmp_path)
        yield SimpleNamespace(state=state, project=project, stores={Tier.HOT: "hot", Tier.WARM: "warm"}, spark=None)


def test_rounds_come_again_and_orphans_go_once_a_day(open_, keeper):
    began = datetime.now(UTC)
    with upkeep_beside(open_, ["f"], OFTEN):
        until(lambda: len(keeper.expired) >= 3)
    assert keeper.orphans == 1
    assert keeper.verified[:2] == ["hot", "warm"], "rows that another tier has lost are not removed from this one"
    older_than, unless_many = keeper.expired[-1]
    now = datetime.now(UTC)
    assert began <= older_than + timedelta(days=1) <= now
    assert began <= unless_many + timedelta(minutes=10) <= now, "somebody may be reading"
    assert open_.state.events("f") == []


def test_who_says_how_long_snapshots_are_kept_gets_all_of_them(open_, keeper):
    open_.project.settings = Settings(keep_snapshots="3d")
    with upkeep_beside(open_, ["f"], OFTEN):
        until(lambda: keeper.expired)
    older_than, unless_many = keeper.expired[0]
    assert older_than + timedelta(days=3) <= datetime.now(UTC)
    assert unless_many is None


@pytest.mark.parametrize("error", [StoreError("the lake is away"), RuntimeError("odd")])
def test_what_fails_is_told_and_the_next_round_comes(open_, keeper, error):
    keeper.error = error
    with upkeep_beside(open_, ["f"], OFTEN):
        until(lambda: open_.state.events("f"))
        keeper.error = None
        until(lambda: len(keeper.expired) > 1)
    told = {event.text for event in open_.state.events("f") if event.kind == "upkeep"}
    assert told == (
        {"ods.a in warm: SH400 the lake is away", "ods.a in warm: is kept again"}
        if isinstance(error, StoreError)
        else {"odd"}
    )
    assert open_.state.troubles.current("f") == []


def finish(open_, epoch):
    """As if the flow had finished its epochs up to this one."""
    now = datetime.now(UTC)
    lease = open_.state.acquire("f", Owner("host", 1, now), timedelta(minutes=1), now)
    open_.state.begin_epoch(lease, "main", epoch, 1, now)
    open_.state.finish_epoch(lease, EpochRecord("f", "main", epoch, 1, 1, 1))
    open_.state.release(lease)


def test_many_epochs_are_not_waited_for_so_long(open_, keeper, monkeypatch):
    monkeypatch.setattr(module, "_LOOK_S", 0.01)
    with upkeep_beside(open_, ["f"], timedelta(hours=1)):
        time.sleep(0.1)
        finish(open_, 498)
        time.sleep(0.1)
        assert not keeper.expired
        finish(open_, 499)
        until(lambda: keeper.expired)
        time.sleep(0.1)
        assert len(keeper.expired) == 1


def test_runs_that_end_soon_keep_up_after_many_epochs(open_, keeper):
    upkeep_once_a_day(open_, ["f"])
    finish(open_, 498)
    upkeep_once_a_day(open_, ["f"])
    assert not keeper.expired
    finish(open_, 499)
    upkeep_once_a_day(open_, ["f"])
    upkeep_once_a_day(open_, ["f"])
    assert len(keeper.expired) == 1


def test_nothing_is_kept_up_where_nobody_wants_it(open_, keeper):
    with upkeep_beside(open_, ["f"], FOREVER):
        time.sleep(0.05)
    assert not keeper.expired


def test_runs_that_end_soon_keep_up_once_a_day(open_, keeper, tmp_path):
    upkeep_once_a_day(open_, ["f"])
    upkeep_once_a_day(open_, ["f"])
    assert not keeper.expired, "the first one has nothing to do yet"
    (noted,) = (tmp_path / "cache" / "upkeep").iterdir()
    long_ago = time.time() - 90_000
    os.utime(noted, (long_ago, long_ago))
    upkeep_once_a_day(open_, ["f"])
    upkeep_once_a_day(open_, ["f"])
    assert (len(keeper.expired), keeper.orphans) == (1, 1)
