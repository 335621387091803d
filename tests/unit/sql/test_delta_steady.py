"""Inner queries whose values depend on the order of rows: one block could not take away what it added."""

import pytest

from streamhouse.errors import StrategyError
from streamhouse.model.delta_plan import DeltaStage
from streamhouse.model.types import Strategy
from tests.sql_corpus import Case, classified

OVER = (
    "SELECT c.region AS r, count(*) AS n FROM c "
    "JOIN (SELECT cust, {} AS s FROM o GROUP BY cust) AS t ON t.cust = c.cust WHERE t.s > 1 GROUP BY 1"
)


def stages(sql: str) -> tuple[DeltaStage, ...]:
    plan = classified(Case("delta", ("r",), sql), Strategy.DELTA).delta
    assert plan is not None
    return plan.stages


@pytest.mark.parametrize(
    "value", ["sum(CAST(amt AS DOUBLE))", "stddev(store)", "avg(CAST(amt AS FLOAT))", "max_by(store, ts)"]
)
def test_a_stage_keeps_what_depends_on_the_order_of_rows(value: str) -> None:
    assert len(stages(OVER.format(value))) == 1


@pytest.mark.parametrize("value", ["sum(amt)", "avg(store)", "max(store)", "count(DISTINCT store)", "bit_or(store)"])
def test_taken(value: str) -> None:
    assert stages(OVER.format(value)) == ()


def test_what_makes_groups_may_depend_on_it() -> None:
    sql = "SELECT c.region AS r, sum(CAST(o.amt AS DOUBLE)) AS s FROM c JOIN o ON o.cust = c.cust GROUP BY 1"
    assert classified(Case("delta", ("r",), sql), Strategy.DELTA).delta is not None


BESIDE = (
    "SELECT c.region AS r, count(*) AS n FROM c "
    "JOIN (SELECT cust, {} AS p FROM {}) AS t ON t.cust = c.cust WHERE t.p = 1 GROUP BY 1"
)


@pytest.mark.parametrize("port", ["o", "k"])
@pytest.mark.parametrize(
    "value",
    [
        "lag(id) OVER (PARTITION BY cust ORDER BY ts)",
        "lead(id) IGNORE NULLS OVER (PARTITION BY cust ORDER BY ts)",
        "ntile(2) OVER (PARTITION BY cust ORDER BY ts)",
        "sum(id) OVER (PARTITION BY cust ORDER BY ts ROWS UNBOUNDED PRECEDING)",
        "max(id) OVER (PARTITION BY cust ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
    ],
)
def test_an_order_that_leaves_ties_is_refused(value: str, port: str) -> None:
    with pytest.raises(StrategyError, match=r"\(\) in an inner query has an order that leaves ties"):
        classified(Case("delta", ("r",), BESIDE.format(value, port)), Strategy.DELTA)


@pytest.mark.parametrize("port", ["o", "k"])
def test_a_stage_keeps_the_first_row_though_its_order_leaves_ties(port: str) -> None:
    assert len(stages(BESIDE.format("row_number() OVER (PARTITION BY cust ORDER BY ts)", port))) == 1


def test_a_key_decides_the_order() -> None:
    value = "row_number() OVER (PARTITION BY cust ORDER BY ts, id)"
    assert stages(BESIDE.format(value, "k")) == ()
    assert len(stages(BESIDE.format(value, "o"))) == 1  # `o` has no key: rows may agree in all that is compared


@pytest.mark.parametrize(
    "value",
    ["rank() OVER (PARTITION BY cust ORDER BY ts)", "sum(id) OVER (PARTITION BY cust ORDER BY ts)"],
)
def test_rows_that_agree_share_the_value(value: str) -> None:
    assert classified(Case("delta", ("r",), BESIDE.format(value, "o")), Strategy.DELTA).delta is not None


LISTED = "SELECT c.region AS r, count(*) AS n FROM c JOIN k ON k.cust = c.cust WHERE k.v IN ({}) GROUP BY c.region"


@pytest.mark.parametrize(
    "inner",
    [
        "SELECT id FROM k ORDER BY v LIMIT 3",
        "SELECT id FROM k LIMIT 3",
        "SELECT id FROM k ORDER BY v LIMIT 3 OFFSET 1",
        "SELECT id FROM k UNION ALL SELECT cust FROM c ORDER BY 1 LIMIT 3",
    ],
)
def test_a_limit_that_leaves_ties_is_refused(inner: str) -> None:
    with pytest.raises(StrategyError, match="LIMIT in an inner query has an order that leaves ties"):
        classified(Case("delta", ("r",), LISTED.format(inner)), Strategy.DELTA)


@pytest.mark.parametrize("inner", ["SELECT id FROM k ORDER BY v, id LIMIT 3", "SELECT v FROM k ORDER BY v LIMIT 3"])
def test_a_limit_that_its_order_decides(inner: str) -> None:
    assert classified(Case("delta", ("r",), LISTED.format(inner)), Strategy.DELTA).delta is not None
