"""A running flow is killed around the creation of hot partitions, while others make the same days and upkeep drops old.

Rows of new days arrive all the time. Each process recovers what the one before left, goes on, and dies around the
next creation. Beside them one process tiers and keeps up the same tables, and one thread makes the days of the rows
that come, as whoever prepares days ahead would.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
from collections import Counter
from contextlib import contextmanager, suppress
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from streamhouse.errors import TableMissingError
from streamhouse.ingest.kinds import open_source
from streamhouse.model.types import Tier
from streamhouse.project.project import Project
from streamhouse.runtime.open import plan_of
from streamhouse.runtime.stores import open_stores
from streamhouse.stores.fluss.partitions import name_of
from streamhouse.tiering.union import union_read
from tests import partition_points
from tests.gate.levels import soak
from tests.keeping import Keeper
from tests.oracle import assert_same_rows, batch
from tests.partition_points import DRIVER, POINTS, TASKS
from tests.patience import PATIENCE_S, SOAKING, looks, until

FIXTURE = Path(__file__).parents[1] / "fixtures" / "partitioned"
REPOSITORY = Path(__file__).parents[2]
FLOW = "days"
LOG, KEYED, TOTALS = "ods.sales", "dwd.orders", "dws.spent"
AGES = "{hot: 10d, warm: forever}"  # LOG and KEYED; the others keep all
TODAY = datetime.now(UTC).date()
STORES = ("north", "south", "east")

# `point table nth`, see `tests/partition_points.py`: each process dies there, in its recovery or in an epoch after it.
# A process whose tasks die recovers in its driver, where nothing does.
HISTORIES = {
    f"{DRIVER}-some": [
        f"before {LOG} 2",  # one of an epoch's days is there, the next one is not
        f"created {TOTALS} 1",
        f"unwritten {KEYED} 2",
    ],
}
if SOAKING:
    HISTORIES |= {
        f"{place}-{table}": [f"{point} {table} {nth}" for point in POINTS for nth in (1, 2)]
        for place in (DRIVER, TASKS)
        for table in (LOG, KEYED, TOTALS)
    }
LOCAL_EPOCH_ROWS = {DRIVER: 300_000, TASKS: 1}

pytestmark = [pytest.mark.services, pytest.mark.spark, soak]


class Days:
    """The flow's project: its files, its tables, and what they must hold."""

    def __init__(self, root, spark, fluss, local_epoch_rows):
        self.root, self.spark, self.files, self.orders = root, spark, 0, 0
        self._random = random.Random(11)
        shutil.copytree(FIXTURE / "actions", root / "actions")
        (root / "flows").mkdir()
        (root / "data").mkdir()
        text = (FIXTURE / "flows" / f"{FLOW}.yaml").read_text().replace("tiers: {hot: 7d}", "tiers: {hot: forever}")
        for table in (LOG, KEYED):
            head, found, rest = text.partition(f"  {table}: {{")
            assert found
            text = head + found + rest.replace("{hot: forever}", AGES, 1)
        (root / "flows" / f"{FLOW}.yaml").write_text(f"{text}local_epoch_rows: {local_epoch_rows}\n")
        (root / "streamhouse.yaml").write_text("keep_snapshots: 0s\n")
        self.sell()
        self.project = Project.at(root)
        self.plan = plan_of(self.project, FLOW)
        self.stores = open_stores(self.project, spark, fluss)
        self.hot = self.stores[Tier.HOT]

    def days_of(self, number):
        """Those that are new with a file: two that stay, and one that is past its time."""
        # Days to come are not past their time before long, either.
        return [TODAY + timedelta(days=2 * number), TODAY + timedelta(days=2 * number + 1), self.old(number)]

    @staticmethod
    def old(number):
        return date(2024, 1, 1) + timedelta(days=number)

    def sell(self, rows=24):
        """One more file, which appears as a whole; some of its lines are of days before, and of orders before."""
        days = self.days_of(self.files)
        known = [*days, *days, *(self.days_of(max(self.files - 1, 0)))]
        lines = ["order_id,cents,sold_at,store"]
        for line in range(rows):
            order = max(self.orders - self._random.randrange(-2, 6), 0)
            self.orders = max(self.orders, order)
            day = days[line] if line < len(days) else self._random.choice(known)
            lines.append(f"{order},{self._random.randrange(1000)},{day} 12:00:00,{self._random.choice(STORES)}")
        new = self.root / "data" / ".new"
        new.write_text("\n".join(lines) + "\n")
        new.replace(self.root / "data" / f"{self.files:04}.csv")
        self.files += 1

    def sell_when_drained(self):
        (source,) = self.plan.sources
        with self.project.state() as state:
            last = state.last_epoch(FLOW, "main")
        if last is not None and last.end.get(source.name) == open_source(source, self.root).available():
            self.sell()

    def make_ahead(self, tables):
        """Make the days of the newest file, and of the next one, that stay."""
        for number in (self.files - 1, self.files):
            for name in tables:
                with suppress(TableMissingError):  # the flow comes first
                    self.hot._catalog.create_partitions(name, [str(day) for day in self.days_of(number)[:2]])

    def kept_too_long(self):
        """Days past their time that are in the hot tier still."""
        return [day for name in (LOG, KEYED) for (day,) in self.hot.partitions(self.plan.tables[name]) if day < TODAY]

    def expected(self):
        (source,) = self.plan.sources
        opened = open_source(source, self.root)
        return batch(self.spark, self.plan, {source.name: opened.read({}, opened.available())})

    def assert_equals_batch(self):
        expected = self.expected()
        for name, table in self.plan.tables.items():
            held = union_read(table, self.stores)
            assert_same_rows(held, expected[name], key=table.primary_key, name=name)
            if not table.partition_by:
                continue
            days = set(expected[name].column("sold_on").to_pylist())
            kept = {day for day in days if day >= TODAY} if name in (LOG, KEYED) else days
            found = [day for (day,) in self.hot.partitions(table)]
            assert sorted(set(found) - set(self.days_of(self.files))) == sorted(kept), name
            times = Counter(name_of(part) for part in {bucket.partition("/")[0] for bucket in self.hot.end(table)})
            assert set(times.values()) == {1}, times

    def close(self):
        for table in self.plan.tables.values():
            for tier in table.tiers.present:
                self.stores[tier].drop(table.name)
        for store in self.stores.values():
            store.close()


@pytest.fixture
def days(tmp_path, spark, fluss, monkeypatch, place):
    paths = (str(REPOSITORY), os.environ.get("PYTHONPATH"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path for path in paths if path))
    monkeypatch.setenv("STREAMHOUSE_FLUSS", fluss)
    monkeypatch.setenv("STREAMHOUSE_SPARK_MASTER", "local[2]")
    daemon = {"spark.python.daemon.module": partition_points.MODULE}
    monkeypatch.setenv("STREAMHOUSE_SPARK_CONF", json.dumps(daemon))
    opened = Days(tmp_path, spark, fluss, LOCAL_EPOCH_ROWS[place])
    yield opened
    opened.close()


class Running:
    """`streamhouse run`, which goes on until it dies; `point`: where."""

    def __init__(self, project, point, *options):
        self.output = project.root / "output"
        given = {**os.environ, **({partition_points.DIE_AT: point} if point else {})}
        with self.output.open("w") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", partition_points.MODULE, "run", FLOW, *options, "--project", str(project.root)],
                cwd=REPOSITORY,
                env=given,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(PATIENCE_S)

    def ended(self, each=lambda: None):
        """Its exit code; `each` is called while it lives."""
        for code in looks(self.process.poll, what="the end of the process", saw=self.output.read_text):
            if code is not None:
                break
            each()
        return self.process.returncode


@contextmanager
def making_ahead(days, spared):
    """Make days beside the block, of every table that is not spared; the errors that came of it."""
    over, problems = threading.Event(), []

    def prepare():
        try:
            while not over.wait(0.05):
                days.make_ahead([name for name in (LOG, KEYED, TOTALS) if name not in spared])
        except BaseException as error:  # noqa: BLE001  told by the test
            problems.append(error)

    thread = threading.Thread(target=prepare)
    thread.start()
    try:
        yield problems
    finally:
        over.set()
        thread.join(PATIENCE_S)
    assert not problems


@pytest.mark.timeout(3600 if SOAKING else 1800)
@pytest.mark.parametrize(
    ("place", "kills"), [(name.partition("-")[0], kills) for name, kills in HISTORIES.items()], ids=list(HISTORIES)
)
def test_killed_around_the_creation_of_partitions_it_equals_the_batch(days, place, kills):
    spared = []  # by those who make days ahead: the flow dies where it creates one itself
    keeper = Keeper(days.project)
    try:
        with making_ahead(days, spared) as problems:
            for number, point in enumerate(kills):
                spared[:] = [point.split()[1]]
                days.sell()
                with Running(days.project, f"{place} {point}") as running:
                    if number == 1:  # the flow is known by now
                        keeper.go()
                    code = running.ended(days.sell_when_drained)
                    assert code == -signal.SIGKILL, f"{point}; exit {code}\n{running.output.read_text()}"
                assert not problems
            spared.clear()
            days.sell()
            with Running(days.project, None, "--once") as running:
                code = running.ended()
                assert code == 0, running.output.read_text()
        until(lambda: not days.kept_too_long(), saw=keeper.log)
    finally:
        keeper.close()
    days.assert_equals_batch()
