"""A small flow over real stores that is edited while it runs."""

import threading
import time
from contextlib import contextmanager

from streamhouse.change.ask import ask
from streamhouse.errors import StreamhouseError
from streamhouse.ingest.kinds import open_source
from streamhouse.jobs.run import Meter, carry
from streamhouse.model.version import stored_name, table_at, table_name
from streamhouse.project.compare import Applied, compare
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.open import Open, plan_of
from streamhouse.runtime.stores import open_stores
from tests.oracle import assert_same_rows, batch

FLOW = "live"
ORDERS = "{order_id: int, customer: string, cents: bigint, tax: bigint}"
ACTIONS = {
    "keep": ("ingest", "{rows: {}}", "output: {extra_columns: pass}\n", "SELECT * FROM rows"),
    "valid": (
        "clean",
        f"{{rows: {ORDERS}}}",
        "output: {primary_key: [order_id]}\n",
        "SELECT order_id, customer, cents FROM rows WHERE cents > 0",
    ),
    "spent": (
        "aggregate",
        f"{{rows: {ORDERS}}}",
        "",
        "SELECT customer, SUM(cents) AS cents FROM rows GROUP BY customer",
    ),
    "average": (
        "aggregate",
        "{orders: {customer: string, cents: bigint}}",
        "",
        "SELECT customer, AVG(cents) AS cents FROM orders GROUP BY customer",
    ),
    "best": (
        "customize",
        "{customers: {customer: string, cents: bigint}}",
        "output: {primary_key: [customer]}\n",
        "SELECT customer, cents FROM customers WHERE cents > 50",
    ),
}
YAML = f"""\
flow: {FLOW}
freshness: 100ms
sources: {{orders: {{files: {{path: data/*.csv, columns: {ORDERS}}}}}}}
steps:
  - {{use: keep, reads: {{rows: orders}}, writes: ods.lv_orders}}
  - {{use: valid, reads: {{rows: ods.lv_orders}}, writes: dwd.lv_orders}}
  - {{use: spent, reads: {{rows: ods.lv_orders}}, writes: dws.lv_spent}}
  - {{use: average, reads: {{orders: dwd.lv_orders}}, writes: dws.lv_average}}
  - {{use: best, reads: {{customers: dws.lv_spent}}, writes: ads.lv_best}}
"""
TIMEOUT_S = 120


def make_project(root):
    """The files of the flow; no orders yet."""
    for folder in ("actions", "flows", "data"):
        (root / folder).mkdir()
    for name in ACTIONS:
        write_action(root, name)
    (root / "flows" / f"{FLOW}.yaml").write_text(YAML)


@contextmanager
def opened_project(root, fluss, spark):
    """The flow's project over real services, its tables gone afterwards."""
    make_project(root)
    (root / "streamhouse.yaml").write_text(f"fluss: {fluss}\nauto_apply: all\n")  # for the processes of a test
    with opened(Project(root, Settings(fluss=fluss, auto_apply="all")), fluss, spark) as found:
        yield found


@contextmanager
def opened(project, fluss, spark):
    """A project over real services, its tables gone afterwards."""
    stores = open_stores(project, spark, fluss)
    with project.state() as state:
        found = Open(project, spark, fluss, stores, state)
        yield found
        drop_tables(found)
    for store in stores.values():
        store.close()


def drop_tables(open_):
    """Drop every version of every table of the flow."""
    versions = open_.state.versions()
    tables = {n: t for _, plan in open_.state.plans().values() for n, t in plan.tables.items()}
    for name, table in tables.items():
        for version in range(1, versions.get(name, 1) + 3):
            for tier in table.tiers.present:
                open_.stores[tier].drop(stored_name(name, version))


def served(open_, name, tier=None, flow=FLOW):
    """The rows of a table, of the version that serves."""
    table = table_at(plan_of(open_.project, flow).tables[name], open_.state.versions())
    return open_.stores[tier or table.tiers.target].read_state(table)


def expected(open_):
    """Table → what the SQL of the files makes of all rows, run once."""
    plan = plan_of(open_.project, FLOW)
    sources = {}
    for source in plan.sources:
        opened = open_source(source, open_.project.root)
        sources[source.name] = opened.read({}, opened.available())
    return batch(open_.spark, plan, sources)


def assert_equals_batch(open_, *tables):
    """The tables (all, without any named) hold what `expected` gives."""
    plan, wanted = plan_of(open_.project, FLOW), expected(open_)
    for name in tables or plan.tables:
        assert_same_rows(served(open_, name), wanted[name], key=plan.tables[name].primary_key, name=name)


def write_action(root, name, sql=None):
    step, inputs, output, query = ACTIONS[name]
    (root / "actions" / f"{name}.sql").write_text(
        f"/* ---\naction: {name}\nstep: {step}\ninputs: {inputs}\n{output}--- */\n{sql or query}\n"
    )


def orders(number, rows=20):
    """Number and cents of the orders of a file, in its order; some of the one before come again."""
    first = number * rows - rows // 4 if number else 0
    return [(i, (i * 37 + number) % 90 - 10) for i in range(first, number * rows + rows)]


def add(root, number):
    """One more file of orders, which appears as a whole."""
    lines = [f"{i},c{i % 7},{cents},{i % 5}" for i, cents in orders(number)]
    new = root / "data" / ".new"
    new.write_text("\n".join(["order_id,customer,cents,tax", *lines]) + "\n")
    new.replace(root / "data" / f"{number:04}.csv")


class Live:
    """A flow that runs in a thread of this process."""

    def __init__(self, open_) -> None:
        self.open = open_
        self.root = open_.project.root
        self.beats = []
        self.files = 0
        self._runners = []
        self._thread = threading.Thread(target=self._run)
        self.error = None

    def _run(self):
        plan = plan_of(self.open.project, FLOW)
        try:
            carry(
                self.open,
                plan,
                Meter(plan, lambda _: None, once=False),
                once=False,
                on_runner=self._runners.append,
            )
        except StreamhouseError as error:
            self.error = error

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        for runner in self._runners:
            runner.stop()
        self._thread.join(60)

    def add(self):
        add(self.root, self.files)
        self.files += 1

    def until(self, condition, what=""):
        end = time.monotonic() + TIMEOUT_S
        while not condition():
            if self.error:
                raise self.error
            assert time.monotonic() < end, what
            time.sleep(0.05)

    def drained(self):
        """Wait until every file is in every layer."""
        plan = plan_of(self.open.project, FLOW)
        (source,) = plan.sources
        wanted = open_source(source, self.root).available()

        def there():
            last = {s.name: self.open.state.last_epoch(FLOW, s.name) for s in plan.segments}
            if None in last.values():
                return False
            ends = {table_name(name): end for r in last.values() for name, end in r.ends.items()} | {"orders": wanted}
            read = {s.name: {table_name(name): end for name, end in last[s.name].end.items()} for s in plan.segments}
            return all(
                read[s.name].get(name) == ends[name] for s in plan.segments for name in s.reads if name not in s.tables
            )

        self.until(there, "the rows did not come through")

    def epoch(self):
        return self.open.state.last_epoch(FLOW, "main").epoch

    def isolate(self, table):
        """Give the step that writes a table a clock of its own."""
        file = self.root / "flows" / f"{FLOW}.yaml"
        file.write_text(file.read_text().replace(f"writes: {table}}}", f"writes: {table}, isolate: true}}"))

    def apply(self, choices=None):
        """Ask for what the files say, and wait until it is done; the change."""
        state = self.open.state
        compared = compare(plan_of(self.open.project, FLOW), Applied.of(state), {})
        change = ask(state, compared, "test", choices)
        self.until(lambda: not state.change(change.id).is_open, f"change {change.id} is not done")
        return compared.found, state.change(change.id)

    def rows(self, table, tier=None):
        return served(self.open, table, tier)

    def assert_equals_batch(self, *tables):
        assert_equals_batch(self.open, *tables)
