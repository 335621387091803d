"""Two flows over tables of every tier, one of which reads the other's, and losses of what a project keeps.

A drill takes images of the project's folder at some moments, and puts a project together from pieces of them: the hot
tier of one, the state store of another, without the checkpoints.
"""

import shutil
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from streamhouse.errors import StreamhouseError
from streamhouse.ingest.kinds import open_source
from streamhouse.jobs.restore import Restored, connected, restore_together
from streamhouse.jobs.run import Meter, carry
from streamhouse.jobs.tier_round import TierRounds
from streamhouse.model.plan import FlowPlan
from streamhouse.model.version import table_at
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.lost_tables import SeenLosses, lost_tables
from streamhouse.runtime.open import Open, plan_of
from streamhouse.runtime.stores import LazyStores
from streamhouse.services.record import load
from streamhouse.services.services import Services
from tests.live import add
from tests.oracle import assert_same_rows, batch

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

ORDERS = "{order_id: int, customer: string, cents: bigint, tax: bigint}"
HEAD = "/* ---\naction: {0}\nstep: {1}\ninputs: {{rows: {2}}}\n{3}--- */\n{4}\n"
ACTIONS = {
    "keep": ("ingest", "{}", "", "SELECT * FROM rows"),
    "copy": ("clean", ORDERS, "", "SELECT order_id, customer, cents, tax FROM rows"),
    "valid": ("clean", ORDERS, "output: {primary_key: [order_id]}\n", "SELECT order_id, customer, cents FROM rows"),
    "spent": ("aggregate", ORDERS, "", "SELECT customer, SUM(cents) AS cents FROM rows GROUP BY customer"),
}
FLOWS = {
    "f": f"""\
flow: f
freshness: 100ms
sources: {{orders: {{files: {{path: data/*.csv, columns: {ORDERS}}}}}}}
steps:
  - {{use: keep, reads: {{rows: orders}}, writes: ods.all}}
  - {{use: keep, reads: {{rows: orders}}, writes: ods.hot}}
  - {{use: keep, reads: {{rows: orders}}, writes: ods.warm}}
  - {{use: valid, reads: {{rows: ods.all}}, writes: dwd.all}}
  - {{use: spent, reads: {{rows: ods.all}}, writes: dws.all}}
  - {{use: spent, reads: {{rows: ods.hot}}, writes: dws.hot}}
tables:
  ods.all: {{tiers: {{hot: 7d, warm: 30d, cold: forever}}}}
  ods.hot: {{tiers: {{hot: 7d}}}}
  ods.warm: {{tiers: {{warm: 30d}}}}
  dwd.all: {{tiers: {{hot: 7d, warm: 30d}}}}
  dws.all: {{tiers: {{hot: 7d, cold: forever}}}}
  dws.hot: {{tiers: {{warm: 30d}}}}
""",
    "g": """\
flow: g
freshness: 100ms
steps:
  - {use: copy, reads: {rows: ods.all}, writes: dwd.g_all}
  - {use: spent, reads: {rows: ods.all}, writes: dws.g_warm}
  - {use: copy, reads: {rows: ods.warm}, writes: dwd.g_cold}
tables:
  dwd.g_all: {tiers: {hot: 7d, warm: 30d}}
  dws.g_warm: {tiers: {warm: 30d}}
  dwd.g_cold: {tiers: {cold: forever}}
""",
}
WARM_FLOWS = {
    "f": f"""\
flow: f
freshness: 100ms
sources: {{orders: {{files: {{path: data/*.csv, columns: {ORDERS}}}}}}}
steps:
  - {{use: keep, reads: {{rows: orders}}, writes: ods.one}}
  - {{use: valid, reads: {{rows: ods.one}}, writes: dwd.two}}
tables:
  ods.one: {{tiers: {{warm: 30d}}}}
  dwd.two: {{tiers: {{warm: 30d}}}}
"""
}
READ_FLOWS = {
    "f": f"""\
flow: f
freshness: 100ms
sources: {{orders: {{files: {{path: data/*.csv, columns: {ORDERS}}}}}}}
steps:
  - {{use: keep, reads: {{rows: orders}}, writes: ods.read}}
tables:
  ods.read: {{tiers: {{hot: 7d, warm: 30d}}}}
""",
    "g": """\
flow: g
freshness: 100ms
steps:
  - {use: copy, reads: {rows: ods.read}, writes: dwd.g_read}
tables:
  dwd.g_read: {tiers: {cold: forever}}
""",
}
LAKE_FLOWS = {
    "f": f"""\
flow: f
freshness: 100ms
sources: {{orders: {{files: {{path: data/*.csv, columns: {ORDERS}}}}}}}
steps:
  - {{use: keep, reads: {{rows: orders}}, writes: ods.read}}
  - {{use: keep, reads: {{rows: orders}}, writes: ods.hot}}
  - {{use: spent, reads: {{rows: ods.read}}, writes: dws.spent}}
tables:
  ods.read: {{tiers: {{hot: 7d, warm: 30d}}}}
  ods.hot: {{tiers: {{hot: 7d}}}}
  dws.spent: {{tiers: {{hot: 7d, cold: forever}}}}
""",
    "g": READ_FLOWS["g"],
}
PIECES = {
    "hot": ("services",),
    "warm": ("warm",),
    "cold": ("cold",),
    "state": ("state.db", "state.db-wal", "state.db-shm"),
    "checkpoints": ("checkpoints",),
}


class Drill:
    """A project whose pieces are lost or put back. Its stores are open between `begin` and `end`."""

    def __init__(self, root: Path, spark: "SparkSession", flows: Mapping[str, str]) -> None:
        self.root, self.images, self.spark, self.flows = root, root.parent / "images", spark, tuple(flows)
        for folder in ("actions", "flows", "data"):
            (root / folder).mkdir(parents=True, exist_ok=True)
        for name, parts in ACTIONS.items():
            (root / "actions" / f"{name}.sql").write_text(HEAD.format(name, *parts))
        for name, yaml in flows.items():
            (root / "flows" / f"{name}.yaml").write_text(yaml)
        self.uses_fluss = any("hot:" in yaml for yaml in flows.values())
        self.files = 0
        self._again = True
        self.open: Open
        self._stack = ExitStack()

    @cached_property
    def project(self) -> Project:
        return Project(self.root, Settings(auto_apply="all"))

    @property
    def folder(self) -> Path:
        return self.project.state_dir

    def begin(self) -> None:
        services = Services(self.root)
        fluss = services.up().fluss if self.uses_fluss else None
        stores = LazyStores(self.project, self.spark, lambda: str(fluss))
        self._stack.callback(self._stop, services)
        self._stack.callback(stores.close)
        state = self._stack.enter_context(self.project.state())
        self.open = Open(self.project, self.spark, fluss, stores, state)

    def end(self, *, again: bool = True) -> None:
        """Close the stores and stop the servers; killed where nothing reads their files again, which is faster."""
        self._again = again
        self._stack.close()
        self._stack = ExitStack()

    def _stop(self, services: Services) -> None:
        state = None if self._again else load(services.folder.state)
        for service in state.services if state is not None else ():
            service.process.stop(grace_s=0)
        services.down()

    def add(self) -> None:
        add(self.root, self.files)
        self.files += 1

    def run(self, *flows: str) -> None:
        """As `run --once`: each flow after those whose tables it reads."""
        for name in flows or self.flows:
            plan = plan_of(self.project, name)
            carry(self.open, plan, Meter(plan, lambda _: None, once=True), once=True, follow=True)

    def plan(self, flow: str) -> FlowPlan:
        return plan_of(self.project, flow)

    def tier(self, *flows: str) -> None:
        done = TierRounds(self.open, lambda _, __: None, lambda _: None, Event()).round(
            flows or self.flows, datetime.now(UTC)
        )
        for error in done.failed.values():
            raise error

    def looked(self) -> SeenLosses:
        """What `plan` and `status` see; the services may run or not."""
        link = Path(self.project.cold)
        link.unlink(missing_ok=True)
        if self._cold.exists():
            link.symlink_to(self._cold)
        try:
            state = self.project.existing_state()
            with state or nullcontext():
                return lost_tables(self.project, state)
        finally:
            link.unlink(missing_ok=True)

    def lose(self, piece: str) -> None:
        """Remove a piece, also while others write to it: it has another name before its files are removed."""
        for name in PIECES[piece]:
            path = self._cold if name == "cold" else self.folder / name
            if path.exists():
                away = path.rename(path.with_name(f"{path.name}.lost"))
                shutil.rmtree(away, ignore_errors=True) if away.is_dir() else away.unlink()

    def lose_running_hot(self) -> None:
        """The hot tier loses everything while others use it, and comes back where it was."""
        services = Services(self.root)
        services.down()
        for part in ("data", "zookeeper", "remote"):
            shutil.rmtree(self.folder / "services" / part, ignore_errors=True)
        services.up()

    def restore(self, *flows: str, from_sources: bool = False, trust: Collection[str] = ()) -> list[Restored]:
        """All flows that are connected with these."""
        plans = {name: self.plan(name) for name in self.flows}
        together = connected(plans, flows or self.flows)
        return restore_together(self.open, together, from_sources=from_sources, trust=trust)

    @cached_property
    def _cold(self) -> Path:
        """The session of a test run has its own folder of cold tables."""
        return Path(str(self.spark.conf.get("spark.sql.catalog.cold.warehouse")).removeprefix("file:"))

    def save(self, image: str) -> None:
        """Keep the whole folder as it is now; nothing may run."""
        shutil.copytree(self.folder, self.images / image, symlinks=True, ignore=shutil.ignore_patterns("*.sock"))
        if self._cold.exists():
            shutil.copytree(self._cold, self.images / image / "cold")

    def lose_cold(self) -> None:
        """Remove the cold tables of the tests before this one."""
        self._remove(self._cold)

    def compose(self, pieces: Mapping[str, str | None], others: str) -> None:
        """Put the folder together.

        Args:
            pieces: Piece → image that it is from; None: it is lost.
            others: The image that all else is from.
        """
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.images / others, self.folder, symlinks=True)
        for piece, names in PIECES.items():
            image = pieces.get(piece, others)
            for name in names:
                target = self._cold if name == "cold" else self.folder / name
                self._remove(self.folder / name)
                self._remove(target)
                source = self.images / image / name if image is not None else None
                if source is not None and source.exists():
                    copy = shutil.copytree if source.is_dir() else shutil.copy2
                    copy(source, target)

    @staticmethod
    def _remove(path: Path) -> None:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)

    def expected(self) -> "dict[str, pa.Table]":
        """Table → what the SQL makes of all rows, run once."""
        found: dict[str, pa.Table] = {}
        for name in self.flows:
            plan = plan_of(self.project, name)
            sources = {}
            for source in plan.sources:
                opened = open_source(source, self.root)
                sources[source.name] = opened.read({}, opened.available())
            found |= batch(self.spark, plan, sources, {table.name: found[table.name] for table in plan.external})
        return found

    def differences(self, lacking: Collection[str] = ()) -> dict[str, str]:
        """Table and tier → how it differs from `expected`; empty: every one equals it.

        Args:
            lacking: Tables that may lack rows. A log must have none twice, and no other one; a table with a key may
                have a row as it was before, or lack it.
        """
        wanted, found = self.expected(), {}
        for name in self.flows:
            for table in plan_of(self.project, name).tables.values():
                served = table_at(table, self.open.state.versions())
                for tier in table.tiers.present:
                    stored = served if tier is table.tiers.target else served.replica
                    try:
                        rows = self.open.stores[tier].read_state(stored)
                        if table.name not in lacking:
                            assert_same_rows(rows, wanted[table.name], key=table.primary_key, name=table.name)
                        elif not table.primary_key:
                            more = _counted(rows) - _counted(wanted[table.name])
                            assert not more, f"{table.name} has rows that are not expected: {more}"
                    except (AssertionError, StreamhouseError) as error:
                        found[f"{table.name} {tier}"] = str(error)
        return found


def _counted(rows: "pa.Table") -> Counter[str]:
    return Counter(str(sorted(row.items())) for row in rows.to_pylist())


@contextmanager
def drill(root: Path, spark: "SparkSession", flows: Mapping[str, str] = FLOWS) -> Iterator[Drill]:
    """A project over services of its own."""
    made = Drill(root, spark, flows)
    made.lose_cold()
    try:
        yield made
    finally:
        made.end(again=False)
