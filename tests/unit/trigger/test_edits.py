"""Saving a file changes nothing that runs, until a person applies it or a setting says that it is taken."""

import pytest

from streamhouse.change.change_request import begin
from streamhouse.errors import BlockedError, UnknownFlowError
from streamhouse.model.outcome import Outcome
from streamhouse.project.compare import compare_project
from streamhouse.project.edits import edits, to_run
from streamhouse.project.project import Project
from streamhouse.state.records import Phase
from streamhouse.state.upstream import EventStatus
from streamhouse.trigger.trigger import Trigger
from tests.shop import BOARDS, made_world


@pytest.fixture
def world(tmp_path, monkeypatch):
    monkeypatch.delenv("STREAMHOUSE_STATE", raising=False)
    with made_world(tmp_path, "off") as made:
        yield made


@pytest.fixture
def safe(tmp_path, monkeypatch):
    monkeypatch.delenv("STREAMHOUSE_STATE", raising=False)
    with made_world(tmp_path, "safe") as made:
        yield made


def edit(world, price="price > 1"):
    world.action("clean", "price > 0", price)


def add_column(world):
    world.action("totals", "price * 2 AS twice", "price * 2 AS twice, price * 3 AS thrice")


def test_an_edit_waits_and_is_told_once(world):
    before = world.state.plan("shop")
    edit(world)
    found = world.look()
    assert (world.applied, found.change, found.approvals, found.paused) == ([], None, (), frozenset())
    [record] = found.records
    assert record.status is EventStatus.WAITING
    assert record.note == (
        "an edit waits: forward (dwd.sales, dws.totals); see: streamhouse plan shop; take it: streamhouse apply shop"
    )
    world.look()
    assert [e.text for e in world.state.events("shop") if e.kind == "edit"] == [record.note]
    assert world.state.plan("shop") == before
    assert edits(world.project)["shop"].outcome is Outcome.FORWARD


def test_an_edit_that_is_taken_back_waits_no_more(world):
    edit(world)
    world.look()
    world.action("clean", "price > 1", "price > 0")
    assert world.look().records == ()
    assert (edits(world.project), world.state.plan("shop")[0]) == ({}, 1)


def test_what_changes_upstream_is_followed_by_what_is_applied_and_not_by_the_edit(world):
    edit(world)
    world.look()
    world.rows("2", id=2, price=5, note="b", tax=1)
    world.look()
    [change] = world.applied
    assert change.diff.outcome is Outcome.SWAP
    assert "tax" in world.columns("dwd.sales")
    assert "price > 0" in world.state.plan("shop")[1].segments[0].steps[1].sql
    assert edits(world.project)["shop"].outcome is Outcome.FORWARD, "the edit still waits"
    assert world.state.definitions.applied()["shop"].files["actions/clean.sql"].endswith("price > 0\n")


def test_policies_that_are_edited_wait_as_well(world):
    world.flow("schema_change: {layers: {ods: freeze}}\n")
    assert str(edits(world.project)["shop"]).startswith("an edit waits: what the flow does when something changes")
    world.rows("2", id=2, price=5, note="b", tax=1)
    assert world.look().approvals == ()
    assert "tax" in world.columns("dwd.sales"), "as the policies say that are applied"
    [compared] = [one for one in compare_project(world.project) if one.plan.flow == "shop"]
    assert (compared.differs, compared.is_change, compared.rules) == (True, False, True)
    world.state.definitions.note(compared.plan, compared.definition(world.project))
    world.rows("3", id=2, price=5, note="b", more=1)
    assert world.look().paused == {"ods.rows"}
    assert edits(world.project) == {}


@pytest.mark.parametrize("what", ["broken", "gone", "not UTF-8"])
def test_files_that_are_wrong_or_gone_change_nothing(world, what):
    file = world.project.root / "flows" / "shop.yaml"
    file.unlink() if what == "gone" else file.write_bytes(b"flow: shop\nsteps: 1\n" if what == "broken" else b"\xff")
    assert world.look().records[0].status is EventStatus.WAITING
    world.rows("2", id=2, price=5, note="b", tax=1)
    world.look()
    assert "tax" in world.columns("dwd.sales")
    wanted = to_run(world.project, "shop")
    assert (wanted.is_applied, wanted.plan) == (True, world.state.plan("shop")[1])
    assert wanted.edit.outcome is None
    assert to_run(world.project, "boards").is_applied


def test_a_flow_runs_with_what_is_applied_however_often_it_is_started(world):
    edit(world)
    wanted = to_run(world.project, "shop")
    assert (wanted.plan, wanted.is_applied) == (world.state.plan("shop")[1], True)
    begun = begin(world.state, wanted.plan, is_applied=wanted.is_applied)
    assert (begun.plan, begun.change) == (wanted.plan, None)
    later = Trigger(Project.at(world.project.root), world.state, {}, world.apply)
    assert [one.change for one in later.look()] == [None, None]
    assert world.state.plan("shop")[0] == 1


def test_what_was_applied_since_a_start_looked_is_what_it_begins_with(world):
    wanted = to_run(world.project, "shop")
    edit(world)
    [compared] = compare_project(world.project, "shop")
    world.state.save_plan(compared.plan, definition=compared.definition(world.project))
    begun = begin(world.state, wanted.plan, is_applied=wanted.is_applied)
    assert (begun.plan.fingerprint, begun.change) == (compared.plan.fingerprint, None)
    assert world.state.open_change("shop") is None


def test_a_flow_that_was_never_applied_begins_with_its_files(world):
    world.flow(name="more", text=BOARDS.replace("boards", "more").replace("ads.board", "ads.more"))
    wanted = to_run(world.project, "more")
    assert (wanted.is_applied, wanted.edit) == (False, None)
    begin(world.state, wanted.plan, definition=wanted.definition)
    assert set(world.state.definitions.applied()["more"].files) == {"flows/more.yaml", "actions/board.sql"}
    with pytest.raises(UnknownFlowError, match="unknown flow 'mroe'"):
        to_run(world.project, "mroe")


def test_a_flow_is_refused_that_reads_what_waits_in_another_ones_files(world):
    add_column(world)
    world.action("board", "twice: bigint}", "twice: bigint, thrice: bigint}")
    world.action("board", "SELECT id, twice", "SELECT id, twice, thrice")
    world.flow(name="more", text=BOARDS.replace("boards", "more").replace("ads.board", "ads.more"))
    wanted = to_run(world.project, "more")
    with pytest.raises(BlockedError, match=r"more reads thrice of dws.totals, which the files of shop have") as told:
        begin(world.state, wanted.plan, definition=wanted.definition)
    assert told.value.hint == "apply that first: streamhouse apply shop"
    assert world.state.plan("more") is None


def test_files_that_are_not_recorded_are_those_that_say_what_is_applied(world):
    plan = world.state.plan("shop")[1]
    assert plan.fingerprint
    world.state._database.write(lambda c: c.exec_driver_sql("DELETE FROM streamhouse_definition"))
    world.rows("2", id=2, price=5, note="b", tax=1)
    world.look()
    assert "tax" in world.columns("dwd.sales")
    assert set(world.state.definitions.applied()) == {"shop", "boards"}


def test_where_they_are_not_recorded_and_say_something_else_readers_wait(world):
    world.state._database.write(lambda c: c.exec_driver_sql("DELETE FROM streamhouse_definition"))
    edit(world)
    world.rows("2", id=2, price=5, note="b", tax=1)
    found = world.look()
    assert world.applied == []
    [held] = [r for r in found.records if r.status is EventStatus.FAILED]
    assert "the files that shop was applied with are not recorded" in held.note


def test_safe_takes_what_leaves_every_row_as_it_is(safe):
    add_column(safe)
    assert to_run(safe.project, "shop").is_applied is False
    safe.look()
    change = safe.applied[0]
    assert (change.flow, change.diff.outcome) == ("shop", Outcome.SWAP)
    assert "thrice" in safe.columns("dws.totals")
    assert "thrice" in safe.state.definitions.applied()["shop"].files["actions/totals.sql"]


def test_safe_leaves_the_rest_waiting(safe):
    edit(safe)
    safe.look()
    assert safe.applied == []
    assert to_run(safe.project, "shop").is_applied
    assert edits(safe.project)["shop"].outcome is Outcome.FORWARD


def test_a_change_brings_its_files_along(world):
    edit(world)
    [compared] = compare_project(world.project, "shop")
    from streamhouse.change.change_request import ask

    change = ask(world.state, compared, "ada", definition=compared.definition(world.project))
    assert change.phase is Phase.ASKED
    assert "price > 0" in world.state.definitions.applied()["shop"].files["actions/clean.sql"], "until it is applied"
    world.state.save_plan(change.plan)
    assert "price > 1" in world.state.definitions.applied()["shop"].files["actions/clean.sql"]


def test_a_setting_is_read_in_both_spellings_of_yaml(tmp_path):
    (tmp_path / "flows").mkdir()
    for text, said in (("off", "off"), ("false", "off"), ('"off"', "off"), ("safe", "safe"), ("all", "all")):
        (tmp_path / "streamhouse.yaml").write_text(f"auto_apply: {text}\n")
        assert Project.at(tmp_path).settings.auto_apply == said
    for wrong in ("on", "true", "1", "yes", "sometimes"):
        (tmp_path / "streamhouse.yaml").write_text(f"auto_apply: {wrong}\n")
        with pytest.raises(Exception, match=r"streamhouse\.yaml:1:13: SH101"):
            Project.at(tmp_path)
