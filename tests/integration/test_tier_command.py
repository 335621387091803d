"""`streamhouse tier` beside a flow, and the alarm before the hot tier drops rows that no lake has."""

import json
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from threading import Event, Thread

import pyarrow as pa
import pytest

from streamhouse.cli.main import main
from streamhouse.errors import StoreError, UnknownFlowError
from streamhouse.jobs import run as run_module
from streamhouse.jobs import tier as module
from streamhouse.jobs.run import Meter, carry, run_flows
from streamhouse.jobs.tier import tier_flows, tiering_on_request
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.model.types import Tier
from streamhouse.runtime.open import plan_of
from streamhouse.runtime.owner import this_owner
from streamhouse.state.runners import Life, WantedState
from streamhouse.stores.base import Changes, WriteContext
from streamhouse.stores.fluss import FlussStore
from streamhouse.stores.paimon import PaimonStore
from streamhouse.tiering.move import tier
from streamhouse.tiering.overdue import overdue
from tests.gate.levels import deep
from tests.live import FLOW, add, assert_equals_batch, opened_project, orders, served
from tests.patience import PATIENCE_S, until

pytestmark = deep(
    "checks beside a runner, and tables that fail",
    stays=(
        "test_a_flow_that_runs_fills_its_tiers_by_itself",
        "test_a_check_tells_what_waits_and_what_fails[alone]",
    ),
)

TIERS = """\
tables:
  ods.lv_orders: {tiers: {hot: 1d, warm: 30d}}
  dwd.lv_orders: {tiers: {hot: 1d}}
  dws.lv_spent: {tiers: {hot: 1d, cold: 90d}}
  dws.lv_average: {tiers: {hot: 1d}}
  ads.lv_best: {tiers: {hot: 1d}}
"""


@pytest.fixture
def open_(tmp_path, fluss, spark, monkeypatch):
    with opened_project(tmp_path, fluss, spark) as found:
        file = tmp_path / "flows" / f"{FLOW}.yaml"
        file.write_text(file.read_text() + TIERS)

        @contextmanager
        def as_it_is(*_, **__):
            yield found

        monkeypatch.setattr(module, "opened", as_it_is)  # else it would stop the session that all tests share
        yield found


def drain(open_):
    plan = plan_of(open_.project, FLOW)
    carry(open_, plan, Meter(plan, lambda _: None, once=True), once=True)


@pytest.mark.services
@pytest.mark.spark
def test_every_further_tier_is_filled_and_only_once(open_):
    with pytest.raises(UnknownFlowError, match="unknown flow 'live'"):
        tier_flows(open_.project, [FLOW])
    add(open_.project.root, 0)
    drain(open_)
    done = tier_flows(open_.project)
    assert {(m.table, m.target) for m in done.moved[FLOW]} == {
        ("ods.lv_orders", Tier.WARM),
        ("dws.lv_spent", Tier.COLD),
    }
    assert all(moved.rows for moved in done.moved[FLOW])
    assert not done.overdue
    again = tier_flows(open_.project, [FLOW])
    assert not any(moved.rows for moved in again.moved[FLOW])
    add(open_.project.root, 1)
    drain(open_)
    assert tier_flows(open_.project, check=True).moved == {FLOW: []}
    tier_flows(open_.project)
    for name, lake in (("ods.lv_orders", Tier.WARM), ("dws.lv_spent", Tier.COLD)):
        hot, copy = (sorted(map(str, served(open_, name, t).to_pylist())) for t in (Tier.HOT, lake))
        assert copy == hot
    assert_equals_batch(open_)


@pytest.mark.services
@pytest.mark.spark
def test_a_table_that_cannot_be_filled_leaves_the_others_alone(open_):
    add(open_.project.root, 0)
    drain(open_)
    tier_flows(open_.project)
    table = open_.state.plan(FLOW)[1].tables["ods.lv_orders"]
    open_.stores[Tier.WARM].drop(table.name)
    open_.stores[Tier.WARM].create(table.replica)
    rows = served(open_, "ods.lv_orders", Tier.HOT)
    open_.stores[Tier.WARM].write(table.replica, Changes(rows), WriteContext("somebody", 0))
    add(open_.project.root, 1)
    drain(open_)
    rounds = []

    class TwoRounds(Event):
        def wait(self, _=None):
            rounds.append(1)
            return len(rounds) == 2

    done = tier_flows(open_.project, every=timedelta(0), stop=TwoRounds())
    assert list(done.failed) == ["ods.lv_orders to warm"]
    assert served(open_, "dws.lv_spent", Tier.COLD).num_rows == served(open_, "dws.lv_spent", Tier.HOT).num_rows
    told = [event for event in open_.state.events(FLOW) if event.kind == "tiering"]
    assert len(told) == 1, "told once, though two rounds found it so"
    assert "holds rows that tiering did not write" in told[0].text
    with pytest.raises(type(done.failed["ods.lv_orders to warm"]), match="tiering did not write"):
        tier_flows(open_.project)


@contextmanager
def carried(open_):
    """As while a runner carries the flow: it does the rounds that others ask for."""
    now = datetime.now(UTC)
    open_.state.runners.ask(FLOW, WantedState.RUNNING, "test", runner="main")
    claim = open_.state.runners.claim("main", this_owner(), timedelta(minutes=5), alive=lambda _: True, now=now)
    open_.state.runners.beat(claim, Life.RUNNING, "carrying")
    with tiering_on_request(open_, "main"):
        yield


@pytest.mark.services
@pytest.mark.spark
@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside-a-runner"])
def test_a_check_tells_what_waits_and_what_fails(open_, beside, capsys):
    add(open_.project.root, 0)
    drain(open_)
    tier_flows(open_.project)
    add(open_.project.root, 1)
    drain(open_)
    check = ["tier", "--check", "--project", str(open_.project.root)]
    with carried(open_) if beside else nullcontext():
        waits = {(one.table, one.target): one.rows for one in tier_flows(open_.project, check=True).waiting}
        assert waits[("ods.lv_orders", Tier.WARM)] == 25
        assert waits[("dws.lv_spent", Tier.COLD)] > 0
        assert main([*check, "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert {one["table"]: one["rows"] for one in told["waiting"]} == {t: n for (t, _), n in waits.items()}
        tier_flows(open_.project)
        assert not any(one.rows for one in tier_flows(open_.project, check=True).waiting)
        error = StoreError("the disk is full", hint="free some")
        open_.state.troubles.failed(FLOW, "ods.lv_orders", Tier.WARM, "tiering", error)
        assert main(check) == StoreError.exit_code
        assert "the disk is full" in " ".join(capsys.readouterr().out.split())
        assert main(check[:1] + check[2:]) == 0, "a round that goes well mends it"
        assert main(check) == 0


HALF = timedelta(hours=1)  # of the time that the log keeps


@pytest.mark.services
@pytest.mark.parametrize("key", [(), ("k",)], ids=["log", "keyed"])
def test_rows_are_overdue_at_half_the_time_that_the_log_keeps_them(fluss, tmp_path, key):
    table = Table(
        name=f"ods.overdue_{len(key)}",
        columns=(Column(name="k", type="bigint"), Column(name="v", type="bigint")),
        primary_key=key,
        tiers=Tiers(hot="2h", warm="1d"),
    )
    hot, warm = FlussStore(fluss, min_log_ttl=timedelta(seconds=1)), PaimonStore(tmp_path / "warm", tmp_path / "locks")
    hot.create(table)
    assert hot.retention(table) == 2 * HALF

    def write(epoch):
        rows = pa.table({"k": pa.array(range(epoch * 5, epoch * 5 + 5), pa.int64()), "v": pa.array([epoch] * 5)})
        hot.write(table, Changes(rows), WriteContext("f/s", epoch))

    def found(later=timedelta(0)):
        return overdue(table, hot, warm, datetime.now(UTC) + later)

    write(0)
    assert found() is None, "young rows may wait"
    if not key:  # of a keyed table the first copy is made of the state, which the log's age does not touch
        assert found(HALF).rows == 5
    tier(table, hot, warm)
    assert found() is None
    write(1)
    write(2)
    assert found() is None
    late = found(HALF)
    assert late.rows == 10
    assert str(late) == (
        f"{table.name}: 10 rows older than 1h are not in the warm tier, and the log drops rows after 2h"
    )
    tier(table, hot, warm)
    assert found() is None
    hot.drop(table.name)
    hot.close()


@pytest.mark.services
@pytest.mark.spark
def test_a_flow_that_runs_fills_its_tiers_by_itself(open_, monkeypatch):
    @contextmanager
    def as_it_is(*_, **__):
        yield open_

    monkeypatch.setattr(run_module, "opened", as_it_is)
    add(open_.project.root, 0)
    runners = []

    def run():
        run_flows(open_.project, [FLOW], once=False, tier_every=timedelta(seconds=0.3), on_execution=runners.append)

    def copied(name, lake):
        stored = open_.stores[lake].columns(name)
        return 0 if stored is None else served(open_, name, lake).num_rows

    running = Thread(target=run)
    running.start()
    try:
        for number in (1, 2):
            add(open_.project.root, number)
            wanted = sum(len(orders(n)) for n in range(number + 1))

            def look(wanted=wanted):
                assert running.is_alive()
                return copied("ods.lv_orders", Tier.WARM) >= wanted

            until(look)
    finally:
        for runner in runners:
            runner.stop()
        running.join(PATIENCE_S)
    assert not running.is_alive()
    assert not [event.text for event in open_.state.events(FLOW) if event.kind in ("tiering", "retention")]
    tier_flows(open_.project)
    assert_equals_batch(open_)
    for name, lake in (("ods.lv_orders", Tier.WARM), ("dws.lv_spent", Tier.COLD)):
        hot, copy = (sorted(map(str, served(open_, name, t).to_pylist())) for t in (Tier.HOT, lake))
        assert copy == hot
