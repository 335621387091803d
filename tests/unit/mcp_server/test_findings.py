"""What is out of order, from what was recorded."""

from datetime import UTC, datetime, timedelta

import pytest

from streamhouse.project.desired import desired_plans
from streamhouse.state.records import EpochRecord, Owner, RunnerState

NOW = datetime.now(UTC)


@pytest.fixture
def ran(project):
    """Records epochs of the flow, whose layers were readable so many milliseconds after their rows were seen."""

    def record(*epochs, wait=10, error=None):
        with project.state() as state:
            state.save_plan(desired_plans(project)["orders"])
            lease = state.acquire("orders", Owner("here", 1, NOW), timedelta(minutes=5), NOW)
            for number, visible in enumerate(epochs):
                at = int(NOW.timestamp() * 1000) + number * 10_000
                state.begin_epoch(lease, "main", number, at, NOW)
                layers = {layer: at + ms for layer, ms in visible.items()}
                end = max(layers.values())
                record = EpochRecord("orders", "main", number, at, at + wait, end, layer_visible_ms=layers)
                state.finish_epoch(lease, record)
            if error:
                state.set_runner_state(lease, RunnerState.FAILED, error)

    return record


def test_the_slowest_hop_is_named(call, ran):
    ran(*[{"ods": 100, "dwd": 200, "dws": 3000}] * 5)
    [flow] = call("diagnose", name="dws.revenue_by_product").document["flows"]
    assert flow["late"]
    slowest = flow["slowest"]
    assert (slowest["before"], slowest["layer"], slowest["p50_ms"]) == ("dwd", "dws", 2800)
    assert slowest["tables"] == ["dws.revenue_by_product"]
    assert "dws was 3000 ms behind the source in the last epoch; the target is 1000 ms" in flow["findings"]
    assert any("most of the time goes from dwd to dws: 2800 ms" in one for one in flow["findings"])
    assert flow["segments"][0]["last_work_ms"] == 2990


def test_rows_that_wait_for_their_epoch(call, ran):
    ran({"ods": 2100, "dwd": 2150, "dws": 2200}, wait=2000)
    [flow] = call("diagnose").document["flows"]
    assert any("rows waited 2000 ms until an epoch of segment main began" in one for one in flow["findings"])


def test_a_change_that_is_applied_is_no_epoch_whose_rows_waited(call, project, ran):
    ran({"ods": 10, "dwd": 20, "dws": 30})
    with project.state() as state:
        long_after = int(NOW.timestamp() * 1000) + 3_600_000
        state.begin_at([EpochRecord("orders", "main", 1, long_after - 3_600_000, long_after, long_after)])
        state.append_event("orders", "change", "change 1 (swap) applied: the flow goes on")
    [flow] = call("diagnose", name="orders").document["flows"]
    [segment] = flow["segments"]
    assert (segment["last_wait_ms"], segment["epochs"]) == (10, 1)
    assert not any("waited" in one for one in flow["findings"])
    [event] = flow["events"]
    assert "change: what it says may quote rows" in event
    assert "error" not in event


def test_a_flow_in_time_has_no_finding_but_that_it_ended(call, ran):
    ran({"ods": 10, "dwd": 20, "dws": 30})
    [flow] = call("diagnose").document["flows"]
    assert not flow["late"]
    assert not any("behind" in one for one in flow["findings"])
    assert [hop["before"] for hop in flow["hops"]] == ["source", "ods", "dwd"]


def test_what_an_error_says_leaves_only_with_rows(call, project, ran, edit):
    ran({"ods": 10, "dwd": 20, "dws": 30}, error="SH405 the value 'Ada Lovelace' does not fit")
    with project.state() as state:
        state.append_event("orders", "retry", "main waits: SH405 the value 'Ada Lovelace' does not fit")
        state.append_event("orders", "expectation", "epoch 3: 5 rows violate positive")
    told = [call("diagnose", name="orders").document["flows"][0], call("describe", name="orders").document["flow"]]
    assert "Lovelace" not in str(told)
    assert told[0]["error"].startswith("SH405: A store refuses rows: a null key, a value that does not fit, two rows")
    assert "the flow is failed" in told[0]["findings"][0]
    assert any("5 rows violate positive" in event for event in told[0]["events"])
    for name in ("ingest_orders", "clean_orders", "revenue_by_product"):
        edit(f"actions/{name}.sql", "inputs:", "ai: {rows: allowed}\ninputs:")
    [flow] = call("diagnose", name="orders").document["flows"]
    assert flow["error"] == "SH405 the value 'Ada Lovelace' does not fit"
