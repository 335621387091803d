"""Flows over partitioned hot tables: days that appear, and days that are dropped while others follow."""

import random
import shutil
from datetime import date, timedelta
from pathlib import Path

import pytest

from streamhouse.ingest.kinds import open_source
from streamhouse.jobs.run import Meter, carry
from streamhouse.model.types import Tier
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.open import Open, plan_of
from streamhouse.runtime.stores import open_stores
from tests.gate.levels import deep
from tests.oracle import assert_same_rows, batch

FIXTURE = Path(__file__).parents[1] / "fixtures" / "partitioned"
FIRST = date(2026, 11, 18)
STORES = ("north", "south", "east")

pytestmark = [
    pytest.mark.services,
    pytest.mark.spark,
    deep("days over a flow; tests/contract/test_hot_partitions.py has each rule"),
]


class Flows:
    """The project's flows, run in this process."""

    def __init__(self, root, spark, fluss, local_epoch_rows):
        for folder in ("actions", "flows"):
            shutil.copytree(FIXTURE / folder, root / folder)
        for flow in (root / "flows").iterdir():
            flow.write_text(f"{flow.read_text()}local_epoch_rows: {local_epoch_rows}\n")
        (root / "data").mkdir()
        self.project, self.spark, self.fluss = Project(root, Settings(fluss=fluss)), spark, fluss
        self.stores = open_stores(self.project, spark, fluss)
        self.hot = self.stores[Tier.HOT]
        self._random, self._orders = random.Random(7), 0

    def plan(self, flow):
        return plan_of(self.project, flow)

    @property
    def tables(self):
        return self.plan("days").tables | self.plan("follow").tables

    def sell(self, number, days, rows=300):
        """A file of lines, some of which are new lines of an order of before."""
        lines = ["order_id,cents,sold_at,store"]
        for _ in range(rows):
            order = self._random.randrange(self._orders - 40, self._orders + 1) if self._orders > 40 else self._orders
            self._orders = max(self._orders, order + 1)
            day, store = self._random.choice(days), self._random.choice(STORES)
            lines.append(f"{order},{self._random.randrange(1000)},{day} 12:00:00,{store}")
        (self.project.root / "data" / f"{number}.csv").write_text("\n".join(lines) + "\n")

    def run(self, flow):
        plan = self.plan(flow)
        with self.project.state() as state:
            open_ = Open(self.project, self.spark, self.fluss, self.stores, state)
            carry(open_, plan, Meter(plan, lambda _: None, once=True), once=True)

    def expected(self):
        plan = self.plan("days")
        opened = open_source(plan.sources[0], self.project.root)
        own = batch(self.spark, plan, {"rows": opened.read({}, opened.available())})
        return own | batch(self.spark, self.plan("follow"), {}, own)

    def compare(self, *names, without=()):
        expected = self.expected()
        for name in names or self.tables:
            table, rows = self.tables[name], expected[name]
            actual = self.hot.read_state(table)
            if table.partition_by:
                kept = [day not in without for day in rows.column("sold_on").to_pylist()]
                rows = rows.filter(kept)
            assert rows.num_rows
            assert_same_rows(actual, rows, key=table.primary_key, name=name)

    def close(self):
        for table in self.tables.values():
            self.hot.drop(table.name)
        for store in self.stores.values():
            store.close()


@pytest.fixture(params=[pytest.param(20_000, id="driver"), pytest.param(1, id="executors")])
def flows(tmp_path, spark, fluss, request):
    opened = Flows(tmp_path, spark, fluss, request.param)
    yield opened
    opened.close()


def test_days_that_appear_and_days_that_are_dropped(flows):
    days = [FIRST + timedelta(days=n) for n in range(6)]
    for number in range(3):
        flows.sell(number, days[number : number + 2])
        flows.run("days")
        if number != 1:
            flows.run("follow")
    flows.compare()
    sales, spent = flows.tables["ods.sales"], flows.tables["dws.spent"]
    assert flows.hot.partitions(sales) == flows.hot.partitions(spent) == [(day,) for day in days[:4]]

    flows.sell(3, [days[1], days[4]])
    flows.run("days")
    for table in (sales, spent):  # one day was read, one was not read to its end
        assert flows.hot.drop_partitions(table, [(days[0],), (days[1],)]) == [(days[0],), (days[1],)]
    flows.run("follow")
    flows.sell(4, [days[4], days[5]])
    for flow in ("days", "follow"):
        flows.run(flow)
    flows.compare("ods.sales", "dws.spent", without=days[:2])
    flows.compare("dwd.orders")
    kept = [row for row in flows.hot.read_state(flows.tables["dws.followed"]).to_pylist() if row["sold_on"] > days[1]]
    assert sorted(map(str, kept)) == sorted(map(str, flows.hot.read_state(spent).to_pylist()))

    flows.sell(5, [days[0], days[5]])  # a row that comes late makes its day anew
    for flow in ("days", "follow"):
        flows.run(flow)
    assert (days[0],) in flows.hot.partitions(sales)
    late = sum(1 for row in flows.hot.read_state(sales).to_pylist() if row["sold_on"] == days[0])
    assert 0 < late < 300
    flows.compare("dwd.orders")
