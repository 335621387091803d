"""What was built anew serves only when its audit passes or a person says so; what served goes on meanwhile."""

import json
from contextlib import nullcontext

import pytest

from streamhouse.change import apply as applying
from streamhouse.change import keep_up
from streamhouse.change.change_request import ask
from streamhouse.change.journal import withdraw
from streamhouse.cli.main import main
from streamhouse.errors import AuditFailedError
from streamhouse.jobs.run import Meter, carry
from streamhouse.model.review import AuditVerdict, SwapGate
from streamhouse.model.version import stored_name
from streamhouse.project.compare import Applied, compare
from streamhouse.runtime.open import plan_of
from streamhouse.state.records import Phase
from tests.gate.levels import deep, soak
from tests.live import FLOW, Live, add, assert_equals_batch, expected, opened_project, served, write_action
from tests.oracle import assert_same_rows

pytestmark = [
    pytest.mark.services,
    pytest.mark.spark,
    deep(
        "a second person, a flow at rest and one that goes on",
        stays=("test_a_change_of_a_flow_that_runs_waits_for_a_person[1]",),
    ),
]

SPENT, BEST = "dws.lv_spent", "ads.lv_best"
WITH_TAX = "SELECT customer, SUM(cents + tax) AS cents FROM rows GROUP BY customer"
NOBODY = "SELECT customer, SUM(cents) AS cents FROM rows WHERE cents > 1000000 GROUP BY customer"


@pytest.fixture
def open_(tmp_path, fluss, spark, monkeypatch):
    with opened_project(tmp_path, fluss, spark) as found:
        monkeypatch.setattr(applying, "opened", lambda *_, **__: nullcontext(found))  # that of the test run
        yield found


def run(open_):
    plan = plan_of(open_.project, FLOW)
    return carry(open_, plan, Meter(plan, lambda _: None, once=True), once=True)


def apply(open_, gate=SwapGate.AUDIT):
    compared = compare(plan_of(open_.project, FLOW), Applied.of(open_.state), {})
    return applying.apply(open_.project, compared, "test", gate=gate)


def ask_of(live, gate=None):
    compared = compare(plan_of(live.open.project, FLOW), Applied.of(live.open.state), {})
    return ask(live.open.state, compared, "test", gate=gate)


def reviews(change):
    return {one.table: one for one in change.review.tables}


def verdict(change, table, check):
    [found] = [c.verdict for c in reviews(change)[table].checks if c.name == check]
    return found


def values(rows):
    return {row["customer"]: row["cents"] for row in rows.to_pylist()}


def assert_told(difference, old, new):
    """A difference says what two mappings of a key to its one value say."""
    both = old.keys() & new.keys()
    changed = {key for key in both if old[key] != new[key]}
    told = (difference.only_old, difference.only_new, difference.changed, difference.equal)
    assert told == (len(old.keys() - new.keys()), len(new.keys() - old.keys()), len(changed), len(both - changed))
    assert difference.columns == ({"cents": len(changed)} if changed else {})
    for sample in difference.samples.get("changed", ()):
        key = sample.row["customer"]
        assert (sample.old, sample.new) == ({"cents": str(old[key])}, {"cents": str(new[key])})


def test_a_failing_audit_of_a_flow_at_rest(open_, capsys):
    root = open_.project.root
    add(root, 0)
    run(open_)
    old = expected(open_)
    write_action(root, "spent", NOBODY)
    with pytest.raises(AuditFailedError, match=r"dws.lv_spent: it is empty, and 7 rows serve") as refused:
        apply(open_)
    [change] = open_.state.recent_changes(FLOW)
    assert f"streamhouse changes {change.id} --swap" in refused.value.hint
    assert (change.phase, change.waits, open_.state.versions()) == (Phase.WAITING, True, {})
    assert verdict(change, SPENT, "rows") is AuditVerdict.FAILED
    assert verdict(change, BEST, "rows") is AuditVerdict.FAILED
    assert_told(reviews(change)[SPENT].difference, values(served(open_, SPENT)), {})
    assert_same_rows(served(open_, SPENT), old[SPENT], key=("customer",))
    # The flow runs on as it was, and says what waits.
    add(root, 1)
    assert any(f"change {change.id} waits" in text for text in run(open_).warnings)
    assert open_.state.change(change.id).waits
    write_action(root, "spent")
    old = expected(open_)
    assert_same_rows(served(open_, SPENT), old[SPENT], key=("customer",))
    write_action(root, "spent", NOBODY)
    capsys.readouterr()
    assert main(["changes", str(change.id), "--project", str(root), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["phase"], told["review"]["tables"][0]["table"]) == ("waiting", SPENT)
    assert main(["changes", str(change.id), "--project", str(root)]) == 0
    out = capsys.readouterr().out
    assert "it is empty, and 7 rows serve" in out
    assert "only old" in out
    # A person lets it serve: nothing is filled again.
    done = apply(open_, SwapGate.OPEN)
    assert (done.id, done.phase, open_.state.versions()) == (change.id, Phase.APPLIED, change.versions)
    add(root, 2)
    run(open_)
    assert_equals_batch(open_)
    assert served(open_, SPENT).num_rows == 0


@pytest.mark.parametrize("segments", [1, 2])
def test_a_change_of_a_flow_that_runs_waits_for_a_person(open_, segments):
    live = Live(open_)
    if segments == 2:
        live.isolate(SPENT)
    assert len(plan_of(open_.project, FLOW).segments) == segments
    live.add()
    with live:
        live.drained()
        old = values(live.rows(SPENT))
        write_action(live.root, "spent", WITH_TAX)
        asked = ask_of(live, SwapGate.PERSON)
        live.until(lambda: open_.state.change(asked.id).waits, "it does not wait")
        change = open_.state.change(asked.id)
        assert (change.error, open_.state.versions()) == (None, {})
        new = values(expected(open_)[SPENT])
        assert_told(reviews(change)[SPENT].difference, old, new)
        # Meanwhile what serves goes on, and the same plan asked for in passing, as the trigger does, wakes nothing.
        write_action(live.root, "spent")
        live.add()
        live.drained()
        live.assert_equals_batch()
        write_action(live.root, "spent", WITH_TAX)
        assert ask_of(live).waits
        open_.state.let_serve(change.id)
        live.until(lambda: not open_.state.change(change.id).is_open, "it does not serve")
        assert open_.state.change(change.id).phase is Phase.APPLIED, open_.state.change(change.id).error
        live.add()
        live.drained()
        live.assert_equals_batch()


def test_a_change_that_waits_catches_up_while_its_flow_runs(open_, monkeypatch):
    monkeypatch.setattr(keep_up, "_EVERY_S", 0.5)
    monkeypatch.setattr(keep_up, "_SHARE", 0)
    live = Live(open_)
    live.add()
    with live:
        live.drained()
        write_action(live.root, "spent", WITH_TAX)
        asked = ask_of(live, SwapGate.PERSON)
        live.until(lambda: open_.state.change(asked.id).waits, "it does not wait")
        built = stored_name(SPENT, asked.versions[SPENT])
        table = plan_of(open_.project, FLOW).tables[SPENT].model_copy(update={"name": built})

        def rows():
            return open_.stores[table.tiers.target].read_state(table)

        stood = values(rows())
        live.add()
        wanted = expected(open_)[SPENT]
        assert values(wanted) != stood
        live.until(lambda: values(rows()) == values(wanted), "what was built stands still")
        assert open_.state.change(asked.id).waits
        assert open_.state.versions() == {}, "it serves only when a person says so"
        open_.state.let_serve(asked.id)
        live.until(lambda: not open_.state.change(asked.id).is_open, "it does not serve")
        assert open_.state.change(asked.id).phase is Phase.APPLIED, open_.state.change(asked.id).error
        live.add()
        live.drained()
        live.assert_equals_batch()


@soak
def test_a_change_that_waits_and_cannot_catch_up_goes_on_waiting(open_, monkeypatch):
    monkeypatch.setattr(keep_up, "_EVERY_S", 0.5)
    live = Live(open_)
    live.add()
    with live:
        live.drained()
        action = live.root / "actions" / "spent.sql"
        few = "output: {primary_key: [customer]}\nexpect: {few: {check: cents < 300, on_violation: fail}}\n"
        action.write_text(
            action.read_text().replace("--- */", f"{few}--- */").replace("SUM(cents)", "SUM(cents + tax)")
        )
        asked = ask_of(live, SwapGate.PERSON)
        live.until(lambda: open_.state.change(asked.id).waits, "it does not wait")
        assert verdict(open_.state.change(asked.id), SPENT, "expect.few") is AuditVerdict.PASSED
        live.add()
        live.add()

        def told():
            return [event.text for event in open_.state.events(FLOW) if "does not catch up meanwhile" in event.text]

        live.until(told, "nothing is told")
        assert "few" in told()[0]
        write_action(live.root, "spent")
        live.add()
        live.drained()
        assert len(told()) == 1
        assert open_.state.change(asked.id).waits
        live.assert_equals_batch()  # what serves goes on


@soak
def test_an_expectation_that_more_rows_violate_than_before(open_):
    live = Live(open_)
    live.add()
    with live:
        live.drained()
        action = live.root / "actions" / "spent.sql"
        header = "output: {primary_key: [customer]}\nexpect: {big: {check: cents > 30}}\n"
        action.write_text(action.read_text().replace("--- */", f"{header}--- */"))
        text = action.read_text().replace("SUM(cents) AS cents", "CAST(SUM(cents) / 100 AS BIGINT) AS cents")
        action.write_text(text)
        asked = ask_of(live)
        live.until(lambda: open_.state.change(asked.id).waits, "it does not wait")
        change = open_.state.change(asked.id)
        assert verdict(change, SPENT, "expect.big") is AuditVerdict.FAILED
        assert verdict(change, SPENT, "rows") is AuditVerdict.PASSED
        assert "violate 'big': cents > 30; of what serves" in change.error
        # An edit that mends it takes its place; what was built is dropped, and the mended one serves.
        action.write_text(text.replace("/ 100", "* 1"))
        _, mended = live.apply()
        assert mended.phase is Phase.APPLIED, mended.error
        assert open_.state.change(change.id).phase is Phase.WITHDRAWN
        live.add()
        live.drained()
        live.assert_equals_batch()
    table = plan_of(open_.project, FLOW).tables[SPENT]
    left = stored_name(SPENT, change.versions[SPENT])
    assert open_.stores[table.tiers.target].columns(left) is None


@soak
def test_a_change_that_waits_is_given_up(open_):
    root = open_.project.root
    add(root, 0)
    run(open_)
    write_action(root, "spent", WITH_TAX)
    change = apply(open_, SwapGate.PERSON)
    assert (change.waits, change.error) == (True, None)
    withdraw(open_.project, change.id)
    write_action(root, "spent")
    add(root, 1)
    run(open_)
    assert_equals_batch(open_)
    plan = plan_of(open_.project, FLOW)
    for name, version in change.versions.items():
        store = open_.stores[plan.tables[name].tiers.target]
        assert store.columns(stored_name(name, version)) is None
    assert open_.state.left_behind(FLOW) == []


def test_a_change_that_builds_nothing_waits_as_well(open_):
    root = open_.project.root
    add(root, 0)
    run(open_)
    write_action(root, "valid", "SELECT order_id, customer, cents, tax FROM rows WHERE cents > 0")
    change = apply(open_, SwapGate.PERSON)
    assert (change.waits, change.versions, open_.state.plan(FLOW)[0]) == (True, {}, 1)
    done = applying.swap(open_.project, change.id)
    assert (done.phase, open_.state.plan(FLOW)[0]) == (Phase.APPLIED, 2)
