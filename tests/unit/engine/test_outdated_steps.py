from streamhouse.engine.outdated_steps import alone, computed, definitions, outdated
from streamhouse.model.plan import PlannedRead, PlannedStep, Segment
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.model.types import ReadMode, StepKind, Strategy
from streamhouse.state.records import EpochRecord


def step(name, *, strategy=Strategy.FULL, sql="SELECT 1", reads="ods.t"):
    return PlannedStep(
        action="a",
        version="1.0.0",
        kind=StepKind.CLEAN,
        reads=(PlannedRead(port="p", table=reads, mode=ReadMode.CHANGES, columns=()),),
        writes=Table(name=name, columns=(Column(name="k", type="int"),), primary_key=("k",), tiers=Tiers(warm="1d")),
        sql=sql,
        strategy=strategy,
        reason="test",
    )


def segment(*steps):
    return Segment(name="main", steps=steps)


def epoch(by):
    return EpochRecord("f", "main", 3, 1, 1, 1, computed=dict(by))


def test_only_steps_that_see_all_rows_have_definitions():
    kinds = {f"dwd.{kind}": step(f"dwd.{kind}", strategy=kind) for kind in Strategy}
    assert set(definitions(segment(*kinds.values()))) == {kinds["dwd.full"].id, kinds["dwd.delta"].id}


def test_another_query_or_version_of_an_input_is_another_definition():
    found = [
        definitions(segment(one))
        for one in (step("dwd.t"), step("dwd.t", sql="SELECT 2"), step("dwd.t", reads="ods.t__v2"))
    ]
    assert len({frozenset(one.items()) for one in found}) == 3
    assert definitions(segment(step("dwd.t"))) == found[0]


def test_what_is_outdated():
    now = {"a": "1", "b": "2"}
    assert outdated(now, None) == frozenset()
    assert outdated(now, epoch(now)) == frozenset()
    assert outdated(now, epoch({"a": "1", "b": "0"})) == {"b"}
    assert outdated(now, epoch({})) == {"a", "b"}, "a record that does not say counts as another definition"


def test_before_the_first_epoch_what_has_rows_without_input_is_outdated():
    total = step("ads.total", sql="SELECT 1 AS k, count(*) AS n, sum(p.v) AS v FROM p")
    cross = step("ads.cross", strategy=Strategy.DELTA, sql="SELECT q.k FROM p JOIN (SELECT max(p.k) AS k FROM p) AS q")
    by_key = step("ads.by_key", sql="SELECT k, count(*) AS n FROM p WHERE k > (SELECT avg(k) FROM p) GROUP BY k")
    mapped = step("ads.mapped", strategy=Strategy.MAP, sql="SELECT p.k FROM p")
    steps = segment(total, cross, by_key, mapped)
    assert alone(steps) == {total.id, cross.id}
    now = definitions(steps)
    assert outdated(now, None, alone(steps)) == {total.id, cross.id}
    assert outdated(now, epoch(now), alone(steps)) == frozenset(), "only before the first"


def test_what_an_epoch_records():
    now = {"a": "1", "b": "2"}
    assert computed(now, (), None) == now, "before the first epoch all tables are empty, as their inputs are"
    before = epoch({"a": "0", "b": "2", "gone": "3"})
    assert computed(now, (), before) == {"a": "0", "b": "2"}
    assert computed(now, ["a", "map"], before) == now
