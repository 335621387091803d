"""The stages of a look take values and give values: what goes in stays as it was, and equal values give equal ones."""

from datetime import UTC, datetime

import pytest

from streamhouse.model.shape import Shape
from streamhouse.project.known_inputs import KnownInputs
from streamhouse.project.running import defined
from streamhouse.state.upstream import EventStatus
from streamhouse.trigger.basis import Basis
from streamhouse.trigger.compiled import compiled, known_inputs, set_apart
from streamhouse.trigger.decide import decide
from streamhouse.trigger.following import Following
from streamhouse.trigger.target import target_of
from streamhouse.upstream.observe import UpstreamObserver
from tests.shop import FLOW, made_world


@pytest.fixture
def world(tmp_path, monkeypatch):
    monkeypatch.delenv("STREAMHOUSE_STATE", raising=False)
    with made_world(tmp_path, "all") as made:
        yield made


def basis_of(world):
    applied = {name: plan for name, (_, plan) in world.state.plans().items()}
    pins = {name: Shape.model_validate_json(body) for name, body in world.state.upstream.pins("shop").items()}
    look = UpstreamObserver(world.project.root, {}).look(applied["shop"], pins)
    return Basis.of(
        world.project, defined(world.project, world.state, applied), applied, {"shop": look}, datetime.now(UTC)
    )


def decided(world, basis, ask=None):
    records = world.state.upstream.record("shop", basis.looks["shop"].events, basis.now)
    return decide(basis, "shop", records, ask)


def test_a_decision_makes_another_value(world):
    world.rows("2", id=2, price=5, note="b", tax=1)
    basis = basis_of(world)
    found = decided(world, basis).following
    before = Following("shop", basis.applied["shop"])
    assert found == before.with_decision(found.decisions[0])
    assert before == Following("shop", basis.applied["shop"])
    assert [column.name for column in found.known["rows"].columns] == ["id", "price", "note", "tax"]
    assert found == decided(world, basis).following


def test_a_target_rests_on_what_is_applied_by_then(world):
    world.rows("2", id=2, price=5, note="b", tax=1)
    basis = basis_of(world)
    following = decided(world, basis).following
    as_files = compiled(basis, KnownInputs(basis.applied))
    desired = compiled(basis, known_inputs(basis, {"shop": following}))
    target = target_of(basis, following, desired, as_files, basis.applied)
    assert target.plan == desired.plans["shop"]
    assert str(target.diff.outcome) == "swap"
    assert "tax" in target.plan.tables["dwd.sales"].column_names
    after = {**basis.applied, "shop": target.plan}
    assert target_of(basis, following, desired, as_files, after).diff is None
    assert "tax" not in basis.applied["shop"].tables["dwd.sales"].column_names


def test_what_a_flow_does_not_compile_with_is_left_out_by_itself(world):
    without_totals = "".join(FLOW.splitlines(keepends=True)[:-1])
    (world.project.root / "flows" / "boards.yaml").unlink()
    world.flow("schema_change: evolve\n", text=without_totals)
    world.run()
    world.rows("2", id=2, price=5.5, note="b")  # clean takes a bigint
    basis = basis_of(world)
    following = decided(world, basis).following
    apart = set_apart(basis, {"shop": following}, ["shop"], ["shop"])
    assert apart.is_changed
    (settlement,) = apart.settlements["shop"]
    assert settlement.status is EventStatus.FAILED
    assert "port 'rows' of clean takes bigint" in settlement.note
    assert apart.followings["shop"].decisions == ()
    assert following.decisions, "the value that went in stays as it was"
