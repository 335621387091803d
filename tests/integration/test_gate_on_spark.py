"""Wrong proposals do not get into the project: each is refused with its reason, by a real Spark where it must be."""

import pytest

from streamhouse.compiler import step as planning
from streamhouse.errors import ProposalFailedError
from streamhouse.jobs.ask import ask, write
from streamhouse.jobs.ask_options import Options
from streamhouse.model.types import Strategy
from streamhouse.planner.proposal import FileEdit, Status
from streamhouse.planner.proposals import Proposals
from streamhouse.project.desired import desired_plans
from streamhouse.project.project import Project
from streamhouse.sql.classify import Classification
from streamhouse.state.records import EpochRecord
from tests.gate.levels import deep
from tests.integration.test_trial import tried
from tests.scripted_models import Script, sql, write_shop

pytest.importorskip("pydantic_ai")
pytestmark = [
    pytest.mark.spark,
    pytest.mark.usefixtures("spark"),
    deep(
        "more faults; a right proposal stays",
        stays=("test_a_right_proposal_is_tried_and_written",),
    ),
]

WISH = "blorps per quux"
PER_CITY = sql(
    "SELECT t.city, SUM(s.cents) AS cents FROM ods.sales s JOIN ods.stores t ON t.store_id = s.store_id "
    "GROUP BY t.city",
    "city",
)


@pytest.fixture
def project(tmp_path):
    (tmp_path / "flows").mkdir()
    return Project.at(tmp_path)


@pytest.fixture
def shop(tmp_path, monkeypatch):
    monkeypatch.setattr("pydantic_ai.models.ALLOW_MODEL_REQUESTS", False)
    monkeypatch.delenv("STREAMHOUSE_STATE", raising=False)
    return write_shop(tmp_path)


@pytest.fixture
def proposed(shop, monkeypatch):
    """The proposal that a model's answer becomes."""

    def made(answer, **options):
        monkeypatch.setattr("streamhouse.planner.models.connect.open_model", lambda *_: Script(answer).model)
        return ask(shop, WISH, Options(model="openai:scripted", **options))

    return made


@pytest.mark.parametrize(
    ("query", "key", "why"),
    [
        ("SELECT store_id, FIRST(note) AS note FROM ods.sales GROUP BY store_id", "store_id", "depends on the order"),
        ("SELECT store_id, LAST(cents) AS cents FROM ods.sales GROUP BY store_id", "store_id", "depends on the order"),
        ("SELECT store_id, ANY_VALUE(note) AS note FROM ods.sales GROUP BY store_id", "store_id", "the order"),
        ("SELECT store_id, COLLECT_LIST(cents) AS all FROM ods.sales GROUP BY store_id", "store_id", "the order"),
        ("SELECT store_id, MAX_BY(note, cents) AS note FROM ods.sales GROUP BY store_id", "store_id", "cents"),
        (
            "SELECT store_id, note FROM ods.sales QUALIFY ROW_NUMBER() OVER (PARTITION BY store_id ORDER BY cents) = 1",
            "store_id",
            "agree in",
        ),
        ("SELECT store_id, cents FROM ods.sales ORDER BY cents LIMIT 5", "store_id", "agree in"),
        ("SELECT store_id, MAX(RAND()) AS luck FROM ods.sales GROUP BY store_id", "store_id", "rand()"),
        (
            "SELECT s.store_id, SUM(s.cents) AS n FROM ods.sales s JOIN ods.sales d USING (store_id) GROUP BY 1",
            "store_id",
            "may count a row several times",
        ),
        ("SELECT note, SUM(cents) AS cents FROM ods.sales GROUP BY store_id, note", "note", "several rows may have"),
    ],
)
def test_what_cannot_be_the_same_each_time_is_refused_at_once(proposed, shop, query, key, why):
    found = proposed(sql(query, key))
    assert (found.status, found.files) == (Status.REFUSED, ())
    assert why in f"{found.refusal} {found.assumptions}", (found.refusal, found.assumptions)
    assert not (shop.root / "actions/aggregate").exists()


def test_a_promise_that_cannot_hold_is_refused_with_the_numbers(proposed, shop):
    rows, visible = {"ods.sales": 1}, {"ods": 4_000}
    with shop.state() as state:
        state.save_plan(desired_plans(shop)["shop"])
        state.begin_at(
            EpochRecord("shop", segment.name, at_ms, at_ms, at_ms, at_ms + 4_000, rows=rows, layer_visible_ms=visible)
            for segment in desired_plans(shop)["shop"].segments
            for at_ms in range(12)
        )
    found = proposed(sql(PER_CITY["action"]["sql"], "city", freshness="1s"))
    said = f"{found.refusal} {found.assumptions}"
    assert (found.status, found.files) == (Status.REFUSED, ())
    assert "cannot be fresh within 1s" in said, said
    assert "4,000 ms" in said
    assert proposed(sql(PER_CITY["action"]["sql"], "city", freshness="1h")).status is Status.PROPOSED


def test_an_example_that_fails_is_refused_with_the_rows(proposed):
    given = {
        "ods.sales": [{"store_id": 1, "cents": 5}, {"store_id": 1, "cents": 7}],
        "ods.stores": [{"store_id": 1, "city": "Oslo"}],
    }
    example = {"given": given, "expect": [{"city": "Oslo", "cents": 12}]}
    wrong = {**example, "expect": [{"city": "Oslo", "cents": 13}]}
    found = proposed(sql(PER_CITY["action"]["sql"], "city", examples=[wrong]), examples=True, preview=0)
    assert found.status is Status.REFUSED
    assert "example 1 fails" in f"{found.refusal} {found.assumptions}"
    found = proposed(sql(PER_CITY["action"]["sql"], "city", examples=[example]), examples=True, preview=0)
    assert [check.verdict for check in found.checks if check.name == "examples"] == ["passed"], found.checks


def test_an_example_that_fails_is_found_before_files_are_written(proposed, shop):
    found = proposed(PER_CITY, examples=False)
    rows = (
        "examples:\n- given:\n    sales: [{store_id: 1, cents: 5}]\n"
        "    stores: [{store_id: 1, city: Oslo}]\n  expect: [{city: Oslo, cents: 6}]\n"
    )
    edits = tuple(_with_example(edit, rows) for edit in found.files)
    with pytest.raises(ProposalFailedError, match="examples: other rows came out"):
        write(shop, found.model_copy(update={"files": edits}))
    assert not (shop.root / "actions/aggregate").exists()
    assert Proposals(shop).get(found.id).events[-1].what == "failed"


def _with_example(edit: FileEdit, rows: str) -> FileEdit:
    if not edit.path.endswith(".sql"):
        return edit
    return edit.model_copy(update={"after": edit.after.replace("--- */", f"{rows}--- */")})


def test_a_right_proposal_is_tried_and_written(proposed, shop):
    found = proposed(PER_CITY, examples=False)
    assert found.status is Status.PROPOSED, found.refusal
    assert len(write(shop, found)) == 2
    [check] = [check for check in Proposals(shop).get(found.id).proposal.checks if check.name == "epochs"]
    assert check.verdict == "passed"
    assert "in 3 epochs and as one batch: the same" in check.text


TOTAL = "SELECT order_id AS city, SUM(cents) OVER (PARTITION BY order_id % 3) AS cents FROM orders"


@pytest.mark.parametrize("planted", [Strategy.MAP, Strategy.RECOMPUTE, None])
def test_a_planted_strategy_gives_other_rows_in_epochs(project, monkeypatch, planted):
    """As if the compiler proved too much: a row of the result follows from the row of its key alone."""
    right = planning.classify

    def wrong(checked, *arguments, **named):
        found = right(checked, *arguments, **named)
        if found.strategy is Strategy.MAP:  # of the step that reads the sample
            return found
        return Classification(planted, "planted", ("city",), key_columns={"orders": {"city": "order_id"}})

    if planted is not None:
        monkeypatch.setattr(planning, "classify", wrong)
    trial = tried(project, TOTAL)
    assert trial.passed is (planted is None), str(trial)
    if planted is not None:
        assert "epochs and batch differ; only in the batch: {'city': " in str(trial)
