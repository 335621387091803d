"""Another primary key of a table gives it other rows: everything behind it is rebuilt, and equals the batch."""

import pytest

from streamhouse.change.apply import carried_out
from streamhouse.change.change_request import ask
from streamhouse.ingest.kinds import open_source
from streamhouse.jobs.run import Meter, carry
from streamhouse.model.outcome import Outcome
from streamhouse.project.compare import Applied, compare
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.open import plan_of
from tests.gate.levels import deep
from tests.live import opened, served
from tests.oracle import assert_same_rows, batch

pytestmark = [
    pytest.mark.services,
    pytest.mark.spark,
    deep("another tier", only=("test_what_is_behind_a_table_with_another_key_equals_the_batch[{hot: 1d}]",)),
]

FLOW, OTHER = "keyed", "behind"
ROWS = "{id: bigint, event_date: date, cents: bigint}"
ACTIONS = {
    "take": ("ingest", "{}", "SELECT id, event_date, cents FROM rows"),
    "clean": ("clean", "{primary_key: KEY}", "SELECT id, event_date, cents + 1 AS cents FROM rows"),
    "sums": ("aggregate", "{}", "SELECT id, SUM(cents) AS cents, COUNT(*) AS n FROM rows GROUP BY id"),
    "days": ("aggregate", "{primary_key: [event_date]}", "SELECT DISTINCT event_date FROM rows"),
    "mean": ("aggregate", "{}", "SELECT event_date, AVG(cents) AS cents FROM rows GROUP BY event_date"),
    "big": ("customize", "{primary_key: KEY}", "SELECT id, event_date, cents FROM rows WHERE cents > 5"),
}
STEPS = [
    ("take", "rows", "ods.ok_rows"),
    ("clean", "ods.ok_rows", "dwd.ok_rows"),
    ("sums", "dwd.ok_rows", "dws.ok_sums"),
    ("days", "dwd.ok_rows", "dws.ok_days"),
    ("mean", "ods.ok_rows", "dws.ok_mean"),
    ("big", "dwd.ok_rows", "ads.ok_big"),
]
BEHIND = [("sums", "dwd.ok_rows", "dws.ok_sums_of_other")]


def write(root, key):
    for name, (step, output, sql) in ACTIONS.items():
        held = f"{{primary_key: {key}}}" if name == "take" else output.replace("KEY", key)
        header = f"action: {name}\nstep: {step}\ninputs: {{rows: {ROWS}}}\noutput: {held}"
        (root / "actions" / f"{name}.sql").write_text(f"/* ---\n{header}\n--- */\n{sql}\n")


def flow(name, steps, head=""):
    lines = [f"  - {{use: {use}, reads: {{rows: {read}}}, writes: {table}}}" for use, read, table in steps]
    return "\n".join([f"flow: {name}", *([head] if head else []), "steps:", *lines, ""])


class Keyed:
    def __init__(self, open_, tiers):
        self.open, self.root = open_, open_.project.root
        for folder in ("actions", "flows", "data"):
            (self.root / folder).mkdir()
        tables = [table for _, _, table in STEPS]
        head = f"sources: {{rows: {{files: {{path: data/*.csv, columns: {ROWS}}}}}}}\ntables:\n" + "\n".join(
            f"  {table}: {{tiers: {tiers}}}" for table in tables
        )
        (self.root / "flows" / f"{FLOW}.yaml").write_text(flow(FLOW, STEPS, head))
        behind = "\n".join(["tables:", f"  {BEHIND[0][2]}: {{tiers: {tiers}}}"])
        (self.root / "flows" / f"{OTHER}.yaml").write_text(flow(OTHER, BEHIND, behind))
        write(self.root, "[id]")

    def add(self, number, *rows):
        lines = "".join(f"{i},{day},{cents}\n" for i, day, cents in rows)
        (self.root / "data" / f"{number}.csv").write_text(f"id,event_date,cents\n{lines}")

    def run(self):
        for name in (FLOW, OTHER):
            plan = plan_of(self.open.project, name)
            carry(self.open, plan, Meter(plan, lambda _: None, once=True), once=True)

    def apply(self):
        compared = compare(plan_of(self.open.project, FLOW), Applied.of(self.open.state), {})
        return compared.found, carried_out(self.open, ask(self.open.state, compared, "test"))

    def assert_equals_batch(self):
        plan = plan_of(self.open.project, FLOW)
        (source,) = plan.sources
        reader = open_source(source, self.root)
        wanted = batch(self.open.spark, plan, {source.name: reader.read({}, reader.available())})
        for name, table in plan.tables.items():
            assert_same_rows(served(self.open, name, flow=FLOW), wanted[name], key=table.primary_key, name=name)
        [(_, _, behind)] = BEHIND
        wanted_sums = wanted["dws.ok_sums"]
        assert_same_rows(served(self.open, behind, flow=OTHER), wanted_sums, key=("id",), name=behind)


@pytest.mark.parametrize("tiers", ["{hot: 1d}", "{warm: 30d}"])
def test_what_is_behind_a_table_with_another_key_equals_the_batch(fluss, spark, tmp_path, tiers):
    with opened(Project(tmp_path, Settings(fluss=fluss, auto_apply="all")), fluss, spark) as open_:
        keyed = Keyed(open_, tiers)
        keyed.add(1, (1, "2026-01-01", 1), (1, "2026-01-02", 2), (2, "2026-01-02", 9))
        keyed.run()
        keyed.assert_equals_batch()
        assert served(open_, "ods.ok_rows", flow=FLOW).num_rows == 2
        write(open_.project.root, "[id, event_date]")
        found, change = keyed.apply()
        told = {one.table for one in found.tables if one.outcome is Outcome.REBUILD}
        assert told == set(change.versions) == {table for _, _, table in STEPS}
        keyed.run()  # the other flow follows
        assert served(open_, "ods.ok_rows", flow=FLOW).num_rows == 3, "the row that lost is back"
        keyed.assert_equals_batch()
        keyed.add(2, (1, "2026-01-01", 5), (2, "2026-01-03", 7), (3, "2026-01-01", 0))
        keyed.run()
        keyed.assert_equals_batch()
