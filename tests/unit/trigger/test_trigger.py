"""The Flow Trigger over a project whose sources somebody else changes; what is applied is recorded as a run would."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamhouse.compiler.detached import detach_steps
from streamhouse.model.outcome import Outcome
from streamhouse.project.desired import desired_plan
from streamhouse.state.upstream import EventStatus
from streamhouse.trigger.trigger import Trigger
from tests.shop import BOARDS, FLOW, made_world
from tests.two_flows import spoil_plan
from tests.work import files_opened_by


@pytest.fixture
def world(tmp_path, monkeypatch):
    monkeypatch.delenv("STREAMHOUSE_STATE", raising=False)
    with made_world(tmp_path, "all") as made:
        yield made


def test_nothing_changed(world, monkeypatch):
    world.look()
    monkeypatch.setattr("streamhouse.trigger.trigger.run_round", None)  # an idle look compiles and decides nothing
    found = []
    assert not files_opened_by(lambda: found.append(world.look()), world.project.root), "and it reads no file again"
    (found,) = found
    assert (found.records, found.change, world.applied, world.events()) == ((), None, [], {})


def test_what_is_set_aside_stays_so_when_a_flow_is_compiled_again_until_it_is_together(world):
    world.flow(text=FLOW + "  - {use: take, reads: {rows: rows}, writes: ods.more}\n")
    world.run()
    world.look()
    whole = world.state.plan("shop")[1]
    cut = detach_steps(whole, [["ods.rows"]])
    world.state.save_plan(cut)
    found = world.look()
    assert (found.change, world.applied, world.events()) == (None, [], {}), "no edit"
    assert desired_plan(world.project, "shop") == cut
    assert world.trigger.together("shop") == whole
    world.action("clean", "price > 0", "price > 1")
    assert world.trigger.together("shop") is None, "an edit comes first"


def test_an_added_column_reaches_the_layers_that_let_it_in(world):
    world.rows("2", id=2, price=5, note="b", tax=1)
    found = world.look()
    assert found.change.diff.outcome is Outcome.SWAP
    assert [c.flow for c in world.applied] == ["shop"]
    assert "tax" in world.columns("dwd.sales")
    assert "tax" not in world.columns("dws.totals")
    assert world.events() == {"add_column tax bigint": EventStatus.APPLIED}
    again = world.look()
    assert (again.change, world.applied) == (None, [])
    # A run of the flow goes on with what was applied, though the source's first file lacks the column.
    world.run()
    assert world.state.plan("shop")[0] == 2


def test_an_added_column_reaches_the_last_layer_of_another_flow(world):
    world.flow("schema_change: evolve\n")
    world.flow("schema_change: evolve\n", name="boards", text=BOARDS)
    world.rows("2", id=2, price=5, note="b", tax=1)
    world.look()
    assert [c.flow for c in world.applied] == ["shop", "boards"]
    assert world.columns("ads.board", "boards") == ("id", "twice", "note", "tax")
    assert world.look().change is None


def test_a_change_made_while_the_flow_was_stopped_is_found_at_the_first_look(world):
    world.rows("2", id=2, price=5, note="b", tax=1)
    later = Trigger(world.project, world.state, {}, world.apply)
    found = {one.flow: one for one in later.look()}["shop"]
    assert [str(r.event) for r in found.records] == ["shop:rows: add_column tax bigint"]
    assert "tax" in world.columns("dwd.sales")


def test_a_used_column_that_goes_waits_for_a_person(world):
    world.without_price()
    found = world.look()
    assert world.applied == []
    assert found.paused == {"ods.rows"}
    (question,) = found.approvals
    assert question.asks == "go on without price, which is what rows are joined, grouped or chosen by"
    assert "starving column: dws.totals.twice, which is made of price" in question.evidence
    assert "rows, which changed upstream, is read in another way: price bigint of price bigint" in question.evidence
    assert question.document["diff"]["outcome"] == "swap"
    assert world.events() == {"drop_column price bigint": EventStatus.WAITING}
    assert world.look().approvals == (question,), "asked once"
    world.rows("5", id=2, price=7, note="b")  # it came back
    found = world.look()
    assert (found.paused, found.approvals) == (frozenset(), ())
    assert world.events() == {"drop_column price bigint": EventStatus.OUTDATED}
    assert world.state.approvals.list() == []


def test_a_refused_change_is_ignored_from_then_on(world):
    world.without_price()
    (question,) = world.look().approvals
    world.state.approvals.decide(question.id, grant=False, by="ada")
    found = world.look()
    assert (found.paused, found.approvals) == (frozenset(), ())
    (change,) = world.applied
    assert [str(one) for one in change.plan.adapted["rows"]] == ["price bigint of price bigint"], "or NULL"
    assert world.events() == {"drop_column price bigint": EventStatus.REFUSED}
    assert world.look().records == ()


def test_a_key_that_goes_needs_other_actions(world):
    world.flow("schema_change: lenient\n")
    world.look()
    for name in ("2", "3", "4"):
        world.rows(name, price=5, note="b")
    (question,) = world.look().approvals
    assert question.asks == "go on without id, which is part of a key"
    assert "the flow does not compile until its actions are changed" in question.evidence
    assert "ods.rows has no column 'id'" in question.document["error"]


def test_a_frozen_layer_stands_still_until_a_person_lets_the_column_in(world):
    world.flow("schema_change: {layers: {ods: freeze}}\n")
    world.look()
    world.rows("2", id=2, price=5, note="b", tax=1)
    found = world.look()
    assert found.paused == {"ods.rows"}
    assert world.applied == []
    assert "add column tax bigint" in found.approvals[0].evidence
    assert found.approvals[0].document["diff"]["outcome"] == "swap"
    world.state.approvals.decide(found.approvals[0].id, grant=True, by="ada")
    found = world.look()
    assert (found.paused, len(world.applied)) == (frozenset(), 1)
    assert "tax" in world.columns("ods.rows")
    assert "tax" in world.columns("dwd.sales")
    assert world.events()["add_column tax bigint"] is EventStatus.APPLIED
    world.run()
    assert "tax" in world.columns("ods.rows")


def test_what_cannot_be_done_by_itself_is_asked(world):
    world.flow("schema_change: {on: {change_type: try_evolve}}\n")
    world.look()
    world.rows("2", id=2, price=5, note=[1])
    found = world.look()
    (question,) = found.approvals
    assert "Streamhouse cannot do this by itself yet: cast to the old type, losses counted" in question.evidence
    assert found.paused == {"ods.rows"}


def test_an_edit_is_applied_and_told(world):
    world.action("totals", "price * 2", "price * 3")
    found = world.look()
    assert len(world.applied) == 0, "dws rewrites its history: a rebuild is asked for"
    (question,) = found.approvals
    assert question.asks == "apply a plan that would rebuild"
    assert "rebuild dws.totals (rule 14)" in question.evidence
    world.state.approvals.decide(question.id, grant=True, by="ada")
    world.look()
    (change,) = world.applied
    assert change.approved
    assert list(world.events().values()) == [EventStatus.APPLIED]
    assert world.look().change is None
    world.action("board", "SELECT id, twice", "SELECT id, twice, twice AS doubled")
    world.look()
    assert [c.flow for c in world.applied] == ["boards"]
    assert world.applied[0].diff.outcome is Outcome.SWAP


def test_an_edit_that_is_taken_back_asks_nothing_any_more(world):
    world.action("totals", "price * 2", "price * 3")
    assert len(world.look().approvals) == 1
    world.action("totals", "price * 3", "price * 2")
    assert world.look().approvals == ()
    assert list(world.events().values()) == [EventStatus.OUTDATED]
    assert world.state.approvals.list() == []


def test_a_broken_file_stops_nothing(world):
    world.action("board", "SELECT id", "SELEC id")
    world.rows("2", id=2, price=5, note="b", tax=1)
    found = {one.flow: one for one in world.trigger.look()}
    assert [c.flow for c in world.applied] == ["shop"]
    (record,) = found["boards"].records
    assert record.status is EventStatus.FAILED
    assert "SH104" in record.note
    world.action("board", "SELEC id", "SELECT id")
    world.look()
    assert list(world.events("boards").values()) == [EventStatus.OUTDATED]


def test_what_fails_is_tried_again(world):
    world.rows("2", id=2, price=5, note="b", tax=1)
    world.fails = True
    (record,) = world.look().records
    assert (record.status, "the flow does not run" in record.note) == (EventStatus.FAILED, True)
    world.fails = False
    world.look()
    assert world.events() == {"add_column tax bigint": EventStatus.APPLIED}


def test_without_somebody_who_applies_changes_are_only_told(world):
    world.rows("2", id=2, price=5, note="b", tax=1)
    only = Trigger(world.project, world.state, {})
    found = {one.flow: one for one in only.look()}["shop"]
    assert found.change.diff.outcome is Outcome.SWAP
    assert world.state.plan("shop")[0] == 1
    assert world.events() == {"add_column tax bigint": EventStatus.SEEN}
    world.look()
    assert world.events() == {"add_column tax bigint": EventStatus.APPLIED}


WARM = "tables:\n" + "".join(
    f"  {table}: {{tiers: {{warm: 30d}}}}\n" for table in ("ods.rows", "dwd.sales", "dws.totals")
)


def parquet(world, name, kind):
    rows = pa.table({"id": pa.array([1]), "price": pa.array([1]), "extra": pa.array([1], kind)})
    pq.write_table(rows, world.project.root / "data" / f"{name}.parquet")


@pytest.fixture
def typed(world):
    world.flow("schema_change: evolve\n" + WARM, text=FLOW.replace("json", "parquet"))
    (world.project.root / "flows" / "boards.yaml").unlink()
    parquet(world, "1", pa.int32())
    world.run()
    world.look()
    return world


def test_a_wider_type_is_followed_in_a_new_version(typed):
    parquet(typed, "2", pa.int64())
    typed.look()
    (change,) = typed.applied
    assert change.plan.tables["dws.totals"].column("extra").type == "bigint"
    assert {str(d) for t in change.diff.tables for tier in t.tiers for d in tier.ddl} == {"new version"}
    assert typed.events() == {"widen_type extra int → bigint": EventStatus.APPLIED}


def test_a_wider_type_that_no_tier_takes_waits_and_holds_up_who_reads_it(typed):
    typed.flow("schema_change: evolve\n", name="boards", text=BOARDS)
    typed.run()
    parquet(typed, "2", pa.float64())
    found = typed.look()
    assert typed.applied == []
    assert "rule 9" in found.approvals[0].evidence
    assert typed.events() == {"widen_type extra int → double": EventStatus.WAITING}
    assert typed.events("boards") == {}


def test_two_changes_are_one_plan(world):
    world.rows("2", id=2, price=5, note="b", tax=1, place="x")
    world.look()
    assert len(world.applied) == 1
    assert set(world.events().values()) == {EventStatus.APPLIED}
    assert {"tax", "place"} <= set(world.columns("dwd.sales"))


def test_a_person_takes_a_column_for_another_one(world):
    world.flow("schema_change: {on: {maybe_rename: evolve}}\n")
    world.look()
    for name in ("2", "3", "4"):
        world.rows(name, id=2, price=5, remark="b")
    found = world.look()
    assert world.events() == {"maybe_rename note → remark (string)": EventStatus.WAITING}
    assert found.paused == {"ods.rows"}
    world.state.approvals.decide(found.approvals[0].id, grant=True, by="ada")
    found = world.look()
    (change,) = world.applied
    assert [str(one) for one in change.plan.adapted["rows"]] == [
        "note string of remark string or note string",
        "remark string of remark string or note string",
    ]
    assert world.events() == {"maybe_rename note → remark (string)": EventStatus.APPLIED}
    assert found.paused == frozenset()
    world.run()
    assert world.state.plan("shop")[1].adapted == change.plan.adapted, "a run goes on so"
    assert (world.look().records, world.applied) == ((), [])


CDC = """flow: shop
schema_change: {policy}
sources: {{rows: {{cdc: {{path: data/*.json, primary_key: [id], columns: {{id: bigint, price: bigint}}}}}}}}
steps:
  - {{use: keyed, reads: {{rows: rows}}, writes: ods.rows}}
  - {{use: clean, reads: {{rows: ods.rows}}, writes: dwd.sales}}
"""


@pytest.fixture
def cdc(world):
    (world.project.root / "flows" / "boards.yaml").unlink()
    (world.project.root / "data" / "1.json").unlink()
    (world.project.root / "actions" / "keyed.sql").write_text(
        "/* ---\naction: keyed\nstep: ingest\ninputs: {rows: {}}\noutput: {primary_key: [id]}\n--- */\n"
        "SELECT * FROM rows"
    )

    def start(policy):
        world.flow(text=CDC.format(policy=policy))
        change(world, "1", id=1, price=5)
        world.run()
        world.look()
        return world

    return start


def change(world, name, *, op="c", **row):
    kinds = {int: "int64", str: "string"}
    fields = [{"field": n, "type": kinds[type(v)], "optional": True} for n, v in row.items()]
    schema = {"fields": [{"field": "after", "type": "struct", "fields": fields}]}
    world.rows(name, schema=schema, payload={"op": op, "before": None, "after": row or None})


def test_a_field_that_nobody_declared_becomes_a_column(cdc):
    from streamhouse.ingest.kinds import open_source

    world = cdc("evolve")
    change(world, "2", id=2, price=5, tax=1)
    world.look()
    assert world.events() == {"unknown_field tax bigint (in 1 of the rows looked at)": EventStatus.APPLIED}
    assert world.columns("dwd.sales") == ("id", "price", "tax")
    (planned,) = world.state.plan("shop")[1].sources
    source = open_source(planned, world.project.root)
    rows = sorted(source.read({}, source.available()).to_pylist(), key=lambda row: row["id"])
    assert rows == [{"id": 1, "price": 5, "tax": None}, {"id": 2, "price": 5, "tax": 1}]
    world.run()
    assert world.columns("dwd.sales") == ("id", "price", "tax"), "a run goes on with it"


def test_a_field_that_nobody_declared_is_only_noted_by_default(cdc):
    world = cdc("lenient")
    change(world, "2", id=2, price=5, tax=1)
    world.look()
    assert world.applied == []
    assert list(world.events().values()) == [EventStatus.NOTED]
    assert world.look().records == ()


@pytest.mark.parametrize(
    ("policy", "status"),
    [("lenient", EventStatus.APPLIED), ("evolve", EventStatus.WAITING), ("ignore", EventStatus.APPLIED)],
)
def test_a_truncated_table(cdc, policy, status):
    world = cdc(policy)
    truncated = json.dumps({"payload": {"op": "t", "before": None, "after": None, "ts_ms": 7}})
    change(world, "2", id=2, price=5)
    file = world.project.root / "data" / "2.json"
    file.write_text(f"{truncated}\n{file.read_text()}")
    found = world.look()
    assert world.events() == {"truncate_table": status}
    assert found.paused == (frozenset({"ods.rows"}) if status is EventStatus.WAITING else frozenset())


@pytest.mark.parametrize(("grant", "done"), [(True, "removed"), (False, "kept")])
def test_a_person_decides_of_each_truncation(cdc, grant, done):
    world = cdc("evolve")
    for name, ts_ms in (("2", 7), ("3", 8)):
        change(world, name, id=2, price=5)
        file = world.project.root / "data" / f"{name}.json"
        file.write_text(json.dumps({"payload": {"op": "t", "ts_ms": ts_ms}}) + "\n" + file.read_text())
        (question,) = world.look().approvals
        world.state.approvals.decide(question.id, grant=grant, by="ada")
        assert world.look().paused == frozenset()
    assert list(world.events().values()) == [EventStatus.APPLIED if grant else EventStatus.REFUSED] * 1
    (source,) = world.state.plan("shop")[1].sources
    assert list(source.truncated.values()) == [done, done]


def test_what_a_person_granted_and_nobody_can_do_goes_on_waiting(cdc):
    """Readers must not go on because somebody said yes."""
    world = cdc("evolve")
    change(world, "2", id=2, price=5)
    ddl = {"ddl": "ALTER TABLE rows …", "tableChanges": [{"table": {"primaryKeyColumnNames": ["id", "price"]}}]}
    file = world.project.root / "data" / "2.json"
    file.write_text(json.dumps(ddl) + "\n" + file.read_text())
    found = world.look()
    world.state.approvals.decide(found.approvals[0].id, grant=True, by="ada")
    found = world.look()
    assert world.applied == []
    assert list(world.events().values()) == [EventStatus.FAILED]
    assert found.paused == {"ods.rows"}


def test_a_changed_key_blocks_under_every_policy(cdc):
    world = cdc("ignore")
    ddl = json.dumps(
        {"ddl": "ALTER TABLE rows …", "tableChanges": [{"table": {"primaryKeyColumnNames": ["id", "price"]}}]}
    )
    change(world, "2", id=2, price=5)
    file = world.project.root / "data" / "2.json"
    file.write_text(f"{ddl}\n{file.read_text()}")
    assert world.look().paused == {"ods.rows"}
    (question,) = world.state.approvals.list()
    world.state.approvals.decide(question.id, grant=False, by="ada")
    assert world.look().paused == {"ods.rows"}, "what cannot be ignored goes on waiting"


TWO = """flow: shop
schema_change: evolve
sources:
  rows: {files: {path: data/*.json}}
  others: {files: {path: more/*.json}}
steps:
  - {use: take, reads: {rows: rows}, writes: ods.rows}
  - {use: clean, reads: {rows: ods.rows}, writes: dwd.sales}
  - {use: take, reads: {rows: others}, writes: ods.others}
"""


@pytest.fixture
def two(world):
    (world.project.root / "flows" / "boards.yaml").unlink()
    (world.project.root / "more").mkdir()
    world.rows("../more/1", id=1, size=1)
    world.flow(text=TWO)
    world.run()
    world.look()
    return world


def test_what_does_not_compile_holds_itself_alone(two):
    two.rows("2", id=2, price=5.5, note="b", tax=7)  # clean takes a bigint
    two.rows("../more/2", id=2, size=1, place="x")
    found = two.look()
    wider, tax, place = "widen_type price bigint → double", "add_column tax bigint", "add_column place string"
    assert two.events() == {wider: EventStatus.FAILED, tax: EventStatus.FAILED, place: EventStatus.APPLIED}
    assert "place" in two.columns("ods.others")
    assert not {"tax", "place"} & set(two.columns("ods.rows"))
    assert "ods.rows" in found.paused, "its rows would be read without what they bring"
    assert "ods.others" not in found.paused
    [note] = {r.note for r in two.state.upstream.events("shop") if r.status is EventStatus.FAILED}
    assert "ods.rows.price is double, but port 'rows' of clean takes bigint" in note
    # What comes later is followed as well, from what the flow knows by now.
    two.rows("../more/3", id=3, size=1, place="x", shelf="y")
    two.look()
    assert {"place", "shelf"} <= set(two.columns("ods.others"))
    assert two.events()["add_column shelf string"] is EventStatus.APPLIED
    assert {str(r.event) for r in two.state.upstream.open("shop")} == {f"shop:rows: {wider}", f"shop:rows: {tax}"}
    # An edit that has nothing to do with it is applied; the one that mends it lets it go on.
    two.flow(text=TWO, rules="description: edited\n")
    two.look()
    assert two.state.plan("shop")[1].description == "edited"
    assert two.events()[wider] is EventStatus.FAILED
    two.action("clean", "price: bigint", "price: double")
    found = two.look()
    if found.approvals:  # a wider column of a key table is built anew
        two.state.approvals.decide(found.approvals[0].id, grant=True, by="ada")
        found = two.look()
    assert set(two.events().values()) == {EventStatus.APPLIED}
    assert found.paused == frozenset()
    assert two.look().records == ()


def test_a_column_that_does_not_compile_holds_its_readers(two):
    two.action("take", "SELECT *", "SELECT *, 1 AS place")
    two.run()
    two.look()
    two.rows("../more/2", id=2, size=1, place="x")  # the name is taken
    two.rows("2", id=2, price=5, note="b", tax=7)
    found = two.look()
    assert two.events() == {"add_column place string": EventStatus.FAILED, "add_column tax bigint": EventStatus.APPLIED}
    assert found.paused == {"ods.others"}
    two.flow(text=TWO.replace("schema_change: evolve", "schema_change: {policy: evolve, tables: {ods.others: ignore}}"))
    assert two.look().paused == frozenset()
    assert two.events()["add_column place string"] is EventStatus.NOTED


def test_a_question_says_whose_plan_cannot_be_read(world):
    world.look()
    spoil_plan(world.project, "damaged", "boards")
    world.without_price()
    [question] = world.look().approvals
    assert question.evidence.endswith("not known: what this does to boards, whose plan cannot be read")


def test_a_flow_that_reads_from_one_whose_plan_cannot_be_read_is_not_looked_at(world):
    world.look()
    spoil_plan(world.project, "damaged", "shop")
    [look] = world.trigger.look()
    assert (look.flow, look.records, list(look.unseen)) == ("boards", (), ["boards"])
    assert look.unseen["boards"].startswith(
        "SH504 boards reads dws.totals, and it is not known which flow writes that; "
    )
