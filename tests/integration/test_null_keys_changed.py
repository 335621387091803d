"""Tables with NULL in their keys and partitions that are edited, tiered and backfilled: each equals the batch."""

import pytest

from streamhouse.change.apply import carried_out
from streamhouse.change.change_request import ask
from streamhouse.ingest.kinds import open_source
from streamhouse.jobs import backfill as module
from streamhouse.jobs.backfill import backfill
from streamhouse.jobs.run import Meter, carry
from streamhouse.model.outcome import Outcome
from streamhouse.model.version import table_at
from streamhouse.project.compare import Applied, compare
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.open import plan_of
from streamhouse.tiering.union import union_read
from tests.gate.levels import deep
from tests.live import opened, served
from tests.oracle import assert_same_rows, batch

pytestmark = [pytest.mark.services, pytest.mark.spark, deep("edits of tables that test_null_keys.py fills")]

FLOW = "nullable"
ROWS, SHOPS = "{id: bigint, shop: string, cents: bigint}", "{shop: string, city: string}"
KEEP = "SELECT id, shop, cents FROM rows"
ACTIONS = {
    "keep": ("ingest", f"{{rows: {ROWS}}}", "{primary_key: [id]}", KEEP),
    "shops": ("ingest", f"{{rows: {SHOPS}}}", "{primary_key: [shop]}", "SELECT shop, city FROM rows"),
    "logged": ("ingest", f"{{rows: {ROWS}}}", "{}", "SELECT id, IF(cents > 5, 1, NULL) AS part, shop, cents FROM rows"),
    "joined": (
        "clean",
        f"{{rows: {ROWS}, shops: {SHOPS}}}",
        "{primary_key: [id]}",
        "SELECT r.id, r.shop, s.city FROM rows AS r LEFT JOIN shops AS s ON s.shop <=> r.shop",
    ),
    "sums": ("aggregate", f"{{rows: {ROWS}}}", "{}", "SELECT shop, SUM(cents) AS cents FROM rows GROUP BY shop"),
    "parts": (
        "aggregate",
        "{rows: {part: int, shop: string, cents: bigint}}",
        "{primary_key: [part, shop]}",
        "SELECT part, shop, MAX(cents) AS most FROM rows GROUP BY part, shop",
    ),
}
YAML = f"""\
flow: {FLOW}
history: rewrite
sources:
  rows: {{files: {{path: data/rows/*.csv, columns: {ROWS}}}}}
  shops: {{files: {{path: data/shops.csv, columns: {SHOPS}}}}}
steps:
  - {{use: keep, reads: {{rows: rows}}, writes: ods.nc_rows}}
  - {{use: shops, reads: {{rows: shops}}, writes: ods.nc_shops}}
  - {{use: logged, reads: {{rows: rows}}, writes: ods.nc_log}}
  - {{use: joined, reads: {{rows: ods.nc_rows, shops: ods.nc_shops}}, writes: dwd.nc_joined}}
  - {{use: sums, reads: {{rows: ods.nc_rows}}, writes: dws.nc_sums}}
  - {{use: parts, reads: {{rows: ods.nc_log}}, writes: dws.nc_parts}}
tables:
  ods.nc_rows: {{tiers: {{hot: 7d, warm: 30d, cold: forever}}}}
  ods.nc_log: {{partition_by: [part], tiers: {{hot: 7d, warm: 30d, cold: forever}}}}
  dws.nc_parts: {{partition_by: [part], tiers: {{hot: 7d, cold: forever}}}}
"""


class Nullable:
    def __init__(self, open_):
        self.open, self.root, self.files = open_, open_.project.root, 0
        for folder in ("actions", "flows", "data/rows"):
            (self.root / folder).mkdir(parents=True)
        for name, (_, _, _, sql) in ACTIONS.items():
            self.write(name, sql)
        (self.root / "flows" / f"{FLOW}.yaml").write_text(YAML)
        (self.root / "data" / "shops.csv").write_text("shop,city\na,oslo\n,nowhere\n")

    def write(self, name, sql):
        step, inputs, output, _ = ACTIONS[name]
        header = f"action: {name}\nstep: {step}\ninputs: {inputs}\noutput: {output}"
        (self.root / "actions" / f"{name}.sql").write_text(f"/* ---\n{header}\n--- */\n{sql}\n")

    @property
    def plan(self):
        return plan_of(self.open.project, FLOW)

    def run(self, *rows):
        self.files += 1
        (self.root / "data" / "rows" / f"{self.files}.csv").write_text("\n".join(["id,shop,cents", *rows, ""]))
        plan = self.plan
        carry(self.open, plan, Meter(plan, lambda _: None, once=True), once=True)
        self.assert_equals_batch()

    def edit(self, name, sql, *, filled=False):
        """Apply another SQL, and backfill where that is needed; table → what became of it."""
        self.write(name, sql)
        compared = compare(self.plan, Applied.of(self.open.state), {})
        carried_out(self.open, ask(self.open.state, compared, "test"))
        if filled:
            backfill(self.open.project, FLOW, tables=["ods.nc_rows"])
        self.assert_equals_batch()
        return {one.table: one.outcome for one in compared.found.tables}

    def assert_equals_batch(self):
        plan, rows = self.plan, {}
        for source in plan.sources:
            reader = open_source(source, self.root)
            rows[source.name] = reader.read({}, reader.available())
        for name, wanted in batch(self.open.spark, plan, rows).items():
            key = plan.tables[name].primary_key
            assert_same_rows(served(self.open, name, flow=FLOW), wanted, key=key, name=name)
            table = table_at(plan.tables[name], self.open.state.versions())
            assert_same_rows(union_read(table, self.open.stores), wanted, key=key, name=f"{name}, union")


@pytest.fixture
def flow(tmp_path, fluss, spark, monkeypatch):
    with opened(Project(tmp_path, Settings(fluss=fluss, auto_apply="all")), fluss, spark) as open_:

        class Opened:
            def __enter__(self):
                return open_

            def __exit__(self, *_):
                return None

        monkeypatch.setattr(module, "opened", lambda *_, **__: Opened())
        yield Nullable(open_)


def test_edits_of_tables_whose_keys_may_be_null(flow):
    flow.run("1,a,1", ",a,2", "2,,9", ",,3")
    assert flow.plan.tables["ods.nc_rows"].null_keys == ("id",)
    found = flow.edit("keep", f"{KEEP} WHERE id IS NOT NULL")
    assert (found["ods.nc_rows"], found["ods.nc_log"]) == (Outcome.REBUILD, Outcome.NO_OP)
    assert flow.plan.tables["ods.nc_rows"].null_keys == ()
    flow.run("3,a,4", ",a,7")
    assert flow.edit("keep", KEEP)["ods.nc_rows"] is Outcome.REBUILD
    flow.run("1,,40", ",b,70")
    flow.edit("keep", KEEP.replace("cents FROM", "cents, cents + 1 AS more FROM"), filled=True)
    flow.run("4,b,6", ",b,2")
    found = backfill(flow.open.project, FLOW, tables=["ods.nc_rows", "dwd.nc_joined", "dws.nc_sums"], dry_run=True)
    assert {(one.upserts, one.deletes) for one in found} == {(0, 0)}
