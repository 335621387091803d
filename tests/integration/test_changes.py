"""Edits of a flow that runs, over real stores: what each outcome promises, while rows come in."""

import pytest

from streamhouse.change.building import drop_version
from streamhouse.errors import StoreUnavailableError
from streamhouse.jobs.run import Meter, carry
from streamhouse.jobs.tier import tier_here
from streamhouse.model.outcome import Outcome
from streamhouse.model.table import NULL_BITS
from streamhouse.model.types import Tier
from streamhouse.runtime.open import plan_of
from streamhouse.runtime.serving import serving
from streamhouse.state.records import Phase
from streamhouse.trigger.trigger import Trigger
from tests.gate.levels import deep
from tests.live import FLOW, Live, add, assert_equals_batch, opened_project, orders, served, write_action

pytestmark = [
    pytest.mark.services,
    pytest.mark.spark,
    deep(
        "edits that are undone, other engines, and changes across several flows and clocks",
        only=(
            "test_an_edit_that_is_undone_goes_back_to_the_version_that_served",
            "test_other_engines_find_what_serves_under_its_own_name",
            "test_another_flow_that_keeps_its_history_gets_all_rows_of_a_table_of_another_source",
            "test_a_source_with_more_rows_reaches_a_flow_that_runs_on_several_clocks",
            "test_another_flow_goes_on_where_a_table_built_anew_begins_to_serve",
            "test_another_flow_that_is_two_versions_behind_gets_all_rows_of_each",
            "test_a_store_that_is_away_for_a_moment_fails_no_change",
        ),
    ),
]


@pytest.fixture
def open_(tmp_path, fluss, spark):
    with opened_project(tmp_path, fluss, spark) as found:
        yield found


@pytest.fixture
def live(open_):
    running = Live(open_)
    running.add()
    with running:
        running.drained()
        yield running


def test_a_column_added_by_an_edit_reaches_the_running_query(live):
    queries = [query.id for query in live.open.spark.streams.active]
    write_action(live.root, "valid", "SELECT order_id, customer, cents, tax FROM rows WHERE cents > 0")
    found, change = live.apply()
    assert found.outcome is Outcome.SWAP
    assert change.phase is Phase.APPLIED, change.error
    at = live.epoch()
    live.add()
    live.drained()
    assert live.epoch() <= at + 2
    assert [query.id for query in live.open.spark.streams.active] == queries
    rows = live.rows("dwd.lv_orders").to_pylist()
    assert any(row["tax"] is not None for row in rows)
    assert any(row["tax"] is None for row in rows)


def test_a_store_that_is_away_for_a_moment_fails_no_change(live, monkeypatch):
    live.add()
    live.drained()
    hot, calls = live.open.stores[Tier.HOT], []
    add_columns = hot.add_columns

    def away_at_first(table):
        calls.append(table)
        if len(calls) == 1:
            raise StoreUnavailableError("Fluss does not answer")
        add_columns(table)

    monkeypatch.setattr(hot, "add_columns", away_at_first)
    write_action(live.root, "valid", "SELECT order_id, customer, cents, tax FROM rows WHERE cents > 0")
    _, change = live.apply()
    assert (change.phase, change.error) == (Phase.APPLIED, None)
    assert len(calls) > 1


def test_an_aggregate_that_changes_is_built_anew_while_the_flow_runs(live):
    live.add()
    live.drained()
    write_action(live.root, "spent", "SELECT customer, SUM(cents + tax) AS cents FROM rows GROUP BY customer")
    found, change = live.apply()
    assert found.outcome is Outcome.REBUILD
    assert change.phase is Phase.APPLIED, change.error
    live.add()
    live.drained()
    live.assert_equals_batch()


def test_a_source_with_more_rows_reaches_a_flow_that_runs_on_several_clocks(open_):
    live = Live(open_)
    live.isolate("dwd.lv_orders")  # its layer keeps the rows it has
    live.add()
    with live:
        live.drained()
        assert len(open_.state.plan(FLOW)[1].segments) == 2
        (live.root / "data_more").mkdir()
        add(live.root, 7)
        (live.root / "data" / "0007.csv").rename(live.root / "data_more" / "0007.csv")
        file = live.root / "flows" / f"{FLOW}.yaml"
        file.write_text(file.read_text().replace("path: data/*.csv", 'path: "data*/*.csv"'))
        live.add()
        found, change = live.apply()
        assert found.outcome is Outcome.REBUILD
        assert change.phase is Phase.APPLIED, change.error
        live.add()
        live.drained()
        assert max(live.rows("dwd.lv_orders")["order_id"].to_pylist()) == 159
        live.assert_equals_batch()


LINES = """\
/* ---
action: lines
step: clean
inputs: {rows: {order_id: int, cents: bigint}}
--- */
SELECT order_id, cents FROM rows
"""
READER = """\
flow: reader
steps:
  - {use: lines, reads: {rows: ods.lv_orders}, writes: dwd.lr_lines}
  - {use: spent, reads: {rows: ods.lv_orders}, writes: dws.lr_spent}
"""


def drained(open_, *flows):
    """Each flow's summary of a drain, one after the other."""
    plans = {name: plan_of(open_.project, name) for name in flows}
    return [carry(open_, p, Meter(p, lambda _: None, once=True), once=True) for p in plans.values()]


def test_another_flow_goes_on_where_a_table_built_anew_begins_to_serve(open_):
    root = open_.project.root
    flow = root / "flows" / f"{FLOW}.yaml"
    flow.write_text(flow.read_text() + "tables: {ods.lv_orders: {history: rewrite}}\n")
    (root / "actions" / "lines.sql").write_text(LINES)
    (root / "flows" / "reader.yaml").write_text(READER)
    add(root, 0)
    drained(open_, FLOW, "reader")
    lines = served(open_, "dwd.lr_lines", flow="reader")
    trigger = Trigger(open_.project, open_.state, open_.stores)
    trigger.look()  # from now on it knows the tables
    add(root, 1)
    drained(open_, FLOW)  # the reader is behind when the table is built anew
    write_action(root, "keep", "SELECT * FROM rows WHERE cents > 10")
    add(root, 2)
    drained(open_, FLOW)
    assert open_.state.versions()["ods.lv_orders"] == 2
    assert open_.state.versions("reader")["ods.lv_orders"] == 1
    drained(open_, "reader")
    assert open_.state.versions("reader")["ods.lv_orders"] == 2
    assert_equals_batch(open_, "ods.lv_orders", "dws.lv_spent", "ads.lv_best")
    kept = served(open_, "ods.lv_orders").to_pylist()
    spent = {}
    for row in kept:
        spent[row["customer"]] = spent.get(row["customer"], 0) + row["cents"]
    found = served(open_, "dws.lr_spent", flow="reader").to_pylist()
    assert {row["customer"]: row["cents"] for row in found} == spent  # built anew, from what serves now
    # A layer that keeps its history has the rows it had, those the old version ended with, and then the new ones.
    after = sorted((row["order_id"], row["cents"]) for row in served(open_, "dwd.lr_lines", flow="reader").to_pylist())
    first = [row for part in (0, 1) for row in orders(part)]
    later = [row for row in orders(2) if row[1] > 10]
    assert after == sorted([*first, *later])
    assert lines.num_rows == len(orders(0))
    # The version that serves is the table: what becomes of the one before is no change of it.
    for tier in (table := open_.state.plan(FLOW)[1].tables["ods.lv_orders"]).tiers.present:
        open_.stores[tier].drop(table.name)
    looks = trigger.look()
    assert [look.flow for look in looks] == [FLOW, "reader"]
    assert not any(look.records or look.paused for look in looks), looks


def test_another_flow_that_is_two_versions_behind_gets_all_rows_of_each(open_):
    """A person gave up the change that was to let it go on, too."""
    root = open_.project.root
    flow = root / "flows" / f"{FLOW}.yaml"
    flow.write_text(flow.read_text() + "tables: {ods.lv_orders: {history: rewrite}}\n")
    (root / "actions" / "lines.sql").write_text(LINES)
    (root / "flows" / "reader.yaml").write_text(READER)
    add(root, 0)
    drained(open_, FLOW, "reader")
    for part, least in ((1, 10), (3, 20)):
        add(root, part)
        drained(open_, FLOW)  # the reader is behind when the table is rebuilt
        write_action(root, "keep", f"SELECT * FROM rows WHERE cents > {least}")
        add(root, part + 1)
        drained(open_, FLOW)
    assert open_.state.versions()["ods.lv_orders"] == 3
    first = open_.state.open_change("reader")
    assert first.moves["ods.lv_orders"].version == 2
    open_.state.give_up(first.id)
    drained(open_, "reader")
    assert open_.state.versions("reader")["ods.lv_orders"] == 3
    assert open_.state.open_change("reader") is None
    found = served(open_, "dwd.lr_lines", flow="reader").to_pylist()
    wanted = [*orders(0), *orders(1)]
    wanted += [row for part, least in ((2, 10), (3, 10), (4, 20)) for row in orders(part) if row[1] > least]
    assert sorted((row["order_id"], row["cents"]) for row in found) == sorted(wanted)
    spent = {}
    for row in served(open_, "ods.lv_orders").to_pylist():
        spent[row["customer"]] = spent.get(row["customer"], 0) + row["cents"]
    found = served(open_, "dws.lr_spent", flow="reader").to_pylist()
    assert {row["customer"]: row["cents"] for row in found} == spent


def test_another_flow_that_keeps_its_history_gets_all_rows_of_a_table_of_another_source(open_):
    """Its positions in the version before stand for none of the rows of the new one, so it is built anew as well."""
    root = open_.project.root
    (root / "actions" / "lines.sql").write_text(LINES)
    (root / "flows" / "reader.yaml").write_text(READER)
    (root / "others").mkdir()

    def other(number):
        add(root, number)
        (root / "data" / f"{number:04}.csv").rename(root / "others" / f"{number:04}.csv")

    add(root, 0)
    drained(open_, FLOW, "reader")
    add(root, 1)
    drained(open_, FLOW)  # the reader is behind
    other(2)
    flow = root / "flows" / f"{FLOW}.yaml"
    flow.write_text(flow.read_text().replace("path: data/*.csv", "path: others/*.csv"))
    drained(open_, FLOW)
    assert open_.state.versions()["ods.lv_orders"] == 2
    drained(open_, "reader")
    assert (open_.state.versions()["dwd.lr_lines"], open_.state.versions()["dws.lr_spent"]) == (2, 2)

    def held():
        return sorted(
            (row["order_id"], row["cents"]) for row in served(open_, "dwd.lr_lines", flow="reader").to_pylist()
        )

    assert held() == sorted(orders(2)), "every row of the other source, and none of the first"
    other(3)
    drained(open_, FLOW, "reader")
    assert held() == sorted([*orders(2), *orders(3)])
    assert_equals_batch(open_, "ods.lv_orders", "dws.lv_spent", "ads.lv_best")


def test_other_engines_find_what_serves_under_its_own_name(open_):
    """By links beside the lake, also of a copy that tiering fills, and after a kill before they were replaced."""
    from pypaimon import CatalogFactory

    root, links = open_.project.root, serving(open_.project, Tier.WARM)
    tiers = "{dws.lv_spent: {tiers: {warm: 30d}}, ads.lv_best: {tiers: {hot: 1d, warm: 30d}}}"
    file = root / "flows" / f"{FLOW}.yaml"
    file.write_text(f"{file.read_text()}tables: {tiers}\n")

    def shown(table):
        found = CatalogFactory.create({"warehouse": str(links.folder)}).get_table(table)
        ours = {"_rk", NULL_BITS}
        names = [field.name for field in found.fields if field.name not in ours]
        builder = found.new_read_builder().with_projection(names)
        return sorted(map(str, builder.new_read().to_arrow(builder.new_scan().plan().splits()).to_pylist()))

    def check(*tables):
        for table in tables:
            assert shown(table) == sorted(map(str, served(open_, table).to_pylist())), table

    add(root, 0)
    drained(open_, FLOW)
    tier_here(open_, [FLOW])
    check("dws.lv_spent", "ads.lv_best")
    before = shown("ads.lv_best")
    write_action(root, "spent", "SELECT customer, SUM(cents + tax) AS cents FROM rows GROUP BY customer")
    add(root, 1)
    drained(open_, FLOW)
    assert open_.state.versions()["dws.lv_spent"] == open_.state.versions()["ads.lv_best"] == 2
    check("dws.lv_spent")
    assert shown("ads.lv_best") == before, "its copy is not there yet"
    tier_here(open_, [FLOW])
    check("ads.lv_best")
    links.show("dws.lv_spent")  # as after a kill between the swap and this
    drained(open_, FLOW)
    check("dws.lv_spent", "ads.lv_best")
    drop_version(open_, open_.state.plan(FLOW)[1].tables["dws.lv_spent"], 1)
    check("dws.lv_spent")


def test_an_edit_that_is_undone_goes_back_to_the_version_that_served(live):
    write_action(live.root, "spent", "SELECT customer, SUM(cents + tax) AS cents FROM rows GROUP BY customer")
    _, change = live.apply()
    assert live.open.state.versions() == {"dws.lv_spent": 2, "ads.lv_best": 2} == change.versions
    live.add()
    live.drained()
    write_action(live.root, "spent")
    _, back = live.apply()
    assert back.phase is Phase.APPLIED, back.error
    assert back.versions == {"dws.lv_spent": 1, "ads.lv_best": 1}
    assert live.open.state.versions() == {}
    live.add()
    live.drained()
    live.assert_equals_batch()
    write_action(live.root, "spent", "SELECT customer, SUM(cents + tax) AS cents FROM rows GROUP BY customer")
    _, again = live.apply()
    assert again.versions == change.versions  # and forth
    live.add()
    live.drained()
    live.assert_equals_batch()
