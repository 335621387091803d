"""Random flows over random histories, cut, restarted and edited at random: every table equals the batch."""

import itertools
import json
import os
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, note, settings

from streamhouse.errors import DefinitionError, DefinitionErrors, StoreUnavailableError
from streamhouse.ingest.kinds import open_source
from streamhouse.jobs.run import Meter, carry
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.open import Open, plan_of
from streamhouse.runtime.stores import open_stores
from tests.histories import Case, Part, Step, cases, csv_text
from tests.oracle import assert_same_rows, batch
from tests.patience import SOAKING

pytestmark = [pytest.mark.services, pytest.mark.spark]

EXAMPLES = int(os.environ.get("STREAMHOUSE_EXAMPLES", "300" if SOAKING else "4"))
_numbers = itertools.count()


class Failing:
    """A store that goes away at the first write of a table, before or after its effect, and is back at once."""

    def __init__(self, store, table: str, *, after: bool) -> None:
        self._store = store
        self._table = table
        self._after = after
        self._failed = False

    def __getattr__(self, name):
        return getattr(self._store, name)

    def write(self, table, changes, context):
        fails = table.name == self._table and not self._failed
        self._failed = self._failed or fails
        if fails and not self._after:
            raise StoreUnavailableError(f"{table.name}: the server is gone")
        position = self._store.write(table, changes, context)
        if fails:
            raise StoreUnavailableError(f"{table.name}: the server is gone, and had written")
        return position


class World:
    """One case in a project of its own, with tables that nobody else has."""

    def __init__(self, case: Case, spark, fluss) -> None:
        self.case = case
        self.spark = spark
        self.fluss = fluss
        self.prefix = f"h{next(_numbers)}_"
        self.root = Path(tempfile.mkdtemp(prefix="history-"))
        self.steps = list(case.steps)
        self.edits = itertools.count()
        for folder in ("actions", "flows", *(f"data/{name}" for name in case.sources)):
            (self.root / folder).mkdir(parents=True)
        self.project = Project(self.root, Settings(fluss=fluss))
        self.write()
        self.stores = open_stores(self.project, spark, fluss)

    def __enter__(self) -> "World":
        return self

    def __exit__(self, *_: object) -> None:
        for flow in self.case.flows():
            for table in plan_of(self.project, self.name(flow)).tables.values():
                self.stores[table.tiers.target].drop(table.name)
        for store in self.stores.values():
            store.close()
        shutil.rmtree(self.root)

    def name(self, name: str) -> str:
        """Of a table or flow, as it is called here."""
        layer, _, table = name.rpartition(".")
        return f"{layer}.{self.prefix}{table}" if layer else self.prefix + name

    def write(self) -> None:
        """The files of all steps as they are now."""
        number = 0
        for flow, steps in self.case.flows().items():
            lines = [f"flow: {self.name(flow)}", f"max_rows_per_epoch: {self.case.max_rows}", "sources:"]
            for name, columns in self.case.sources.items():
                typed = ", ".join(f'{column}: "{kind}"' for column, kind in columns.items())
                read_as = f"""path: "data/{name}/*.csv", escape: '"', null_value: '-', columns: {{{typed}}}"""
                lines.append(f"  {name}: {{files: {{{read_as}}}}}")
            if not any(table in self.case.sources for step in steps for table in step.reads.values()):
                del lines[-1 - len(self.case.sources) :]
            lines.append("steps:")
            options = []
            for _ in steps:
                step = self.steps[number]
                table = self.name(step.writes)
                reads = []
                for port, read in step.reads.items():
                    target = read if read in self.case.sources else self.name(read)
                    reads.append(
                        f"{port}: {{table: {target}, as: lookup}}" if port in step.lookups else f"{port}: {target}"
                    )
                action = f"{self.prefix}s{number}"
                lines.append(f"  - {{use: {action}, reads: {{{', '.join(reads)}}}, writes: {table}}}")
                options.append(f"  {table}: {{buckets: {step.buckets}, tiers: {{{step.tier}: 7d}}}}")
                ports = ", ".join(f"{port}: {{}}" for port in step.reads)
                key = f"\noutput: {{primary_key: [{', '.join(step.key)}]}}" if step.key else ""
                header = f"action: {action}\nstep: {step.kind}\ninputs: {{{ports}}}{key}"
                if step.expects:
                    header += f"\nexpect: {{met: {{check: {json.dumps(step.expects)}, on_violation: drop}}}}"
                (self.root / "actions" / f"{action}.sql").write_text(f"/* ---\n{header}\n--- */\n{step.sql}\n")
                number += 1
            lines += ["tables:", *options]
            (self.root / "flows" / f"{self.name(flow)}.yaml").write_text("\n".join(lines) + "\n")

    def edit(self, number: int) -> None:
        """Write a step's SQL otherwise; leave it where that would make another table of it."""
        flow = next(f for f, steps in self.case.flows().items() if self.case.steps[number] in steps)
        before = plan_of(self.project, self.name(flow)).tables
        step, name = self.steps[number], f"edited{next(self.edits)}"
        self.steps[number] = replace(step, sql=f"WITH {name} AS ({step.sql}) SELECT * FROM {name}")
        self.write()
        try:
            same = plan_of(self.project, self.name(flow)).tables == before
        except (DefinitionError, DefinitionErrors):
            same = False
        if not same:
            self.steps[number] = step
            self.write()

    def take(self, number: int, part: Part) -> None:
        """Let one part happen and run the flows over it."""
        for source, rows in part.rows.items():
            share = -(-len(rows) // part.files)
            for file in range(part.files):
                if cut := rows[file * share : (file + 1) * share]:
                    text = csv_text(self.case.sources[source], cut)
                    (self.root / "data" / source / f"{number}-{file}.csv").write_text(text)
        if part.restart:
            for store in self.stores.values():
                store.close()
            self.stores = open_stores(self.project, self.spark, self.fluss)
        if part.forget:
            shutil.rmtree(self.project.state_dir / "cache", ignore_errors=True)
        if part.edit is not None:
            self.edit(part.edit)
        stores = self.stores
        if part.fail:
            table = self.name(self.case.steps[part.fail[0]].writes)
            stores = {tier: Failing(store, table, after=part.fail[1]) for tier, store in stores.items()}
        last = number == len(self.case.parts) - 1
        for flow in self.case.flows():
            if flow == "up" or part.down or last:
                self.run(flow, stores)
        if last or (part.check and part.down):
            self.compare(f"after part {number}")

    def run(self, flow: str, stores) -> None:
        plan = plan_of(self.project, self.name(flow))
        with self.project.state() as state:
            open_ = Open(self.project, self.spark, self.fluss, stores, state)
            carry(open_, plan, Meter(plan, lambda _: None, once=True), once=True)

    def compare(self, when: str) -> None:
        known = {}
        for flow in self.case.flows():
            plan = plan_of(self.project, self.name(flow))
            sources = {}
            for source in plan.sources:
                opened = open_source(source, self.root)
                sources[source.name] = opened.read({}, opened.available())
            known |= batch(self.spark, plan, sources, {table.name: known[table.name] for table in plan.external})
            for name, table in plan.tables.items():
                actual = self.stores[table.tiers.target].read_state(table)
                strategy = next(step.strategy for step in plan.steps if step.writes.name == name)
                told = f"{name.replace(self.prefix, '')} ({strategy}) {when}"
                assert_same_rows(actual, known[name], key=table.primary_key, name=told)


def play(case: Case, spark, fluss) -> None:
    """Let a case happen; every comparison on the way must hold."""
    with World(case, spark, fluss) as world:
        for number, part in enumerate(case.parts):
            world.take(number, part)


@pytest.mark.timeout(14400 if SOAKING else 1800)
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    derandomize=not SOAKING,
    print_blob=SOAKING,
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)
@given(case=cases())
def test_whatever_happens_the_tables_equal_the_batch(spark, fluss, case):
    note(str(case))
    play(case, spark, fluss)


# What the search above has found, each as small as it could be made.
_A = {"id": "bigint", "g": "bigint", "a1": "int"}
_B = {"g": "bigint", "b1": "int"}
_KEEP_A = Step("ods.a", "SELECT id, g, a1 FROM x", {"x": "a"}, ("id",))
_LOG_A = Step("ods.a", "SELECT id, g, a1 FROM x", {"x": "a"})
_KEEP_B = Step("ods.b", "SELECT g, b1 FROM x", {"x": "b"}, ("g",))
FOUND: dict[str, Case] = {
    # What a `full` step had written before the epoch died is no difference any more when the epoch runs again.
    "a map of a full step, whose write fails once": Case(
        {"a": _A},
        (
            _KEEP_A,
            Step(
                "dwd.t1", "SELECT ROW_NUMBER() OVER (ORDER BY x.id) AS k1, x.a1 AS v1 FROM x", {"x": "ods.a"}, ("k1",)
            ),
            Step("dwd.t2", "SELECT k1, v1 + 1 AS v1 FROM x", {"x": "dwd.t1"}, ("k1",)),
        ),
        (Part({"a": ((1, 1, 1), (2, 2, 2))}), Part({"a": ((1, 1, 3),)}, fail=(2, False))),
    ),
    # A joined row that is gone is not in the table any more when the epoch runs again.
    "a map of a join that loses a row, whose write fails once": Case(
        {"a": _A, "b": _B},
        (
            _KEEP_A,
            _KEEP_B,
            Step(
                "dwd.t2",
                "SELECT x.g AS k1, x.id AS k2, y.b1 AS v1 FROM x JOIN y ON x.g = y.g WHERE x.g IS NOT NULL",
                {"x": "ods.a", "y": "ods.b"},
                ("k1", "k2"),
            ),
            Step("dwd.t3", "SELECT k1, k2, v1 FROM x WHERE v1 > 0", {"x": "dwd.t2"}, ("k1", "k2")),
        ),
        (
            Part({"a": ((1, 1, 1), (2, 2, 2)), "b": ((1, 1), (2, 1))}),
            Part({"a": ((1, 2, 1),)}, fail=(3, False)),
        ),
    ),
    # A `full` step may find that nothing differs; those that read it have nothing to do then.
    "a recompute of a full step that changes nothing": Case(
        {"a": _A},
        (
            _KEEP_A,
            Step("dwd.t1", "SELECT 1 AS k1, MAX(x.a1) AS v1 FROM x", {"x": "ods.a"}, ("k1",)),
            Step("dwd.t2", "SELECT v1 AS k1, COUNT(*) AS n FROM x GROUP BY v1", {"x": "dwd.t1"}, ("k1",)),
        ),
        (Part({"a": ((1, 1, 1),)}), Part({"a": ((1, 1, 1),)})),
    ),
    # A row of which an epoch adds a part is judged as a whole.
    "sums of which each epoch adds less than is expected of them": Case(
        {"a": _A},
        (
            _LOG_A,
            Step(
                "dwd.t1",
                "SELECT g AS k1, COUNT(*) AS v1 FROM x WHERE g IS NOT NULL GROUP BY g",
                {"x": "ods.a"},
                ("k1",),
                expects="v1 > 1",
            ),
        ),
        (Part({"a": ((1, 1, 1), (2, 2, 1))}), Part({"a": ((3, 1, 1),)}), Part({"a": ((4, 2, 1), (5, 3, 1))})),
    ),
    # A name of an inner WITH is not that of the outer one.
    "a WITH inside a WITH": Case(
        {"a": _A},
        (
            _KEEP_A,
            Step(
                "dwd.t1",
                "WITH q AS (WITH q AS (SELECT id, g FROM x) SELECT id, g FROM q WHERE id > 1) SELECT id, g FROM q",
                {"x": "ods.a"},
                ("id",),
            ),
        ),
        (Part({"a": ((1, 1, 1), (2, 1, 1))}),),
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_found_before(name, spark, fluss):
    play(FOUND[name], spark, fluss)


__all__ = ["Case", "Part", "Step"]
