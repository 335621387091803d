"""The past of tables that were built again: the version that served then answers, or the query is refused."""

import time

import pytest

from streamhouse.change.apply import carried_out
from streamhouse.change.change_request import ask
from streamhouse.errors import RowsLostError, StreamhouseError
from streamhouse.jobs.query import catalog_of, epochs_of
from streamhouse.jobs.run import Meter, carry
from streamhouse.model.outcome import Outcome
from streamhouse.model.types import Tier
from streamhouse.model.version import stored_name
from streamhouse.project.compare import Applied, compare
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.query.answer import answer
from streamhouse.query.embedded import answer_here
from streamhouse.query.parse import parse_query
from streamhouse.query.plain_sql import plain
from streamhouse.query.reading import readable
from streamhouse.runtime.open import plan_of
from streamhouse.tiering.move import tier_all
from tests.gate.levels import deep
from tests.live import opened

pytestmark = [
    pytest.mark.services,
    pytest.mark.spark,
    deep(
        "each tier alone; the table of two tiers stays",
        stays=(
            "test_what_the_plan_says_of_a_rename_is_what_apply_does[ods.tp_both]",
            "test_moments_before_and_after_a_rename[ods.tp_both]",
            "test_the_number_of_a_snapshot_is_of_one_version[ods.tp_both]",
            "test_changes_of_one_version_only",
            "test_a_version_that_is_gone_is_refused_by_every_moment[ods.tp_both]",
            "test_a_moment_that_has_not_come_is_refused",
        ),
    ),
]

FLOW = "past"
TIERS = {
    "ods.tp_hot": "{hot: 1d}",
    "ods.tp_warm": "{warm: 30d}",
    "ods.tp_cold": "{cold: forever}",
    "ods.tp_both": "{hot: 1d, cold: forever}",
}
ACTION = """/* ---
action: keep
step: ingest
inputs: {{rows: {{id: bigint, cents: bigint}}}}
output: {{primary_key: [id]{renamed}}}
--- */
SELECT id, cents AS {name} FROM rows
"""
YAML = f"""flow: {FLOW}
sources: {{rows: {{files: {{path: data/*.csv, columns: {{id: bigint, cents: bigint}}}}}}}}
tables:
{"".join(f"  {name}: {{tiers: {tiers}}}{chr(10)}" for name, tiers in TIERS.items())}steps:
{"".join(f"  - {{use: keep, reads: {{rows: rows}}, writes: {name}}}{chr(10)}" for name in TIERS)}"""


def write_action(root, name, renamed=""):
    (root / "actions" / "keep.sql").write_text(ACTION.format(name=name, renamed=renamed))


def now():
    """The present as text; nothing else happens in its millisecond."""
    time.sleep(0.01)
    second, rest = divmod(time.time_ns() // 1_000_000, 1000)
    time.sleep(0.01)
    return f"{time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(second))}.{rest:03}"


class Past:
    """The flow, before and after its column got another name."""

    def __init__(self, open_):
        self.open, self.root = open_, open_.project.root
        for folder in ("actions", "flows", "data"):
            (self.root / folder).mkdir()
        (self.root / "flows" / f"{FLOW}.yaml").write_text(YAML)
        write_action(self.root, "cents")

    def run(self, number, rows):
        lines = "".join(f"{i},{cents}\n" for i, cents in rows)
        (self.root / "data" / f"{number}.csv").write_text(f"id,cents\n{lines}")
        plan = plan_of(self.open.project, FLOW)
        carry(self.open, plan, Meter(plan, lambda _: None, once=True), once=True)
        tier_all(self.open.state.running_plans()[FLOW], self.open.stores)

    def apply(self):
        compared = compare(plan_of(self.open.project, FLOW), Applied.of(self.open.state), {})
        return compared.found, carried_out(self.open, ask(self.open.state, compared, "test"))

    def epoch(self):
        return self.open.state.last_epoch(FLOW, "main").epoch

    def snapshot(self, table):
        found = self.ask(f"select max(snapshot) as n from {table}.lake.snapshots")
        return found[0][0]

    def ask(self, sql):
        """Rows as tuples, by both programs, which agree."""
        project, stores = self.open.project, self.open.stores
        query = parse_query(sql, catalog_of(project))
        rows = answer(query, stores, self.open.spark, epochs=epochs_of(project))
        here = answer_here(query, plain(query), readable(query, stores, epochs_of(project)))
        found = [sorted(map(str, one.to_pylist())) for one in (rows, here)]
        assert found[0] == found[1]
        return sorted(tuple(row.values()) for row in rows.to_pylist())

    def refused(self, sql):
        with pytest.raises(RowsLostError) as error:
            self.ask(sql)
        return str(error.value)


@pytest.fixture(scope="module")
def past(fluss, spark, tmp_path_factory):
    root = tmp_path_factory.mktemp("past")
    settings = Settings(fluss=fluss, auto_apply="all")
    with opened(Project(root, settings), fluss, spark) as open_:
        yield filled(Past(open_))


BEFORE, THEN, NOW = [(1, 10), (2, 20)], [(1, 11), (2, 20), (3, 30)], [(1, 12), (2, 20), (3, 30), (4, 40)]


def filled(past):
    past.never = now()
    past.run(1, BEFORE)
    past.first, past.first_epoch = now(), past.epoch()
    past.run(2, [(1, 11), (3, 30)])
    past.then, past.then_epoch = now(), past.epoch()
    past.snapshots = {name: past.snapshot(name) for name in TIERS if name != "ods.tp_hot"}
    write_action(past.root, "amount", ", renamed: {amount: cents}")
    past.found, past.change = past.apply()
    past.swapped = now()
    past.run(3, [(1, 12), (4, 40)])
    past.now, past.now_epoch = now(), past.epoch()
    return past


@pytest.mark.parametrize("table", list(TIERS))
def test_what_the_plan_says_of_a_rename_is_what_apply_does(past, table):
    assert past.found.outcome is Outcome.REBUILD
    told = next(change for change in past.found.tables if change.table == table)
    assert told.outcome is Outcome.REBUILD
    assert {str(ddl) for tier in told.tiers for ddl in tier.ddl} == {"new version"}
    assert past.change.versions[table] == 2
    assert past.change.outcome is Outcome.REBUILD


@pytest.mark.parametrize("table", list(TIERS))
def test_moments_before_and_after_a_rename(past, table):
    first = [f"timestamp as of '{past.first}'", f"as of epoch {past.first_epoch}"]
    then = [f"timestamp as of '{past.then}'", f"as of epoch {past.then_epoch}"]
    then += [f"version as of 'v1.{past.snapshots[table]}'"] if table in past.snapshots else []
    for moments, rows in ((first, BEFORE), (then, THEN)):
        for moment in moments:
            assert past.ask(f"select id, cents from {table} {moment}") == rows
            assert past.ask(f"select count(*) as n from {table} {moment}") == [(len(rows),)]
    for moment in (f"timestamp as of '{past.swapped}'", f"as of epoch {past.now_epoch - 1}"):
        assert past.ask(f"select id, amount from {table} {moment}") in (THEN, NOW)
    assert past.ask(f"select id, amount from {table} timestamp as of '{past.swapped}'") == THEN
    for moment in ("", f"timestamp as of '{past.now}'", f"as of epoch {past.now_epoch}"):
        assert past.ask(f"select id, amount from {table} {moment}") == NOW
    both = f"select n.id, o.cents, n.amount from {table} n join {table} timestamp as of '{past.then}' o on n.id = o.id"
    assert past.ask(both) == [(1, 11, 12), (2, 20, 20), (3, 30, 30)]
    inside = f"select count(*) as n from (select id from {table} timestamp as of '{past.first}') t"
    assert past.ask(inside) == [(2,)]
    assert "was made at" in past.refused(f"select * from {table} timestamp as of '{past.never}'")


@pytest.mark.parametrize("table", ["ods.tp_warm", "ods.tp_cold", "ods.tp_both"])
def test_the_number_of_a_snapshot_is_of_one_version(past, table):
    assert "counts its snapshots from 1" in past.refused(f"select * from {table} version as of 1")
    newest = past.snapshot(table)
    assert past.ask(f"select id, amount from {table} version as of 'v2.{newest}'") == NOW
    past.refused(f"select * from {table} version as of 'v2.{newest + 50}'")
    past.refused(f"select * from {table} version as of 'v1.{10**17}'")


def test_changes_of_one_version_only(past):
    kinds = f"timestamp as of '{past.then}' since timestamp '{past.first}'"
    assert past.ask(f"select count(*) as n from ods.tp_hot.changes {kinds}") == [(3,)]
    assert "another version serves" in past.refused(
        f"select _kind, id from ods.tp_hot.changes since timestamp '{past.first}'"
    )


@pytest.mark.parametrize("table", list(TIERS))
def test_a_version_that_is_gone_is_refused_by_every_moment(past, table):
    tiers = [Tier(tier) for tier in ("hot", "warm", "cold") if tier in TIERS[table]]
    for tier in tiers:
        past.open.stores[tier].drop(stored_name(table, 1))
    past.open.state.tables.dropped(table, 1)
    moments = [f"timestamp as of '{past.then}'", f"as of epoch {past.then_epoch}", f"timestamp as of '{past.first}'"]
    if table in past.snapshots:
        moments += [f"version as of 'v1.{past.snapshots[table]}'", f"version as of {past.snapshots[table]}"]
    for moment in moments:
        for what in ("*", "count(*) as n"):
            told = past.refused(f"select {what} from {table} {moment}")
            assert "cannot be read as of" in told
            assert "version 2 serves since" in told
            assert "keep_old_versions" in told
    assert past.ask(f"select id, amount from {table} timestamp as of '{past.now}'") == NOW


def test_a_moment_that_has_not_come_is_refused(past):
    with pytest.raises(StreamhouseError, match="has not come yet"):
        past.ask("select * from ods.tp_warm timestamp as of '2999-01-01'")
