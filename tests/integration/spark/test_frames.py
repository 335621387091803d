"""The SQL of steps over DataFrames."""

import pyarrow as pa
import pytest

from streamhouse.engine.frames import Frames
from streamhouse.model.action import Expectation
from streamhouse.model.plan import PlannedRead, PlannedStep
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.spark.carrier import Carrier

pytestmark = pytest.mark.spark


def step(sql, **given):
    return PlannedStep(
        action="clean",
        version="1.0.0",
        kind="clean",
        reads=(PlannedRead(table="ods.rows", port="rows", mode="changes", columns=("n",)),),
        writes=Table(name="dwd.rows", columns=(Column(name="n", type="bigint"),), tiers=Tiers(hot="1d")),
        sql=sql,
        strategy="map",
        reason="",
        **given,
    )


def test_a_plan_that_is_checked_beside_another_leaves_its_rows_alone(spark, monkeypatch):
    ours, theirs, query = Frames(spark), Frames(spark), Carrier.query
    same = step("SELECT rows.n AS n FROM rows AS rows WHERE rows.n > 0")

    def meanwhile(carrier, sql):
        monkeypatch.setattr(Carrier, "query", query)
        theirs.run(same, {"rows": theirs.frame(pa.table({"n": [7]}))}, 0)
        return query(carrier, sql)

    monkeypatch.setattr(Carrier, "query", meanwhile)
    found = ours.run(same, {"rows": ours.frame(pa.table({"n": [1, 2]}))}, 0)
    assert ours.rows(found).to_pylist() == [{"n": 1}, {"n": 2}]
    assert not [view for view in spark.catalog.listTables() if "rows" in view.name]


def test_what_the_clock_decides_is_planned_in_each_epoch(spark):
    frames = Frames(spark)
    assert frames.may_stand(step("SELECT rows.n AS n FROM rows AS rows"))
    assert not frames.may_stand(step("SELECT UNIX_TIMESTAMP() AS n FROM rows AS rows"))
    early = {"early": Expectation(check="n < UNIX_TIMESTAMP()")}
    assert not frames.may_stand(step("SELECT rows.n AS n FROM rows AS rows", expect=early))


def test_expectations_are_told_the_time_of_the_epoch(spark):
    frames = Frames(spark)
    early = step("SELECT rows.n AS n FROM rows AS rows", expect={"early": Expectation(check="n < UNIX_TIMESTAMP()")})
    for at_ms, violations in ((2_000, {"early": 2}), (3_000, {"early": 1})):
        found = frames.run(early, {"rows": frames.frame(pa.table({"n": [1, 2, 3]}))}, at_ms)
        assert frames.collect(early, found).violations == violations
