"""How often the marks of copies are read."""

from collections import Counter
from types import SimpleNamespace

from streamhouse.jobs.copies import lost_copies
from streamhouse.jobs.copy_marks import CopyMarks
from streamhouse.model.plan import FlowPlan, PlannedStep, Segment
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.model.types import StepKind, Strategy, Tier
from streamhouse.stores.ledger import NoLedger
from streamhouse.stores.mark import Mark

TABLE = Table(
    name="ods.rows", columns=(Column(name="k", type="bigint"),), tiers=Tiers(hot="1h", warm="1d", cold="forever")
)
STEP = PlannedStep(
    action="keep",
    version="1.0.0",
    kind=StepKind.INGEST,
    reads=(),
    writes=TABLE,
    sql="SELECT 1 AS k",
    strategy=Strategy.MAP,
    reason="a projection",
)
PLAN = FlowPlan(flow="f", sources=(), segments=(Segment(name="main", steps=(STEP,)),))
MARK = Mark(3, Tier.HOT, {"0": 7}, {"f/main": 9})


class Lake:
    """Has a copy, and counts how often its mark is read."""

    def __init__(self, tier, reads):
        self.tier, self.ledger, self._reads = tier, NoLedger(), reads

    def identity(self, name):
        return "one"

    def snapshot_properties(self, table):
        self._reads[self.tier] += 1
        return MARK.properties()


def opened(reads):
    return SimpleNamespace(stores={tier: Lake(tier, reads) for tier in (Tier.WARM, Tier.COLD)})


def test_the_marks_of_a_lost_table_are_read_once():
    reads = Counter()
    copies = CopyMarks(opened(reads))
    assert copies.of_table(TABLE) == {Tier.WARM: MARK, Tier.COLD: MARK}
    assert copies.of_segment(PLAN.segments[0], [TABLE.name]) == [(TABLE.name, MARK)] * 2
    assert reads == {Tier.WARM: 1, Tier.COLD: 1}


def test_a_look_at_the_copies_of_a_flow_reads_each_mark_once():
    reads = Counter()
    assert lost_copies(opened(reads), PLAN, of_others=()) == []
    assert reads == {Tier.WARM: 1, Tier.COLD: 1}
