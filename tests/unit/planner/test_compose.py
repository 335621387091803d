"""Texts of composed queries: what Spark is given, without Spark."""

from collections.abc import Callable
from pathlib import Path

import pytest

from streamhouse.errors import RequestShapeError, UnknownWordError
from streamhouse.planner.compose import compose, composed
from streamhouse.planner.meaning_of import filled, meaning_of
from streamhouse.planner.propose import plain_sql
from streamhouse.planner.request import Derived, Ranking
from streamhouse.planner.sentence import sentence
from streamhouse.planner.table_query import table_query
from streamhouse.sql.dialect import render
from tests.composed_cases import CASES, CATALOG, DAY, REV, STORE, Case, N, asked, dim
from tests.tables import each

TEXTS = Path(__file__).parents[2] / "fixtures" / "planner" / "composed.sql"


def _text(case: Case) -> str:
    found = composed(case.request, CATALOG)
    return f"-- {case.name}\n-- {sentence(case.request)}\n{plain_sql(found, case.request)};\n"


def test_texts_are_as_they_were(golden: Callable[[str, Path], None]) -> None:
    golden("\n".join(_text(case) for case in CASES), TEXTS)


@each("case", CASES, ids=lambda case: case.name)
def test_equal_requests_give_equal_texts(case: Case) -> None:
    again = type(case.request).model_validate_json(case.request.model_dump_json())
    assert render(compose(again, CATALOG)) == render(compose(case.request, CATALOG))


@each("case", CASES, ids=lambda case: case.name)
def test_analyser_follows_what_is_composed(case: Case) -> None:
    found = composed(case.request, CATALOG)
    meaning = meaning_of(found.query, CATALOG)
    assert meaning is not None
    assert list(meaning.outputs) == list(found.columns)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_parameters_with_their_defaults_mean_the_same(case: Case) -> None:
    wanted = composed(case.request, CATALOG, parametrise=True)
    if any(one.type.startswith(("array", "double")) for one in wanted.params.values()):
        pytest.skip("another spelling, ARRAY_CONTAINS or a CAST: tests/integration/spark/test_compose.py compares rows")
    plain, own = meaning_of(compose(case.request, CATALOG), CATALOG), meaning_of(filled(wanted), CATALOG)
    assert plain is not None
    assert own is not None
    assert plain.means(own)


def test_names_of_the_result_that_are_not_there_are_refused() -> None:
    with pytest.raises(UnknownWordError, match="'revenu'") as refused:
        compose(asked(dimensions=(STORE,), measures=(REV,), ranking=Ranking(by="revenu", count=1)), CATALOG)
    assert refused.value.hint == "did you mean 'revenue'?"


def test_two_columns_of_one_name_are_refused() -> None:
    with pytest.raises(RequestShapeError, match="two columns of the result are called 'n'"):
        compose(asked(dimensions=(dim("n", STORE.of),), measures=(N,)), CATALOG)


def test_a_change_needs_a_time() -> None:
    change = Derived(name="rise", kind="change", of="revenue")
    with pytest.raises(RequestShapeError, match="no dimension of the result is a time"):
        compose(asked(dimensions=(STORE,), measures=(REV,), derived=(change,)), CATALOG)
    compose(asked(dimensions=(STORE, DAY), measures=(REV,), derived=(change,)), CATALOG)


def test_a_table_has_a_key() -> None:
    total = table_query(asked(measures=(N,)), CATALOG)
    assert (list(total.composed.columns), total.composed.key) == (["scope", "n"], ("scope",))
    rows = table_query(asked(columns=(dim("note"),)), CATALOG)
    assert (list(rows.composed.columns), rows.composed.key) == (["id", "note"], ("id",))
    best = table_query(asked("dwd.visits", columns=(dim("who"),), ranking=Ranking(by="who", count=2)), CATALOG)
    assert (list(best.composed.columns), best.composed.key) == (["place", "who"], ("place",))
