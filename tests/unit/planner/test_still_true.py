"""Which readings of a Request hold after parts of it are gone."""

import pytest

from streamhouse.planner.request import Derived, During, Ranking, Request
from streamhouse.planner.still_true import still_true
from tests.composed_cases import asked, col, cut, dim, measure, where

REQUEST = asked(
    dimensions=(cut("month", "month"), dim("store_id")),
    measures=(measure("revenue", named="revenue"),),
    filters=(where(col("cents"), ">", 500), During(of=col("sold_at"), since="2024-01-01T00:00:00")),
    derived=(Derived(name="revenue_share", kind="share", of="revenue"),),
    ranking=Ranking(by="revenue", count=5, per=("month",)),
)
SAID = {
    "month": "month of dwd.sales.sold_at",
    "store": "dwd.sales.store_id",
    "revenue": "measure revenue of dwd.sales",
    "share": "share of revenue in the total",
    "top": "highest 5 by revenue",
    "above": "dwd.sales.cents > 500",
    "since": "dwd.sales.sold_at from 2024-01-01",
    "rows": "rows of dwd.sales",
}


@pytest.mark.parametrize(
    ("edits", "gone"),
    [
        ({}, set()),
        ({"filters": ()}, {"above", "since"}),
        ({"filters": REQUEST.block.filters[1:]}, {"above"}),
        ({"dimensions": REQUEST.block.dimensions[:1]}, {"store"}),
        ({"derived": ()}, {"share"}),
        ({"base": "ods.sales"}, {"rows"}),
    ],
)
def test_what_is_gone_is_not_said(edits: dict[str, object], gone: set[str]) -> None:
    after = REQUEST.model_copy(update={"block": REQUEST.block.model_copy(update=edits)})
    assert _kept(after) == SAID.keys() - gone


def test_a_ranking_that_is_gone() -> None:
    assert _kept(REQUEST.model_copy(update={"ranking": None})) == SAID.keys() - {"top"}


def _kept(after: Request) -> set[str]:
    return set(still_true(tuple(SAID), SAID.__getitem__, REQUEST, after))
