"""The Flow Trigger over real tables that somebody else alters, drops and makes again."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from streamhouse.model.outcome import Outcome
from streamhouse.model.types import Tier
from streamhouse.project.check import check_project
from streamhouse.project.known_inputs import KnownInputs
from streamhouse.project.project import Project
from streamhouse.registry import Registry
from streamhouse.state.upstream import EventStatus
from streamhouse.stores.base import Store
from streamhouse.trigger.result import DecidedChange, FlowLook
from streamhouse.trigger.trigger import Trigger

ACTIONS = {
    "take": "/* ---\naction: take\nstep: ingest\ninputs: {rows: {}}\noutput: {primary_key: [id]}\n--- */\n"
    "SELECT * FROM rows",
    "clean": "/* ---\naction: clean\nstep: clean\ninputs: {rows: {id: bigint, n: int}}\n"
    "output: {primary_key: [id], extra_columns: pass}\n--- */\nSELECT id, n FROM rows WHERE n > 0",
}
TAKES = """flow: takes
sources: {{rows: {{files: {{path: data/*.parquet}}}}}}
steps:
  - {{use: take, reads: {{rows: rows}}, writes: ods.{table}}}
tables:
  ods.{table}: {{tiers: {{{tier}: 30d}}}}
"""
CLEANS = """flow: cleans
schema_change: {policy}
steps:
  - {{use: clean, reads: {{rows: ods.{table}}}, writes: dwd.{table}}}
"""


class World:
    def __init__(self, project: Project, stores: dict[Tier, Store], tier: Tier, table: str) -> None:
        self.project, self.stores, self.tier, self.table = project, stores, tier, f"ods.{table}"
        self.state = project.state()
        self.applied: list[DecidedChange] = []
        self.trigger = Trigger(project, self.state, stores, self.apply)

    @property
    def store(self) -> Any:
        return self.stores[self.tier]

    def apply(self, change: DecidedChange) -> None:
        """What applying a swap does to stores: DDL, then the plan."""
        for table in change.plan.tables.values():
            self.stores[table.tiers.target].add_columns(table)
        self.applied.append(change)
        self.state.save_plan(change.plan)

    def start(self) -> None:
        checked = check_project(self.project, Registry.load(self.project.root), KnownInputs.of(self.state))
        assert not checked.errors, checked.errors
        for plan in checked.plans.values():
            for table in plan.tables.values():
                self.stores[table.tiers.target].create(table)
            self.state.save_plan(plan)
        for flow in checked.plans:
            self.trigger.pin(flow)
        self.look()

    def look(self) -> FlowLook:
        self.applied.clear()
        return {one.flow: one for one in self.trigger.look()}["cleans"]

    def told(self) -> dict[str, EventStatus]:
        return {str(r.event).split(": ", 1)[1].split(" (")[0]: r.status for r in self.state.upstream.events("cleans")}


Make = Callable[..., World]


@pytest.fixture
def world(tmp_path: Path, fluss: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from streamhouse.stores.fluss.store import FlussStore
    from streamhouse.stores.paimon import PaimonStore

    monkeypatch.delenv("STREAMHOUSE_STATE", raising=False)
    stores: dict[Tier, Store] = {
        Tier.HOT: FlussStore(fluss),
        Tier.WARM: PaimonStore(tmp_path / "warm", tmp_path / "locks"),
    }
    made: list[World] = []

    def make(tier: Tier, table: str, policy: str = "evolve") -> World:
        for folder in ("actions", "flows", "data"):
            (tmp_path / folder).mkdir()
        for name, text in ACTIONS.items():
            (tmp_path / "actions" / f"{name}.sql").write_text(text)
        (tmp_path / "flows" / "takes.yaml").write_text(TAKES.format(table=table, tier=tier.value))
        (tmp_path / "flows" / "cleans.yaml").write_text(CLEANS.format(table=table, policy=policy))
        rows = {"id": pa.array([1]), "n": pa.array([1], pa.int32()), "note": ["a"], "gone": ["b"]}
        pq.write_table(pa.table(rows), tmp_path / "data" / "1.parquet")
        found = World(Project.at(tmp_path), stores, tier, table)
        made.append(found)
        found.start()
        return found

    yield make
    for one in made:
        one.state.close()
    for store in stores.values():
        store.close()


@pytest.mark.services
@pytest.mark.parametrize("tier", [Tier.HOT, Tier.WARM])
def test_a_table_that_is_dropped_and_one_that_is_made_again(world: Make, tier: Tier) -> None:
    made = world(tier, f"again_{tier.value}")
    assert made.told() == {}
    table = made.state.plan("takes")[1].tables[made.table]
    made.store.drop(table.name)
    found = made.look()
    assert made.told() == {"drop_table": EventStatus.WAITING}
    assert found.paused == {made.table.replace("ods", "dwd")}
    blind = Trigger(made.project, made.state, {})
    assert {one.flow: one for one in blind.look()}["cleans"].paused == found.paused, "who cannot look outdates nothing"
    made.store.create(table)
    found = made.look()
    assert found.paused == {made.table.replace("ods", "dwd")}
    assert made.told() == {"drop_table": EventStatus.OUTDATED, "recreate_table": EventStatus.WAITING}
    assert "another table: positions in it mean nothing" in found.approvals[-1].evidence
    assert made.applied == []


@pytest.mark.services
@pytest.mark.parametrize("tier", [Tier.HOT, Tier.WARM])
def test_what_a_flow_does_to_its_own_table_is_no_change_upstream(world: Make, tier: Tier, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    made = world(tier, f"own_{tier.value}")
    rows = {"id": pa.array([2]), "n": pa.array([1], pa.int32()), "note": ["a"], "gone": ["b"], "tax": [7]}
    pq.write_table(pa.table(rows), tmp_path / "data" / "2.parquet")
    made.look()
    assert [c.flow for c in made.applied] == ["takes", "cleans"], "one look, through both flows"
    assert [c.diff.outcome for c in made.applied] == [Outcome.SWAP, Outcome.SWAP]
    stored = [c.name for c in made.store.columns(made.table)]
    assert stored == ["id", "n", "note", "gone", "tax"]
    dwd = [c.name for c in made.stores[Tier.HOT].columns(made.table.replace("ods", "dwd"))]
    assert dwd == stored
    found = made.look()
    assert (made.told(), found.change, found.paused) == ({}, None, frozenset())


@pytest.mark.services
def test_a_column_that_somebody_adds_to_a_hot_table(world: Make) -> None:
    made = world(Tier.HOT, "added_by_hand", "freeze")
    made.store._catalog.add_columns(made.table, [("extra", b'{"type":"INTEGER"}', None)])
    found = made.look()
    assert made.told() == {"add_column extra int": EventStatus.WAITING}
    assert found.paused == {"dwd.added_by_hand"}
    (question,) = found.approvals
    made.state.approvals.decide(question.id, grant=False, by="ada")
    assert made.look().paused == frozenset()
    assert made.told() == {"add_column extra int": EventStatus.REFUSED}


@pytest.mark.services
@pytest.mark.parametrize("policy", ["try_evolve", "evolve"])
def test_changes_of_a_warm_table_by_hand(world: Make, policy: str) -> None:
    from pypaimon.schema.data_types import AtomicType
    from pypaimon.schema.schema_change import SchemaChange

    made = world(Tier.WARM, f"by_hand_{policy}", policy)
    changes = [
        SchemaChange.rename_column("note", "remark"),
        SchemaChange.update_column_type("n", AtomicType("BIGINT")),
        SchemaChange.drop_column("gone"),
    ]
    made.store._catalog.alter_table(made.table, changes, False)
    found = made.look()
    seen = ["rename_column note → remark", "widen_type n int → bigint", "drop_column gone string"]
    if policy == "evolve":  # the port of the action takes an int, so that a person must change the action first
        assert made.told() == dict.fromkeys(seen, EventStatus.FAILED)
        assert (found.paused, made.applied) == ({"dwd.by_hand_evolve"}, [])
        return
    assert made.told() == dict.fromkeys(seen, EventStatus.APPLIED)
    assert found.paused == frozenset()
    (change,) = made.applied
    assert {str(one) for one in change.plan.adapted[made.table]} == {
        "note string of remark string or note string",
        "remark string of remark string or note string",
        "n int of n bigint, what does not fit: null",
        "without gone",
    }
    assert made.look().records == ()
