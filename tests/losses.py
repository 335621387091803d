"""A small flow whose records, or whose tables, a test loses or puts back."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from streamhouse.jobs.progress import Summary
from streamhouse.jobs.run import Meter, carry
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.open import Open, plan_of
from streamhouse.runtime.stores import open_stores
from tests.live import add, assert_equals_batch, drop_tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FLOW = "live"
ORDERS = "{order_id: int, customer: string, cents: bigint, tax: bigint}"
HEAD = "/* ---\naction: {0}\nstep: {1}\ninputs: {{rows: {2}}}\n{3}--- */\n{4}\n"
ACTIONS = {
    "keep": ("ingest", "{}", "output: {extra_columns: pass}\n", "SELECT * FROM rows"),
    "valid": ("clean", ORDERS, "output: {primary_key: [order_id]}\n", "SELECT order_id, customer, cents FROM rows"),
    "spent": ("aggregate", ORDERS, "", "SELECT customer, SUM(cents) AS cents FROM rows GROUP BY customer"),
}


class World:
    """The flow, its records, and copies of them."""

    def __init__(self, open_: Open, copies: Path) -> None:
        self.open, self.root, self.copies = open_, open_.project.root, copies
        self.files = 0
        self.folders = {"state": open_.project.state_dir, "checkpoints": open_.project.state_dir / "checkpoints"}

    def add(self) -> None:
        add(self.root, self.files)
        self.files += 1

    def run(self) -> Summary:
        plan = plan_of(self.open.project, FLOW)
        return carry(self.open, plan, Meter(plan, lambda _: None, once=True), once=True)

    def copy(self) -> None:
        self.open.state.close()
        shutil.rmtree(self.copies, ignore_errors=True)
        self.copies.mkdir()
        for file in self.open.project.state_dir.glob("state.db*"):
            shutil.copy(file, self.copies)
        shutil.copytree(self.folders["checkpoints"], self.copies / "checkpoints")

    def lose(self, what: str) -> None:
        self.open.state.close()
        if what == "state":
            for file in self.open.project.state_dir.glob("state.db*"):
                file.unlink()
            self.open.state._database._ready = False
        else:
            shutil.rmtree(self.folders[what])

    def clear(self) -> None:
        """As before the first run, for the next test."""
        drop_tables(self.open)
        self.lose("state")
        shutil.rmtree(self.folders["checkpoints"], ignore_errors=True)
        for file in (self.root / "data").iterdir():
            file.unlink()

    def put_back(self, what: str) -> None:
        self.lose(what)
        if what == "state":
            for file in self.copies.glob("state.db*"):
                shutil.copy(file, self.open.project.state_dir)
        else:
            shutil.copytree(self.copies / what, self.folders[what])

    def assert_equals_batch(self) -> None:
        assert_equals_batch(self.open)


@contextmanager
def opened_project(root: Path, yaml: str, fluss: str, spark: "SparkSession") -> Iterator[Open]:
    """The flow's project over real services; no orders yet."""
    for folder in ("actions", "flows", "data"):
        (root / folder).mkdir(parents=True)
    for name, parts in ACTIONS.items():
        (root / "actions" / f"{name}.sql").write_text(HEAD.format(name, *parts))
    (root / "flows" / f"{FLOW}.yaml").write_text(yaml)
    project = Project(root, Settings(fluss=fluss))
    with ExitStack() as stack:
        stores = open_stores(project, spark, fluss)
        for store in stores.values():
            stack.callback(store.close)
        yield Open(project, spark, fluss, stores, stack.enter_context(project.state()))
