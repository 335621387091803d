"""Proposals on real rows: aggregates folded further, the rows of new tables, and examples that were computed."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from sqlglot import exp

from streamhouse.errors import Location
from streamhouse.ingest.kinds import open_source
from streamhouse.jobs.ask_examples import example_of, examples_check
from streamhouse.planner.compose import compose
from streamhouse.planner.proposal import Status
from streamhouse.planner.propose import ProposalDraft, finished, propose
from streamhouse.planner.request import Request, Understood
from streamhouse.planner.try_files import with_edits
from streamhouse.planner.workspace import Workspace
from streamhouse.project.check import compile_with_upstream, load_registry
from streamhouse.project.project import Project
from streamhouse.registry.read_action import read_action
from streamhouse.sql.dialect import parse_query, render
from tests.shop_project import make_shop
from tests.shop_requests import FOLDS, SOUND

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@dataclass
class Shop:
    """The shop with its tables as views of a session; answers queries as `Asking` does."""

    spark: "SparkSession"
    space: Workspace

    def ask(self, sql: str) -> "Shop":
        tree = parse_query(sql, Location("test"))
        for table in tree.find_all(exp.Table):
            if table.db:
                alias = table.alias or table.name
                table.replace(exp.alias_(exp.to_table(f"{table.db}__{table.name}"), alias, table=True))
        self.rows = self.spark.sql(render(tree)).toArrow()
        return self

    def make(self, step: Any, sources: dict[str, Any]) -> Any:
        session = self.spark.newSession()
        for read in step.reads:
            rows = sources.get(read.table)
            name = read.table.replace(".", "__")
            arrow = self.spark.table(name).toArrow() if rows is None else rows
            session.createDataFrame(arrow).createOrReplaceTempView(read.port)
        return session.sql(step.sql).toArrow()


@pytest.fixture(scope="module")
def shop(spark: "SparkSession", tmp_path_factory: pytest.TempPathFactory) -> Shop:
    own = spark.newSession()
    own.conf.set("spark.sql.shuffle.partitions", "1")
    root = make_shop(tmp_path_factory.mktemp("shop"))
    made = Shop(own, Workspace.of(Project.at(root)))
    (plan,) = made.space.plans.values()
    opened = {source.name: open_source(source, root) for source in plan.sources}
    sources = {name: source.read({}, source.available()).combine_chunks() for name, source in opened.items()}
    for step in plan.steps:
        rows = made.make(step, sources)
        own.createDataFrame(rows).createOrReplaceTempView(step.writes.name.replace(".", "__"))
    return made


def _rows(table: Any) -> Counter[tuple[Any, ...]]:
    rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
    return Counter(tuple(float(f"{v:.10g}") if isinstance(v, float) else v for v in row) for row in rows)


def _draft(shop: Shop, request: Request) -> ProposalDraft:
    draft = propose(Understood(request=request), "a wish", shop.space)
    assert draft.proposal.status is Status.PROPOSED, draft.proposal.refusal
    return draft


@pytest.mark.parametrize("name", FOLDS)
def test_a_folded_aggregate_gives_the_same_rows(shop: Shop, name: str) -> None:
    folded = shop.ask(_draft(shop, FOLDS[name]).proposal.sql).rows
    direct = shop.ask(render(compose(FOLDS[name], shop.space.catalog))).rows
    assert folded.column_names == direct.column_names
    assert _rows(folded) == _rows(direct)
    assert direct.num_rows


@pytest.mark.parametrize("name", SOUND)
def test_the_table_has_the_rows_of_the_answer(shop: Shop, name: str) -> None:
    proposal = _draft(shop, SOUND[name]).proposal
    registry = load_registry(shop.space.project, with_edits(shop.space.files, proposal.files))
    plan = compile_with_upstream(shop.space.project, registry, proposal.flow)
    step = next(one for one in plan.steps if one.writes.name == proposal.table)
    rows, answer = shop.make(step, {}), shop.ask(proposal.sql).rows
    assert _rows(rows.select(answer.column_names)) == _rows(answer)
    key = list(step.writes.primary_key)
    assert not key or max(_rows(rows.select(key)).values(), default=1) == 1


@pytest.mark.parametrize("name", SOUND)
def test_examples_are_computed_and_pass(shop: Shop, name: str, tmp_path: Path) -> None:
    draft = _draft(shop, SOUND[name])
    assert draft.action is not None
    assert draft.effective_request is not None
    assert draft.catalog is not None
    example = example_of(draft.action, draft.effective_request, draft.catalog, shop, shop.spark)  # type: ignore[arg-type]
    done = finished(draft, shop.space, (example,))
    assert done.proposal.status is Status.PROPOSED, done.proposal.refusal
    assert done.action is not None
    assert examples_check(done.action, shop.spark).verdict == "passed"
    text = next(edit.after for edit in done.proposal.files if edit.path == done.action.path)
    known = read_action(text, "a.sql").action
    assert len(known.examples) == 1
    if example["expect"]:
        wrong = {**example, "expect": example["expect"] * 2}
        assert examples_check(done.action.with_examples((wrong,)), shop.spark).verdict == "failed"


def test_filters_let_some_rows_of_an_example_through(shop: Shop) -> None:
    draft = _draft(shop, SOUND["filtered rows"])
    assert draft.action is not None
    assert draft.catalog is not None
    assert draft.effective_request is not None
    example = example_of(draft.action, draft.effective_request, draft.catalog, shop, shop.spark)  # type: ignore[arg-type]
    given, expect = example["given"]["sales"], example["expect"]
    assert [row["id"] for row in given] == [3, 1, 2]
    assert [row["id"] for row in expect] == [3]
