"""A table with a part of the rows, or of sums, is read where a wish names it; else its author is asked."""

from dataclasses import replace

import pytest

from streamhouse.model.action import Action, Output
from streamhouse.model.types import StepKind
from streamhouse.planner.catalog import Catalog
from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact
from tests.unit.planner.wish_catalogs import catalog, table

LONG = "SELECT kind, day, SUM(distance) AS distance FROM trips WHERE distance > 500 GROUP BY kind, day"
ALL = "SELECT kind, day, SUM(distance) AS distance FROM trips WHERE kind IS NOT NULL GROUP BY kind, day"


def with_table(sql: str) -> Catalog:
    found = catalog(
        table("ods.bikes", ["bike_id"], None, ["bike_id:i", "kind:s"]),
        table("dws.long_way", ["kind", "day"], "day", ["kind:s", "day:t", "distance:f#m"]),
    )
    action = Action(
        action="long_way",
        step=StepKind.AGGREGATE,
        inputs={"trips": {}},
        sql=sql,
        output=Output(primary_key=("kind", "day")),
    )
    tables = {**found.tables, "dws.long_way": replace(found.tables["dws.long_way"], action="long_way")}
    return Catalog(tables, found.keys, {"long_way": action})


@pytest.mark.parametrize("wish", ["total distance per kind", "average distance per month", "longest distance"])
def test_a_table_with_a_part_of_the_rows_is_asked_about(wish):
    found = understand(wish, with_table(LONG))
    assert found.request is None
    assert "dws.long_way has only rows where distance > 500" in compact(found)


@pytest.mark.parametrize(("wish", "sql"), [("average distance per month", ALL), ("highest distance", ALL)])
def test_figures_of_single_rows_are_asked_about_where_rows_are_sums(wish, sql):
    found = understand(wish, with_table(sql))
    assert found.request is None
    assert "each distance of dws.long_way is a sum of rows" in compact(found)


def test_a_sum_of_sums_is_the_sum_of_all():
    assert compact(understand("total distance per kind", with_table(ALL))).startswith("dws.long_way; by kind; get sum")


def test_who_names_the_table_means_it():
    found = understand("average distance of dws.long_way per month", with_table(LONG))
    assert compact(found).startswith("dws.long_way; by month(day); get avg")


def test_the_choice_of_the_question_answers_it():
    [question] = understand("average distance per month", with_table(LONG)).questions
    answered = "average distance per month".replace(question.phrase, question.choices[0])
    assert understand(answered, with_table(LONG)).request is not None


def test_a_query_that_cannot_be_read_counts_as_narrow():
    assert "cannot be read" in compact(understand("total distance per kind", with_table("SELECT FROM WHERE")))
