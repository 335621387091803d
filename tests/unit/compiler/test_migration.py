"""What carrying out a change takes: tables built anew, the candidate, what blocks, and whether streams can go on."""

from datetime import timedelta

import pytest

from streamhouse.compiler.cost import over_budget, with_cost
from streamhouse.compiler.diff import diff, read_again
from streamhouse.compiler.marks import marks
from streamhouse.compiler.migration import (
    blocked,
    candidate,
    copied,
    decided,
    followers,
    overtaken,
    same_streams,
    shared,
    tables_apart,
    tables_to_rebuild,
    taken_up,
    touched,
    without_lost,
)
from streamhouse.model.outcome import Outcome
from streamhouse.model.types import behind
from streamhouse.model.version import at_versions, stored_name, table_at, table_name
from tests.unit.compiler.test_outcomes import AGE, OUTCOMES, base, changed, project


def case(name):
    old, new, others = changed(OUTCOMES / "cases" / name)
    return old, new, others, diff(old, new, others)


def test_only_what_is_rebuilt_is_built_anew():
    _, new, _, found = case("16_argument_recompute")
    assert tables_to_rebuild(found, new, ()) == {"dws.mean_by_customer"}


def test_an_added_column_needs_no_new_table():
    _, new, _, found = case("03_added_column_map")
    assert tables_to_rebuild(found, new, ()) == frozenset()
    assert "dwd.orders" in tables_apart(found, new)
    assert "ads.totals" in tables_apart(found, new)  # made from it


def test_a_step_taken_up_again_does_not_go_on_in_its_old_table():
    _, new, _, found = case("90_new_step")
    [step] = [step for step in found.steps if step.change == "new"]
    assert step.table in tables_to_rebuild(found, new, {step.table})


def test_the_candidate_reads_what_goes_on_and_writes_new_names():
    _, new, _, _ = case("13_filter_merge")
    plan = candidate(new, {"dws.sums_by_store"}, {"dws.sums_by_store": 3, "dwd.orders": 2}, "shop-change-1")
    assert [step.writes.name for step in plan.steps] == ["dws.sums_by_store__v3"]
    assert [table.name for table in plan.external] == ["dwd.orders__v2"]
    assert (plan.flow, plan.sources) == ("shop-change-1", ())


def test_names_at_versions():
    plan = base()["shop"]
    assert at_versions(plan, {}) is plan
    stored = at_versions(plan, {"dwd.orders": 4})
    assert "dwd.orders__v4" in stored.tables
    assert {r.table for s in stored.steps for r in s.reads if "orders__" in r.table} == {"dwd.orders__v4"}
    assert stored_name("dwd.orders", 1) == "dwd.orders"
    quarantine = plan.tables["dwd.orders"].model_copy(update={"name": "dwd.orders__quarantine"})
    assert table_at(quarantine, {"dwd.orders": 4}).name == "dwd.orders__v4__quarantine"
    assert table_name("dwd.orders__v4__quarantine") == "dwd.orders__quarantine"
    assert table_name("dwd.orders__very") == "dwd.orders__very"


def test_streams_go_on_when_what_they_watch_is_the_same():
    same = ["03_added_column_map", "16_argument_recompute", "13_filter_keeps_history_map", "36_version_and_notes"]
    same += ["39_rows_per_epoch"]
    other = ["39_isolated", "34_freshness"]
    for name in same:
        old, new, _, _ = case(name)
        assert same_streams(old, new), name
    for name in other:
        old, new, _, _ = case(name)
        assert not same_streams(old, new), name


def test_what_another_plan_writes_otherwise():
    old, new, _, _ = case("13_filter_keeps_history_map")
    written = touched(old, new)
    assert {"dwd.orders", "dws.sums_by_store", "ads.totals"} <= written  # the step, and what is made from it
    assert not {"ods.orders", "dwd.named_orders"} & written
    assert touched(old, old) == set()
    gone = new.model_copy(update={"segments": (new.segments[0].model_copy(update={"steps": new.steps[:1]}),)})
    assert "ads.totals" in touched(old, gone)


def test_a_person_chooses_where_a_change_blocks():
    _, new, _, found = case("09_narrower_map")
    assert found.outcome is Outcome.BLOCK
    [table] = [step.table for step in found.steps if step.outcome is Outcome.BLOCK]
    assert table not in tables_to_rebuild(found, new, ())
    chosen = decided(found, {table: Outcome.REBUILD})
    assert chosen.outcome is Outcome.REBUILD
    assert table in tables_to_rebuild(chosen, new, ())
    assert decided(found, {"dws.other": Outcome.REBUILD}) == found


def test_nobody_may_choose_what_cannot_be():
    _, new, _, found = case("16_argument_recompute")
    other = new.model_copy(update={"flow": "other"})
    why = shared(new, {"dws.mean_by_customer"}, {"other": other, "shop": new})
    assert list(why) == ["dws.mean_by_customer"]
    stopped = blocked(found, why, final=True)
    assert stopped.outcome is Outcome.BLOCK
    assert decided(stopped, {"dws.mean_by_customer": Outcome.REBUILD}).outcome is Outcome.BLOCK


def test_a_history_above_the_budget_blocks_until_a_person_says_so():
    _, new, _, found = case("16_argument_recompute")
    priced = with_cost(found, new, {"dws.mean_by_customer"}, {"dwd.orders": 1_000_000})
    [reading] = [table.reading for table in priced.tables if table.reading is not None]
    assert (reading.rows, reading.bytes) == (1_000_000, 20_000_000)  # bigint, int, int, int
    assert str(reading) == "1,000,000 rows, about 20.0 MB"
    assert over_budget(priced, None) == over_budget(priced, 20_000_000) == {}
    stopped = blocked(priced, over_budget(priced, 19_999_999))
    assert stopped.outcome is Outcome.BLOCK
    assert decided(stopped, {"dws.mean_by_customer": Outcome.REBUILD}).outcome is Outcome.REBUILD


def test_followers_are_the_tables_of_other_flows_that_rest_on_what_changes():
    _, _, _, found = case("13_filter_rewrites_history_map")
    rebuilt = {c.step for s in found.steps for c in s.consumers if c.flow == "reports" and c.outcome is Outcome.REBUILD}
    assert followers(found) == ({"reports": rebuilt} if rebuilt else {})


def choose(name, table, choice, age=timedelta(0)):
    old, new, others = changed(OUTCOMES / "cases" / name)
    found = diff(old, new, others, age=age, choices={table: choice})
    return new, found, {step.table: step.outcome for step in found.steps}


def test_steps_that_read_follow_what_a_person_chose():
    new, found, outcomes = choose("09_narrower_map", "dwd.orders", Outcome.REBUILD)
    assert outcomes["dwd.orders"] is outcomes["dws.mean_by_customer"] is Outcome.REBUILD
    assert "dws.mean_by_customer" in tables_to_rebuild(found, new, ())


def test_history_that_is_kept_by_choice_is_not_built_anew():
    new, found, outcomes = choose("93_history_not_held", "dwd.orders", Outcome.FORWARD, AGE)
    assert outcomes["dwd.orders"] is outcomes["ads.large_orders"] is Outcome.FORWARD
    assert tables_to_rebuild(found, new, ()) == frozenset()


def test_history_cannot_be_kept_where_no_row_could_stay():
    for name, table in (("09_narrower_map", "dwd.orders"), ("09_other_type_recompute", "dws.mean_by_customer")):
        _, found, _ = choose(name, table, Outcome.FORWARD)
        assert found.outcome is Outcome.BLOCK


def test_another_version_of_a_table_that_keeps_its_history_gets_the_rows_that_are_there():
    for name, table, is_copied in [
        ("08_wider_integer_map", "dwd.orders", True),
        ("08_float_shown_as_double_map", "dwd.orders", True),
        ("29_buckets", "dws.sums_by_store", False),
        ("14_expression_history_of_the_flow", "dwd.orders", False),
        ("37_another_source", "ods.orders", False),
    ]:
        _, new, _, found = case(name)
        anew = tables_to_rebuild(found, new, ())
        assert table in anew, name
        assert (table in copied(found, new, anew)) == is_copied, name


def test_marks_are_of_tables_that_keep_their_rows():
    _, new, _, found = case("08_float_shown_as_double_map")
    anew = tables_to_rebuild(found, new, ())
    assert marks(found, new, anew, copied(found, new, anew), _none)["dwd.orders"] == ("rate",)
    assert "dwd.orders" not in marks(found, new, anew, (), _none)


def test_marks_of_what_rests_on_rows_that_keep_their_meaning():
    _, new, _, found = case("14_expression_of_what_is_computed_whole")
    anew = tables_to_rebuild(found, new, ())
    told = marks(found, new, anew, (), _none)
    assert told["ads.totals"] == ("cents",), "computed whole at each run, of all rows"
    assert told["dws.by_note"] == ("cents",), "of another flow"
    steps = {change.table: change for change in found.steps}
    assert steps["ads.totals"].outcome is Outcome.FORWARD


def test_a_table_that_is_filled_of_marked_rows_is_marked():
    _, new, _, found = case("15_group_key_changed_recompute")
    anew = tables_to_rebuild(found, new, ())
    assert anew == {"dws.mean_by_customer"}
    known = {"dwd.orders": ("cents",)}
    told = marks(found, new, anew, (), lambda table: known.get(table, ()))
    assert told == {"dws.mean_by_customer": ("mean",)}
    known = {"dwd.orders": ("small",)}
    told = marks(found, new, anew, (), lambda table: known.get(table, ()))
    assert told == {"dws.mean_by_customer": new.tables["dws.mean_by_customer"].column_names}, "it decides about rows"


def _none(_: str) -> tuple[str, ...]:
    return ()


def test_a_column_that_comes_back_gets_another_version():
    old, new, _, found = case("03_added_column_map")
    assert taken_up(old, new, {"dwd.orders": {"id", "note"}}) == frozenset()
    again = taken_up(old, new, {"dwd.orders": {"less"}})
    assert again == {"dwd.orders"}
    anew = tables_to_rebuild(found, new, (), again)
    assert "dwd.orders" in copied(found, new, anew, again)


def test_what_follows_a_table_of_another_source_is_built_anew_whatever_keeps_its_history():
    old, new, others, found = case("37_another_source")
    anew = tables_to_rebuild(found, new, ())
    assert anew == set(new.tables) - {"ods.returns", "ods.customers", "ads.totals"}, "what is computed at each run"
    assert followers(found) == {"reports": {"dws.by_note"}}
    assert overtaken(old, new, anew, others.values(), followers(found)) == {}
    readers = {s.writes.name for s in new.steps if "ods.orders" in s.follows}
    assert set(overtaken(old, new, {"ods.orders"})) == readers
    assert overtaken(old, new, anew, others.values()) == {"dws.by_note": "dwd.orders"}


def test_what_follows_a_table_whose_rows_are_of_what_they_were_goes_on_at_its_end():
    for name in ("13_filter_merge", "08_wider_integer_map", "14_expression_history_of_the_flow", "29_buckets"):
        old, new, others, found = case(name)
        anew = tables_to_rebuild(found, new, ())
        assert anew
        assert overtaken(old, new, anew, others.values(), followers(found)) == {}, name


def test_a_new_step_behind_a_new_one_that_gets_its_history_gets_it_too(tmp_path):
    steps = (
        "steps:\n  - {use: clean_orders, reads: {orders: ods.orders}, writes: dwd.more}\n"
        "  - {use: sums_by_store, reads: {orders: dwd.more}, writes: dws.more}\n"
    )
    (tmp_path / "layer" / "flows").mkdir(parents=True)
    flow = (OUTCOMES / "base" / "flows" / "shop.yaml").read_text().replace("steps:\n", steps)
    (tmp_path / "layer" / "flows" / "shop.yaml").write_text(flow)
    old, new = project(tmp_path / "old")["shop"], project(tmp_path / "new", tmp_path / "layer")["shop"]
    found = diff(old, new, {})
    anew = tables_to_rebuild(found, new, ())
    assert anew == {"dwd.more", "dws.more"}
    told = next(step for step in found.steps if step.table == "dws.more")
    assert "its older rows come from the history of dwd.more" in told.findings[0].proof
    assert overtaken(old, new, anew) == {}


@pytest.mark.parametrize(
    ("store", "tables", "again"),
    [("store", "  dwd.both: {buckets: 3}\n", ()), ("CAST(store AS bigint)", "", ()), ("store", "", {"dwd.both"})],
)
def test_rows_of_an_arm_over_something_new_pass_no_reader_by(tmp_path, store, tables, again):
    """Where the table gets another version, its readers are built anew as well; what no finding tells is refused."""
    arms = OUTCOMES / "cases" / "37_new_arm_of_a_union_map"
    below = "  - {use: large_orders, reads: {orders: dwd.both}, writes: ads.below}\n"

    def made(layer, sql, store, tables):
        (tmp_path / layer / "actions").mkdir(parents=True)
        (tmp_path / layer / "flows").mkdir()
        columns = f"SELECT id, {store} AS store, 'x' AS note, "
        (tmp_path / layer / "actions" / "both.sql").write_text(sql.read_text().replace("SELECT id, ", columns))
        flow = (arms / layer / "flows" / "shop.yaml").read_text()
        (tmp_path / layer / "flows" / "shop.yaml").write_text(flow.replace("tables:\n", f"{below}tables:\n{tables}"))
        return project(tmp_path / f"{layer}-project", tmp_path / layer)["shop"]

    old = made("old", OUTCOMES / "base" / "actions" / "both.sql", "store", "")
    new = made("new", arms / "new" / "actions" / "both.sql", store, tables)
    found = diff(old, new, {})
    anew = tables_to_rebuild(found, new, (), again)
    if again:
        assert (anew, overtaken(old, new, anew)) == ({"dwd.both"}, {"ads.below": "dwd.both"})
    else:
        assert (anew, overtaken(old, new, anew)) == ({"dwd.both", "ads.below"}, {})


def test_a_table_that_lost_what_another_segment_had_not_read_is_read_anew_by_other_segments_alone():
    plan = base()["shop"]
    segments = plan.segments
    [writer] = (s for s in segments if "dwd.orders" in s.tables)
    large = tuple(step for step in writer.steps if step.id == "ads.large_orders")
    rest = writer.model_copy(update={"steps": tuple(step for step in writer.steps if step not in large)})
    others = tuple(s for s in segments if s is not writer)
    old = plan.model_copy(
        update={"segments": (rest, *others, rest.model_copy(update={"name": "apart", "steps": large}))}
    )
    new = old.model_copy(update={"again": {"dwd.orders": "lost"}, "given_up": {"ods.orders": {"0": ((1, 2),)}}})
    found = diff(old, new, {})
    assert tables_to_rebuild(found, new, ()) == {"ads.large_orders", "dws.sums_by_store"}, "which reads it in the lake"
    assert read_again(old, new) == {"dwd.orders"}
    ending = without_lost(old, new, {"dwd.orders": ["0", "1"]})
    assert ending.segments == old.segments
    assert behind(ending.given_up["dwd.orders"]["1"], 7) > 1 << 62, "nothing more of it is read"
    assert ending.given_up["ods.orders"] == new.given_up["ods.orders"]
    assert without_lost(old, old, {}) is old
