"""What a look at the tables of a segment takes."""

from datetime import timedelta

import pytest

from streamhouse.engine.needs import needs_of
from streamhouse.engine.observed import seen
from streamhouse.model.plan import FlowPlan, PlannedRead, PlannedSource, PlannedStep, Segment
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.model.types import ReadMode, StepKind, Strategy, Tier

COLUMNS = (Column(name="id", type="bigint"),)


class NoEpochs:
    def last_epoch(self, flow, segment):
        return None

    def unfinished(self, flow, segment):
        return None


def step(number):
    reads = f"dwd.t{number - 1}" if number else "src"
    return PlannedStep(
        action="a",
        version="1.0.0",
        kind=StepKind.CLEAN,
        reads=(PlannedRead(port="rows", table=reads, mode=ReadMode.CHANGES, columns=("id",)),),
        writes=Table(name=f"dwd.t{number}", columns=COLUMNS, tiers=Tiers(hot=timedelta(hours=1))),
        sql="SELECT id FROM rows",
        strategy=Strategy.MAP,
        reason="",
    )


def chain(length):
    source = PlannedSource(name="src", kind="files", columns=COLUMNS)
    segment = Segment(name="main", steps=tuple(step(number) for number in range(length)))
    return FlowPlan(flow="f", sources=(source,), segments=(segment,))


@pytest.fixture
def computed(monkeypatch):
    """Names of the properties of segments that were computed, one for each time."""
    found = []
    for name in ("reads", "tables"):
        compute = getattr(Segment, name).fget

        def counted(self, name=name, compute=compute):
            found.append(name)
            return compute(self)

        monkeypatch.setattr(Segment, name, property(counted))
    return found


def look(plan):
    assert seen(plan, plan.segments[0], {}, NoEpochs()).unseen == {Tier.HOT}


def needs(plan):
    assert len(needs_of(plan, plan.segments[0])) == len(plan.steps) + 1


@pytest.mark.parametrize("act", [look, needs])
def test_what_is_computed_of_a_segment_does_not_grow_with_its_steps(computed, act):
    act(chain(3))
    few = sorted(computed)
    computed.clear()
    act(chain(30))
    assert sorted(computed) == few
