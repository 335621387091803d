"""An environment: built beside production, kept up to date by itself, promoted while production goes on."""

from contextlib import nullcontext

import pytest

from streamhouse.change import apply as applying
from streamhouse.change import environment
from streamhouse.errors import AuditFailedError, NoEnvironmentError, StateConflictError
from streamhouse.jobs.run import Meter, carry
from streamhouse.model.version import table_at
from streamhouse.project.compare import Applied, compare
from streamhouse.runtime.open import plan_of
from streamhouse.state.records import Phase
from tests.gate.levels import deep
from tests.integration.test_changes import LINES, READER
from tests.live import FLOW, add, assert_equals_batch, expected, opened_project, orders, served, write_action
from tests.oracle import assert_same_rows

pytestmark = [
    pytest.mark.services,
    pytest.mark.spark,
    deep(
        "audits that fail and environments that are ahead",
        stays=("test_an_environment_from_its_making_to_its_promotion", "test_what_cannot_be"),
    ),
]


@pytest.fixture
def open_(tmp_path, fluss, spark, monkeypatch):
    with opened_project(tmp_path, fluss, spark) as found:
        for module in (applying, environment):  # the session and services of the test run
            monkeypatch.setattr(module, "opened", lambda *_, **__: nullcontext(found))
        yield found


def run(open_):
    """Drain production with the plan that is applied, whatever the files say."""
    known = open_.state.plan(FLOW)
    plan = known[1] if known else plan_of(open_.project, FLOW)
    return carry(open_, plan, Meter(plan, lambda _: None, once=True), once=True)


def compared(open_):
    return compare(plan_of(open_.project, FLOW), Applied.of(open_.state), {})


def in_environment(open_, name, table):
    found = environment.catalog(open_.state, name)[table]
    return open_.stores[found.tiers.target].read_state(found)


def assert_told(review, old, new):
    """A review of tables with the key `customer` says how they differ."""
    for one in review.tables:
        before, after = ({row["customer"]: row for row in rows[one.table].to_pylist()} for rows in (old, new))
        changed = {key for key in before.keys() & after.keys() if before[key] != after[key]}
        found = one.difference
        assert (found.only_old, found.only_new, found.changed) == (
            len(before.keys() - after.keys()),
            len(after.keys() - before.keys()),
            len(changed),
        ), one.table
    assert {one.table for one in review.tables} == {*old}


def test_an_environment_from_its_making_to_its_promotion(open_):
    project, root = open_.project, open_.project.root
    add(root, 0)
    run(open_)
    old = expected(open_)
    write_action(root, "spent", "SELECT customer, SUM(cents + tax) AS cents FROM rows GROUP BY customer")
    change = environment.build(project, compared(open_), "dev", "test")
    assert set(change.versions) == {"dws.lv_spent", "ads.lv_best"}
    assert open_.state.versions() == {}
    # Production is as it was, the environment as the files say; both read on, each by itself.
    assert_same_rows(served(open_, "dws.lv_spent"), old["dws.lv_spent"], key=("customer",))
    assert_same_rows(in_environment(open_, "dev", "dws.lv_spent"), expected(open_)["dws.lv_spent"], key=("customer",))
    add(root, 1)
    run(open_)
    environment.run(project, FLOW, "dev", once=True)
    wanted = expected(open_)
    for name in change.versions:
        assert_same_rows(in_environment(open_, "dev", name), wanted[name], key=("customer",), name=name)
    assert open_.state.plan(FLOW)[0] == 1
    looked = environment.diff(project, FLOW, "dev").review
    assert (looked.passed, looked.notes) == (True, ())
    assert_told(looked, {name: served(open_, name) for name in change.versions}, wanted)
    applying.promote(project, FLOW, "dev")
    assert open_.state.versions() == change.versions
    assert open_.state.environments() == []
    assert_equals_batch(open_)
    add(root, 2)
    run(open_)
    assert_equals_batch(open_)


def test_an_environment_that_is_ahead_of_production_says_so(open_):
    project, root = open_.project, open_.project.root
    add(root, 0)
    run(open_)
    write_action(root, "keep", "SELECT * FROM rows WHERE cents > -5")
    environment.build(project, compared(open_), "dev", "test")
    looked = environment.diff(project, FLOW, "dev").review
    assert looked.notes == ()
    kept = next(one.difference for one in looked.tables if one.table == "ods.lv_orders")
    # A log that keeps its history: an environment begins with the rows that are there.
    assert (kept.by, kept.equal, kept.is_empty) == ("rows", len(orders(0)), True)
    add(root, 1)
    environment.run(project, FLOW, "dev", once=True)
    looked = environment.diff(project, FLOW, "dev").review
    assert [note for note in looked.notes if "dev has read further than production" in note]
    kept = next(one.difference for one in looked.tables if one.table == "ods.lv_orders")
    assert kept.only_new == len([cents for _, cents in orders(1) if cents > -5])


def test_an_environment_that_fails_its_audit_is_promoted_by_a_person(open_):
    project, root = open_.project, open_.project.root
    add(root, 0)
    run(open_)
    write_action(root, "best", "SELECT customer, cents FROM customers WHERE cents > 1000000")
    change = environment.build(project, compared(open_), "dev", "test")
    with pytest.raises(AuditFailedError, match=r"ads.lv_best: it is empty"):
        applying.promote(project, FLOW, "dev")
    assert (open_.state.versions(), open_.state.change(change.id).waits) == ({}, True)
    done = applying.swap(project, change.id)
    assert (done.phase, open_.state.versions()) == (Phase.APPLIED, change.versions)
    assert_equals_batch(open_)


def test_what_cannot_be(open_):
    project, root = open_.project, open_.project.root
    with pytest.raises(NoEnvironmentError, match="no environment 'dev'"):
        environment.run(project, FLOW, "dev", once=True)
    write_action(root, "best", "SELECT customer, cents FROM customers WHERE cents > 40")
    add(root, 0)
    run(open_)
    with pytest.raises(NoEnvironmentError, match="nothing differs"):
        environment.build(project, compared(open_), "dev", "test")
    write_action(root, "best", "SELECT customer, cents FROM customers WHERE cents > 30")
    first = environment.build(project, compared(open_), "dev", "test")
    assert environment.build(project, compared(open_), "dev", "test").id == first.id  # there is nothing new
    write_action(root, "best", "SELECT customer, cents FROM customers WHERE cents > 20")
    second = environment.build(project, compared(open_), "dev", "test")
    assert second.id != first.id
    [table] = [table_at(first.plan.tables[name], first.versions) for name in first.versions]
    assert open_.stores[table.tiers.target].columns(table.name) is None  # the first is gone
    write_action(root, "best", "SELECT customer, cents FROM customers WHERE cents > 10")
    applying.apply(project, compared(open_), "test")  # production moves on by itself
    with pytest.raises(StateConflictError, match="moved on"):
        applying.promote(project, FLOW, "dev")
    environment.discard(project, FLOW, "dev")
    assert open_.state.environments() == []
    write_action(root, "best", "SELECT customer, cents FROM customers WHERE cents > 5")
    third = environment.build(project, compared(open_), "dev", "test")
    done = applying.apply(project, compared(open_), "test")  # it has exactly this, so it is promoted
    assert done is not None
    assert (done.id, done.phase, open_.state.environments()) == (third.id, Phase.APPLIED, [])
    assert open_.state.versions() == third.versions
    assert_equals_batch(open_)


def test_an_environment_is_filled_again_when_its_flow_reads_the_next_version(open_):
    """Which it would read from its beginning: it has no position in it."""
    project, root = open_.project, open_.project.root
    flow = root / "flows" / f"{FLOW}.yaml"
    flow.write_text(flow.read_text() + "tables: {ods.lv_orders: {history: rewrite}}\n")
    (root / "actions" / "lines.sql").write_text(LINES)
    (root / "flows" / "reader.yaml").write_text(READER)

    def drained():
        for name in (FLOW, "reader"):  # of the reader what is applied: its edit is only in the environment
            known = open_.state.plan(name) if name == "reader" else None
            plan = known[1] if known else plan_of(project, name)
            carry(open_, plan, Meter(plan, lambda _: None, once=True), once=True)

    def ids(rows):
        return sorted(rows["order_id"].to_pylist())

    add(root, 0)
    drained()
    (root / "actions" / "lines.sql").write_text(LINES.replace("cents FROM", "cents * 2 AS cents FROM"))
    edited = compare(plan_of(project, "reader"), Applied.of(open_.state), {})
    environment.build(project, edited, "dev", "test")
    assert ids(in_environment(open_, "dev", "dwd.lr_lines")) == [one[0] for one in orders(0)]
    write_action(root, "keep", "SELECT * FROM rows WHERE cents > 10")
    add(root, 1)
    drained()
    assert open_.state.versions("reader")["ods.lv_orders"] == 2
    for part in (2, 3):
        add(root, part)
        drained()
        environment.run(project, "reader", "dev", once=True)
        wanted = ids(served(open_, "dwd.lr_lines", flow="reader"))
        assert ids(in_environment(open_, "dev", "dwd.lr_lines")) == wanted
    applying.promote(project, "reader", "dev")
    assert ids(served(open_, "dwd.lr_lines", flow="reader")) == wanted
