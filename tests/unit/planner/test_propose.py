"""What a Request becomes in a small project: files that compile, what they take from what is there, and why not."""

from pathlib import Path
from typing import Any

import pytest

from streamhouse.planner import catalog_cache
from streamhouse.planner.flow_text import with_freshness, with_step
from streamhouse.planner.proposal import Proposal, Status
from streamhouse.planner.propose import propose
from streamhouse.planner.request import (
    Question,
    Request,
    Understood,
)
from streamhouse.planner.try_files import with_edits
from streamhouse.planner.workspace import Workspace
from streamhouse.project.check import check_project, load_registry
from streamhouse.project.project import Project
from streamhouse.registry.read_flow import read_flow
from tests.composed_cases import asked, col, cut, dim, measure, where
from tests.shop_project import FLOW, make_shop
from tests.shop_requests import DOES_NOT_FOLD, FOLDS, REVENUE, SOUND, STORE


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return Workspace.of(Project.at(make_shop(tmp_path_factory.mktemp("shop"))))


def _proposed(space: Workspace, request: Request, **more: Any) -> Proposal:
    found = propose(Understood(request=request), "a wish", space, **more).proposal
    assert found.status is Status.PROPOSED, found.refusal
    return found


@pytest.mark.parametrize("name", SOUND)
def test_files_pass_validate_and_compile(space: Workspace, name: str) -> None:
    found = _proposed(space, SOUND[name])
    assert found.files
    registry = load_registry(space.project, with_edits(space.files, found.files))
    checked = check_project(space.project, registry)
    assert not checked.errors
    assert found.table in {step.writes.name for plan in checked.plans.values() for step in plan.steps}
    assert not [one for one in found.checks if one.verdict == "failed"]


@pytest.mark.parametrize("name", SOUND)
def test_same_request_same_bytes(space: Workspace, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog_cache, "_entries", {})
    again = Workspace.of(space.project)
    assert _proposed(space, SOUND[name]).model_dump_json() == _proposed(again, SOUND[name]).model_dump_json()


@pytest.mark.parametrize("name", [*SOUND, *(f"fold: {name}" for name in FOLDS)])
def test_asked_again_it_is_there(space: Workspace, name: str, tmp_path: Path) -> None:
    request = FOLDS[name.removeprefix("fold: ")] if name.startswith("fold: ") else SOUND[name]
    first = _proposed(space, request)
    then = _written(space, first, tmp_path)
    second = _proposed(then, request)
    assert (second.table, second.files) == (first.table, ())
    assert [one.kind for one in second.reuses] == ["table"]
    alone = _proposed(then, request, alone=True)
    assert (alone.action, alone.files) == (first.action, ())


@pytest.mark.parametrize("name", [*SOUND, *(f"fold: {name}" for name in FOLDS)])
def test_a_lone_action_that_is_there_is_taken_for_a_table(space: Workspace, name: str, tmp_path: Path) -> None:
    request = FOLDS[name.removeprefix("fold: ")] if name.startswith("fold: ") else SOUND[name]
    alone = _proposed(space, request, alone=True)
    assert alone.files
    then = _written(space, alone, tmp_path)
    second = _proposed(then, request)
    assert second.action == alone.action
    assert [one.path.partition("/")[0] for one in second.files] == ["flows"]


def test_asked_again_it_is_there_although_a_smaller_aggregate_came(space: Workspace, tmp_path: Path) -> None:
    per_month = asked(dimensions=(cut("month", "month"),), measures=(REVENUE,))
    first = _proposed(space, per_month)
    by_day = asked(dimensions=(cut("day", "day"),), measures=(REVENUE, measure("n")))
    then = _written(space, first, tmp_path / "one")
    both = _written(then, _proposed(then, by_day), tmp_path / "two")
    again = _proposed(both, per_month)
    assert (again.table, again.files) == (first.table, ())


def _written(space: Workspace, first: Proposal, root: Path) -> Workspace:
    """The project with the files of a proposal, in another folder."""
    for file in (*space.files.actions, *space.files.flows):
        (root / file.name).parent.mkdir(parents=True, exist_ok=True)
        (root / file.name).write_text(file.text())
    for edit in first.files:
        (root / edit.path).parent.mkdir(parents=True, exist_ok=True)
        (root / edit.path).write_text(edit.after)
    (root / "data").mkdir()
    for data in (space.project.root / "data").iterdir():
        (root / "data" / data.name).write_bytes(data.read_bytes())
    return Workspace.of(Project.at(root))


def test_names_and_layers(space: Workspace) -> None:
    tables = {name: _proposed(space, request).table for name, request in SOUND.items()}
    assert tables == {
        "aggregate": "dws.revenue_and_n_by_note_and_hour",
        "join": "dws.kinds_by_city",
        "one row": "dws.kinds_overall",
        "filtered rows": "dwd.sales_with_min_cents",
        "columns without the key": "dwd.sales_with_min_cents",
        "without any": "dwd.stores_without_sales",
        "ranking": "ads.top_note_by_revenue",
        "share": "ads.revenue_and_part_by_note",
        "change": "ads.revenue_and_rise_by_h",
        "rows that are only appended": "dwd.clicks_with_who",
        "best of rows without a key": "ads.top_clicks_by_who",
        "last days": "dws.n_by_store",
    }


def test_a_table_that_holds_the_answer_is_taken(space: Workspace) -> None:
    request = asked(dimensions=(cut("d", "day"), STORE), measures=(measure("n"), measure("m", "max", col("cents"))))
    found = _proposed(space, request)
    assert (found.table, found.files) == ("dws.sales_by_day", ())
    assert "lines AS n" in found.sql
    assert "FROM dws.sales_by_day" in found.sql


@pytest.mark.parametrize("name", FOLDS)
def test_an_aggregate_is_folded_further(space: Workspace, name: str) -> None:
    found = _proposed(space, FOLDS[name])
    assert [(one.kind, one.name) for one in found.reuses] == [("table", "dws.sales_by_day")]
    assert "dwd.sales" not in found.sql


@pytest.mark.parametrize("name", DOES_NOT_FOLD)
def test_what_does_not_fold_is_computed(space: Workspace, name: str) -> None:
    found = _proposed(space, DOES_NOT_FOLD[name])
    assert found.reuses == ()
    assert "dwd.sales" in found.sql


def test_an_action_is_taken_with_other_values(space: Workspace) -> None:
    request = asked(columns=(dim("id"), dim("note"), dim("cents")),
                    filters=(where(col("cents"), ">=", 7000), where(col("note"), "=", "y")))  # fmt: skip
    found = _proposed(space, request)
    assert [(one.kind, one.name) for one in found.reuses] == [("action", "large_sales")]
    assert found.values == {"least": 7000, "word": "y"}
    assert [edit.path for edit in found.files] == ["flows/shop.yaml"]
    assert "with: {least: 7000, word: y}" in found.files[0].after
    other = asked(columns=(dim("id"), dim("note"), dim("cents")),
                  filters=(where(col("cents"), ">", 7000), where(col("note"), "=", "y")))  # fmt: skip
    assert _proposed(space, other).reuses == ()


def test_action_alone(space: Workspace) -> None:
    found = _proposed(space, SOUND["aggregate"], alone=True)
    assert [edit.path for edit in found.files] == ["actions/aggregate/revenue_and_n_by_note_and_hour.sql"]
    assert found.flow == ""
    known = asked(dimensions=(STORE, cut("day", "day")), measures=(measure("n"),))
    again = _proposed(space, known, alone=True)
    assert (again.files, again.action) == ((), "sales_by_day")


def test_questions_and_refusals_pass_through(space: Workspace) -> None:
    question = Understood(questions=(Question(text="which?", phrase="it", choices=("a",)),))
    assert propose(question, "w", space).proposal.status is Status.QUESTION
    refused = propose(Understood(refusal="no such thing"), "w", space).proposal
    assert (refused.status, refused.refusal) == (Status.REFUSED, "no such thing")
    wrong = propose(Understood(request=asked(dimensions=(dim("stor"),))), "w", space).proposal
    assert wrong.status is Status.REFUSED
    assert "SH701" in wrong.refusal
    assert not wrong.files


def within(freshness: str) -> Request:
    return Request.model_validate({**SOUND["aggregate"].model_dump(), "freshness": freshness})


def test_a_freshness_that_epochs_cannot_meet_is_refused_with_numbers(
    space: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    segments = [segment.name for plan in space.plans.values() for segment in plan.segments]
    monkeypatch.setattr(Workspace, "epoch_work_ms", lambda *_: dict.fromkeys(segments, [800] * 20))
    found = propose(Understood(request=within("10ms")), "a wish", space).proposal
    assert (found.status, found.files) == (Status.REFUSED, ())
    assert "cannot be fresh within 10ms: 95% of 20 epochs of segment" in found.refusal
    assert "worked up to 800 ms" in found.refusal
    kept = _proposed(space, within("5s"))
    assert "freshness" in {one.name for one in kept.checks if one.verdict == "passed"}
    assert not [note for note in kept.cost.notes if "unknown" in note and "holds" in note]


def test_a_freshness_that_nothing_shows_is_unknown_in_the_cost(space: Workspace) -> None:
    found = _proposed(space, within("10ms"))
    assert [note for note in found.cost.notes if note.startswith("whether 10ms holds is unknown: 0 epochs of segment")]
    assert not [note for note in _proposed(space, SOUND["aggregate"]).cost.notes if "holds" in note]


def test_a_table_that_is_there_is_as_fresh_as_its_flow_promises(space: Workspace) -> None:
    request = asked(dimensions=(cut("d", "day"), STORE), measures=(measure("n"), measure("m", "max", col("cents"))))
    strict = Request.model_validate({**request.model_dump(), "freshness": "1s"})
    assert [
        one for one in _proposed(space, strict).assumptions if "promised within 30s of its source, not within 1s" in one
    ]


def test_freshness_becomes_stricter_only(space: Workspace) -> None:
    strict = _proposed(space, SOUND["aggregate"].model_copy(update={"freshness": "5s"}).model_validate(
        {**SOUND["aggregate"].model_dump(), "freshness": "5s"}))  # fmt: skip
    assert "\nfreshness: 5s\n" in strict.files[1].after
    lax = _proposed(space, Request.model_validate({**SOUND["aggregate"].model_dump(), "freshness": "5m"}))
    assert "\nfreshness: 30s\n" in lax.files[1].after


def test_a_flow_of_its_own(space: Workspace) -> None:
    found = _proposed(space, SOUND["aggregate"], flow="reports")
    assert [edit.path for edit in found.files] == [
        "actions/aggregate/revenue_and_n_by_note_and_hour.sql",
        "flows/reports.yaml",
    ]
    assert found.files[1].before is None


def test_a_flow_keeps_its_text() -> None:
    step = {"use": "more", "reads": {"sales": "dwd.sales"}, "writes": "dws.more"}
    after = with_step(FLOW, step, "f.yaml")
    line = "  - {use: more, reads: {sales: dwd.sales}, writes: dws.more}"
    assert after.split("\n") == [
        *FLOW.split("\n")[:19], line, *FLOW.split("\n")[19:]
    ]  # fmt: skip
    assert read_flow(after, "f.yaml").steps[-1].writes == "dws.more"


@pytest.mark.parametrize(
    "text",
    [
        "flow: f\nsteps: [{use: a, reads: {b: c}, writes: dws.a}]\n",
        "flow: f\nsteps:\n- use: a\n  reads:\n    b: c\n  writes: dws.a   # why\n\n# the end",
        "steps:\n  - use: a\n    reads: {b: c}\n    with:\n      t: |\n        several\n    writes: dws.a\nflow: f\n",
        "{flow: f, steps: [{use: a, reads: {b: c}, writes: dws.a}]}",
    ],
)
def test_layouts_of_flows(text: str) -> None:
    before = read_flow(text, "f.yaml")
    after = read_flow(with_step(text, {"use": "x", "reads": {"y": "dws.a"}, "writes": "dws.x"}, "f.yaml"), "f.yaml")
    assert [one.use for one in after.steps] == [*(one.use for one in before.steps), "x"]
    fresh = read_flow(with_freshness(text, before.freshness * 2, "f.yaml"), "f.yaml")
    assert fresh.freshness == before.freshness * 2
    assert "# why" not in text or "# why" in with_step(text, {"use": "x", "reads": {}, "writes": "dws.x"}, "f.yaml")


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize(
    ("name", "what"),
    [("sales_by_day", "the table dws.sales_by_day of flow shop"), ("large_sales", "the action large_sales")],
)
def test_a_name_that_is_taken_is_refused(space: Workspace, name: str, what: str, alone: bool) -> None:
    request = SOUND["aggregate"].model_copy(update={"name": name})
    found = propose(Understood(request=request), "a wish", space, alone=alone).proposal
    assert (found.status, found.files) == (Status.REFUSED, ())
    assert f"the name '{name}' is taken: {what} has it" in found.refusal
    assert f"give another name, such as {name}_2" in found.refusal


def test_a_table_may_have_the_name_of_the_action_that_makes_it(space: Workspace) -> None:
    request = asked(columns=(dim("id"), dim("note"), dim("cents")), filters=(
        where(col("cents"), ">=", 7000), where(col("note"), "=", "y")))  # fmt: skip
    found = _proposed(space, request.model_copy(update={"name": "large_sales"}))
    assert (found.table, found.action) == ("ads.large_sales", "large_sales")
    refused = propose(Understood(request=request.model_copy(update={"name": "sales"})), "a wish", space).proposal
    assert "the name 'sales' is taken: the table " in refused.refusal
    alone = _proposed(space, request.model_copy(update={"name": "sales"}), alone=True)
    assert (alone.action, alone.files) == ("large_sales", ())
