"""A question about one branch of a segment lets the others go on: nothing is lost, and nothing is there twice."""

import os
import signal
import subprocess
import threading
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamhouse.change.change_request import ask
from streamhouse.change.detach import endangered
from streamhouse.engine.points import KILL_AT
from streamhouse.errors import BlockedError
from streamhouse.ingest.kinds import open_source
from streamhouse.jobs.run import Meter, carry
from streamhouse.model.outcome import Outcome
from streamhouse.model.version import table_at
from streamhouse.project.compare import Applied, compare
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.open import Open, plan_of
from streamhouse.runtime.stores import open_stores
from streamhouse.state.records import Phase
from tests import patience
from tests.flows import command
from tests.gate.levels import soak
from tests.live import drop_tables
from tests.oracle import assert_same_rows, batch
from tests.patience import PATIENCE_S

pytestmark = [pytest.mark.services, pytest.mark.spark]

FLOW = "aside"
ACTIONS = {
    "take": ("ingest", "{rows: {}}", "{}", "SELECT * FROM rows"),
    "few": ("ingest", "{rows: {id: bigint, shop: string}}", "{}", "SELECT id, shop FROM rows"),
    "clean": ("clean", "{rows: {id: bigint, shop: string, cents: bigint}}", "{extra_columns: pass}",
              "SELECT id, shop, cents FROM rows WHERE cents > 0"),
    "totals": ("aggregate", "{rows: {shop: string, cents: bigint}}", "{}",
               "SELECT shop, SUM(cents) AS cents, COUNT(*) AS sold FROM rows GROUP BY shop"),
    "visits": ("aggregate", "{rows: {id: bigint, shop: string}}", "{}",
               "SELECT shop, COUNT(*) AS visits FROM rows GROUP BY shop"),
    "both": ("customize", "{sold: {shop: string, cents: bigint}, seen: {shop: string, visits: bigint}}",
             "{primary_key: [shop]}",
             "SELECT s.shop, s.cents, v.visits FROM sold AS s JOIN seen AS v ON v.shop = s.shop"),
}  # fmt: skip
YAML = f"""\
flow: {FLOW}
freshness: 200ms
schema_change: {{tables: {{ods.as_orders: freeze}}}}
sources: {{rows: {{files: {{path: data/*.parquet}}}}}}
steps:
  - {{use: take, reads: {{rows: rows}}, writes: ods.as_orders}}
  - {{use: few, reads: {{rows: rows}}, writes: ods.as_few}}
  - {{use: clean, reads: {{rows: ods.as_orders}}, writes: dwd.as_orders}}
  - {{use: totals, reads: {{rows: dwd.as_orders}}, writes: dws.as_totals}}
  - {{use: visits, reads: {{rows: ods.as_few}}, writes: dws.as_visits}}
  - {{use: both, reads: {{sold: dws.as_totals, seen: dws.as_visits}}, writes: ads.as_both}}
"""
STANDS = ("ods.as_orders", "dwd.as_orders", "dws.as_totals", "ads.as_both")
GOES_ON = ("ods.as_few", "dws.as_visits")
ROWS = 40


class World:
    """The flow, whose source gets a column that one branch of it may not take."""

    def __init__(self, open_):
        self.open, self.root, self.state = open_, open_.project.root, open_.state
        self.files = 0

    def add(self, *, grown=False):
        """One more file; `grown`: with the column."""
        ids = range(self.files * ROWS, (self.files + 1) * ROWS)
        columns = {
            "id": pa.array(ids, pa.int64()),
            "shop": pa.array([f"s{i % 7}" for i in ids]),
            "cents": pa.array([i % 90 - 10 for i in ids], pa.int64()),
        }
        if grown:
            columns["note"] = pa.array([f"n{i}" for i in ids])
        pq.write_table(pa.table(columns), self.root / ".new")
        (self.root / ".new").replace(self.root / "data" / f"{self.files:04}.parquet")
        self.files += 1

    @property
    def plan(self):
        """As applied."""
        return self.state.plan(FLOW)[1]

    def rows(self, table):
        stored = table_at(self.plan.tables[table], self.state.versions())
        return self.open.stores[stored.tiers.target].read_state(stored)

    def seen(self):
        """How many rows of the source the branch that goes on has counted."""
        return sum(row["visits"] for row in self.rows("dws.as_visits").to_pylist())

    def run(self):
        """Drain the flow; a look comes first."""
        plan = plan_of(self.open.project, FLOW)
        return carry(self.open, plan, Meter(plan, lambda _: None, once=True), once=True, follow=True)

    @contextmanager
    def running(self):
        """The flow runs in a thread; gives how to wait for something, and its runners."""
        runners, failed = [], []
        plan = plan_of(self.open.project, FLOW)

        def run():
            try:
                meter = Meter(plan, lambda _: None, once=False)
                carry(self.open, plan, meter, once=False, follow=True, on_execution=runners.append)
            except BlockedError:
                pass
            except Exception as error:  # noqa: BLE001  told to the test
                failed.append(error)

        def until(condition, what=""):
            def look():
                found = condition()
                assert found or not failed, failed
                return found

            patience.until(look, what=what)

        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield until, runners
        finally:
            for runner in runners:
                runner.stop()
            thread.join(PATIENCE_S)
        assert not failed, failed

    def decide(self, *, grant):
        [question] = [one for one in self.state.approvals.list(FLOW) if one.asks.startswith("follow")]
        self.state.approvals.decide(question.id, grant=grant, by="ann", reason="so be it")

    def assert_stands(self, files):
        """The branch that is asked about holds the rows of so many files, each once."""
        assert sorted(self.rows("ods.as_orders")["id"].to_pylist()) == list(range(files * ROWS))
        wanted = [i for i in range(files * ROWS) if i % 90 - 10 > 0]
        assert sorted(self.rows("dwd.as_orders")["id"].to_pylist()) == wanted
        assert sum(row["sold"] for row in self.rows("dws.as_totals").to_pylist()) == len(wanted)

    def assert_equals_batch(self):
        plan = self.plan
        sources = {}
        for source in plan.sources:
            opened = open_source(source, self.root)
            sources[source.name] = opened.read({}, opened.available())
        wanted = batch(self.open.spark, plan, sources)
        for name in plan.tables:
            assert_same_rows(self.rows(name), wanted[name], key=plan.tables[name].primary_key, name=name)


@pytest.fixture
def world(tmp_path, fluss, spark):
    for folder in ("actions", "flows", "data"):
        (tmp_path / folder).mkdir()
    for name, (step, inputs, output, sql) in ACTIONS.items():
        header = f"action: {name}\nstep: {step}\ninputs: {inputs}\noutput: {output}\n"
        (tmp_path / "actions" / f"{name}.sql").write_text(f"/* ---\n{header}--- */\n{sql}\n")
    (tmp_path / "flows" / f"{FLOW}.yaml").write_text(YAML)
    (tmp_path / "streamhouse.yaml").write_text(f"fluss: {fluss}\nauto_apply: all\n")
    project = Project(tmp_path, Settings(fluss=fluss, auto_apply="all"))
    stores = open_stores(project, spark, fluss)
    with project.state() as state:
        made = World(Open(project, spark, fluss, stores, state))
        made.add()
        yield made
        drop_tables(made.open)
    for store in stores.values():
        store.close()


def test_the_others_go_on_while_a_branch_waits_and_all_is_as_if_it_never_had(world):
    with world.running() as (until, runners):
        until(lambda: world.state.last_epoch(FLOW, "main") is not None)
        world.add(grown=True)
        until(lambda: world.state.approvals.list(FLOW), "nobody was asked")
        until(lambda: world.plan.aside, "nothing was set aside")
        world.add(grown=True)
        until(lambda: world.seen() == 3 * ROWS, "the others stand still")
        [held] = runners[0].paused
        assert [step.id for s in world.plan.segments if s.name == held for step in s.steps] == list(STANDS)
        world.assert_stands(1)
        later = datetime.now(UTC) + timedelta(days=4)
        [(table, text)] = endangered(world.open, runners[0].plan, [held], later)
        assert table == "dws.as_visits"
        assert "ads.as_both, which is paused, has not read" in text
        assert not list(endangered(world.open, runners[0].plan, [held], datetime.now(UTC)))
        world.decide(grant=True)
        until(lambda: world.rows("ods.as_orders").num_rows == 3 * ROWS, "it did not go on")
        until(lambda: not world.plan.aside, "it runs apart for ever")
        world.add(grown=True)
        until(lambda: world.rows("ads.as_both").num_rows == 7 and world.seen() == 4 * ROWS)
        until(lambda: world.rows("ods.as_orders").num_rows == 4 * ROWS)
        until(lambda: sum(row["visits"] for row in world.rows("ads.as_both").to_pylist()) == 4 * ROWS)
    assert [segment.name for segment in world.plan.segments] == ["main"]
    notes = {row["id"]: row["note"] for row in world.rows("ods.as_orders").to_pylist()}
    assert notes == {i: None if i < ROWS else f"n{i}" for i in range(4 * ROWS)}
    world.assert_equals_batch()


@soak
def test_what_stood_through_restarts_goes_on_from_its_positions_when_a_person_refuses(world):
    world.run()
    for files in (2, 3):
        world.add(grown=True)
        with pytest.raises(BlockedError, match=r"main-aside\.ods\.as_orders waits for a person's word"):
            world.run()
        assert world.seen() == files * ROWS
        world.assert_stands(1)
    world.decide(grant=False)
    world.run()
    world.assert_stands(3)
    assert [segment.name for segment in world.plan.segments] == ["main"]
    world.add(grown=True)
    world.run()
    world.assert_stands(4)
    assert "note" not in world.rows("ods.as_orders").column_names
    world.assert_equals_batch()


@soak  # two changes of a running flow, one with its audit
def test_a_table_is_built_anew_as_of_where_it_stands(world):
    """An edit of a step that stands is carried out there; one of what it reads waits for the answer."""
    world.run()
    world.add(grown=True)
    with world.running() as (until, _):
        until(lambda: world.seen() == 2 * ROWS)
        world.add(grown=True)

        def edit(name, old, new):
            file = world.root / "actions" / f"{name}.sql"
            file.write_text(file.read_text().replace(old, new))
            compared = compare(plan_of(world.open.project, FLOW), Applied.of(world.state), {})
            assert compared.found.outcome is Outcome.REBUILD
            change = ask(world.state, compared, "test")
            until(lambda: not world.state.change(change.id).is_open)
            return world.state.change(change.id)

        done = edit("totals", "SUM(cents) AS cents", "SUM(cents * 2) AS cents")
        assert done.phase is Phase.APPLIED, done.error
        assert "dws.as_totals" in done.versions
        world.assert_stands(1)
        failed = edit("visits", "COUNT(*) AS visits", "COUNT(*) * 1 AS visits, MAX(id) AS newest")
        assert failed.phase is Phase.FAILED
        assert "is paused for something that waits" in failed.error
        until(lambda: world.seen() == 3 * ROWS)
        world.assert_stands(1)
    file = world.root / "actions" / "visits.sql"
    file.write_text(file.read_text().replace("COUNT(*) * 1 AS visits, MAX(id) AS newest", "COUNT(*) AS visits"))
    world.decide(grant=True)
    world.run()
    world.assert_stands(3)
    world.assert_equals_batch()


@soak  # a process of its own for each
@pytest.mark.parametrize(
    "point",
    [
        "apply_prepared",
        "apply_completed",
        "during_write:dws.as_visits",
        "between_writes:ods.as_few",
        "before_commit_log",
    ],
)
def test_killed_while_a_branch_is_set_aside(world, point):
    world.run()
    world.add(grown=True)

    def killed():
        output, environment = world.root / "output", {**os.environ, KILL_AT: point}
        with output.open("w") as file:
            program = command(world.open.project, FLOW)
            done = subprocess.run(program, env=environment, stdout=file, stderr=file, timeout=PATIENCE_S, check=False)
        assert done.returncode == -signal.SIGKILL, output.read_text()

    killed()
    for _ in range(2):  # the first run ends what was half done
        with pytest.raises(BlockedError):
            world.run()
    world.assert_stands(1)
    assert world.seen() == 2 * ROWS
    world.decide(grant=True)
    killed() if point.startswith("apply") else None
    world.run()
    world.assert_stands(2)
    world.run()
    assert not world.plan.aside
    world.assert_equals_batch()
