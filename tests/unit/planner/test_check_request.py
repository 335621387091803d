"""A Request that would count rows twice, mix units or compare what cannot be compared is refused, with a hint."""

from decimal import Decimal
from typing import Any

import pytest

from streamhouse.errors import (
    FanOutError,
    PlanningError,
    RequestShapeError,
    RequestTypeError,
    UnitError,
    UnknownWordError,
)
from streamhouse.planner.check_request import check_request
from streamhouse.planner.request import Arithmetic, Banded, Between, Condition, Derived, During, Join, Related, Request
from tests.composed_cases import CASES, CATALOG, DAY, JOIN, REV, Case, N, asked, col, cut, dim, measure, where
from tests.tables import each


@each("case", CASES, ids=lambda case: case.name)
def test_sound_requests_pass(case: Case) -> None:
    check_request(case.request, CATALOG)


def _related(**more: Any) -> Related:
    return Related(table="dwd.sales", exists=True, on={"store_id": "store_id"}, **more)


_SUMMED = asked(joins=(JOIN,), measures=(measure("s", "sum", col("store_id", "shop")),))
REFUSED: dict[str, tuple[Request, type[PlanningError], str]] = {
    "table": (asked("dwd.sale", measures=(N,)), UnknownWordError, "no table 'dwd.sale'.*did you mean 'dwd.sales'"),
    "column": (asked(dimensions=(dim("stor_id"),)), UnknownWordError, "'stor_id'.*did you mean 'store_id'"),
    "column of a join": (
        asked(joins=(JOIN,), dimensions=(dim("c", col("citty", "shop")),)),
        UnknownWordError,
        "'shop' has no column 'citty'.*did you mean 'city'",
    ),
    "measure": (asked(measures=(measure("r", named="revenu"),)), UnknownWordError, "did you mean 'revenue'"),
    "joined table": (asked(joins=(JOIN.model_copy(update={"table": "dwd.shops"}),)), UnknownWordError, "'dwd.shops'"),
    "fan-out without a key": (
        asked(joins=(Join(table="dwd.visits", role="v", on={"note": "who"}),), measures=(REV,)),
        FanOutError,
        "dwd.visits has no primary key",
    ),
    "fan-out by a part": (
        asked("dwd.stores", joins=(Join(table="dwd.sales", role="s", on={"store_id": "store_id"}),), measures=(N,)),
        FanOutError,
        "may find several rows: its key is id",
    ),
    "sum of a joined table": (
        _SUMMED,
        FanOutError,
        "a sum of dwd.stores.store_id over rows of dwd.sales would count rows several times",
    ),
    "sum of a joined table within": (asked(None, inner=_SUMMED.block, measures=(N,)), FanOutError, "several times"),
    "two roles": (asked(joins=(JOIN, JOIN), measures=(N,)), RequestShapeError, "two joins are called 'shop'"),
    "join types": (
        asked(joins=(Join(table="dwd.stores", role="s", on={"note": "store_id"}),), measures=(N,)),
        RequestTypeError,
        "note is string and s.store_id is bigint",
    ),
    "sum of a text": (asked(measures=(measure("s", "sum", col("note")),)), RequestTypeError, "it is string"),
    "cut of a number": (asked(dimensions=(cut("h", "hour", "cents"),)), RequestTypeError, "bigint, and no time"),
    "hour of a date": (asked(dimensions=(cut("h", "hour", "due"),)), RequestTypeError, "is a date and has no hour"),
    "span from a number": (
        asked(columns=(dim("x", Between(first=col("cents"), last=col("sold_at"), unit="day")),)),
        RequestTypeError,
        "no time",
    ),
    "arithmetic of times": (
        asked(columns=(dim("x", Arithmetic(left=col("sold_at"), operator="-", right=col("due"))),)),
        RequestTypeError,
        "'between'",
    ),
    "text of a number": (asked(filters=(where(col("cents"), "contains", "1"),)), RequestTypeError, "asks for texts"),
    "number against a word": (asked(filters=(where(col("cents"), ">", "much"),)), RequestTypeError, "'much'"),
    "time against a word": (asked(filters=(where(col("sold_at"), ">", "soon"),)), RequestTypeError, "'soon'"),
    "columns of two types": (
        asked(filters=(Condition(left=col("cents"), operator="=", other=col("note")),)),
        RequestTypeError,
        "cannot be compared",
    ),
    "range that ends first": (
        asked(filters=(During(of=col("sold_at"), since="2024-02-01T00:00", until="2024-01-01T00:00"),)),
        RequestShapeError,
        "ends before it begins",
    ),
    "bands": (
        asked(dimensions=(dim("b", Banded(of=col("price"), bounds=(Decimal(5), Decimal(5)))),)),
        RequestShapeError,
        "do not rise",
    ),
    "column of the other table": (
        asked("dwd.stores", filters=(_related(filters=(where(col("city"), "=", "x"),)),)),
        UnknownWordError,
        "'city'",
    ),
    "type in the other table": (
        asked("dwd.stores", filters=(_related(filters=(where(col("cents"), "=", "x"),)),)),
        RequestTypeError,
        "bigint",
    ),
    "sum of two units": (
        asked(columns=(dim("x", Arithmetic(left=col("cents"), operator="+", right=col("weight"))),)),
        UnitError,
        "cents is in cents and weight in kg: they cannot be added",
    ),
    "comparison of two units": (
        asked(filters=(Condition(left=col("cents"), operator=">", other=col("weight")),)),
        UnitError,
        "cannot be compared",
    ),
    "difference of two units": (
        asked(dimensions=(DAY,), measures=(REV, measure("c", "sum", col("cents"))),
              derived=(Derived(name="d", kind="difference", of="revenue", to="c"),)),
        UnitError,
        "revenue is in USD and c in cents",
    ),
    "several values": (asked(filters=(where(col("cents"), "=", 1, 2),)), RequestShapeError, "takes one value"),
    "no value": (asked(filters=(where(col("cents"), "="),)), RequestShapeError, "lacks a value"),
    "measure among rows": (asked(filters=(where("n", ">", 1),), measures=(N,)), RequestShapeError, "'having'"),
    "percentile": (asked(measures=(measure("p", "percentile", col("cents")),)), RequestShapeError, "from 0 to 1"),
    "share for so many": (
        asked(measures=(N,), derived=(Derived(name="s", kind="share", of="n", per_many=10),)),
        RequestShapeError,
        "only a ratio",
    ),
    "neither base nor inner": (asked(None, measures=(N,)), RequestShapeError, "either a base or an inner block"),
}  # fmt: skip


@each("name", REFUSED)
def test_refused(name: str) -> None:
    request, error, text = REFUSED[name]
    with pytest.raises(error) as refused:
        check_request(request, CATALOG)
    import re

    assert re.search(text, str(refused.value).replace("\n", " ")), str(refused.value)
    assert refused.value.exit_code == 4
