from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamhouse.errors import StoreUnavailableError
from streamhouse.state.connect import Database
from streamhouse.state.metrics import HOUR_S, MINUTE_S, RETENTION_S, Lag, MetricPoint, Metrics, point_of, resampled
from streamhouse.state.records import EpochRecord

MINUTE, HOUR = MINUTE_S * 1000, HOUR_S * 1000
NOON = 500_000 * HOUR


def epoch(finished_ms, *, took=10, rows=None, lag=None, flow="f", number=0):
    at = finished_ms - 40
    visible = {layer: at + ms for layer, ms in (lag or {}).items()}
    return EpochRecord(
        flow, "main", number, at, finished_ms - took, finished_ms, rows=rows or {}, layer_visible_ms=visible
    )


@pytest.fixture
def metrics(tmp_path):
    database = Database(f"sqlite:///{tmp_path}/state.db")
    yield Metrics(database)
    database.close()


def minutes(metrics, flow="f"):
    return metrics.read(flow, 0, MINUTE_S)


def test_a_minute_is_written_when_it_is_over(metrics):
    metrics.add(epoch(NOON + 1, took=5, rows={"t": 3}, lag={"ods": 20}))
    metrics.add(epoch(NOON + 2, took=9, rows={"t": 1, "u": 2}, lag={"ods": 30, "dwd": 50}))
    assert minutes(metrics) == []
    metrics.add(epoch(NOON + MINUTE))
    lags = {"ods": Lag(2, 50, 30), "dwd": Lag(1, 50, 50)}
    assert minutes(metrics) == [MetricPoint(NOON, 2, 14, 9, {"t": 4, "u": 2}, lags)]


def test_what_goes_on_is_written_at_the_end_and_added_to(metrics):
    for _ in range(2):  # two processes within one minute
        metrics.add(epoch(NOON, rows={"t": 1}))
        metrics.flush()
    assert [(one.epochs, one.rows) for one in minutes(metrics)] == [(2, {"t": 2})]
    metrics.flush()
    assert len(minutes(metrics)) == 1


def test_an_hour_is_the_sum_of_its_minutes(metrics):
    for minute in range(61):
        metrics.add(epoch(NOON + minute * MINUTE, rows={"t": 1}, lag={"ods": minute}))
    metrics.flush()
    first, second = metrics.read("f", 0, HOUR_S)
    assert (first.start_ms, first.epochs, first.rows, first.lags) == (NOON, 60, {"t": 60}, {"ods": Lag(60, 1770, 59)})
    assert (second.start_ms, second.epochs) == (NOON + HOUR, 1)
    assert resampled(minutes(metrics), HOUR_S) == [first, second]


def test_old_points_go_and_those_of_other_flows_stay(metrics):
    metrics.add(epoch(NOON, flow="other"))
    metrics.add(epoch(NOON))
    metrics.flush()
    metrics.add(epoch(NOON + RETENTION_S[MINUTE_S] * 1000 + MINUTE))
    metrics.flush()
    assert [one.start_ms - NOON for one in minutes(metrics)] == [RETENTION_S[MINUTE_S] * 1000 + MINUTE]
    assert len(metrics.read("f", 0, HOUR_S)) == 2
    assert len(minutes(metrics, "other")) == 1


def test_flows_do_not_mix_and_threads_lose_nothing(metrics):
    records = [epoch(NOON + n * 500, flow=f"f{n % 3}", rows={"t": 1}) for n in range(900)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(metrics.add, records))
    metrics.flush()
    for n in range(3):
        assert sum(one.rows["t"] for one in minutes(metrics, f"f{n}")) == 300


def test_a_store_that_does_not_answer_delays_points_only(metrics, monkeypatch):
    write = metrics._database.write

    def refuse(_):
        raise StoreUnavailableError("away")

    monkeypatch.setattr(metrics._database, "write", refuse)
    for minute in range(3):
        metrics.add(epoch(NOON + minute * MINUTE))
    monkeypatch.setattr(metrics._database, "write", write)
    metrics.flush()
    assert [one.epochs for one in minutes(metrics)] == [1, 1, 1]


@given(st.lists(st.tuples(st.integers(0, 5 * HOUR), st.integers(0, 500), st.integers(0, 9)), min_size=1))
def test_no_epoch_is_lost_or_counted_twice_in_longer_points(times):
    points = [point_of(epoch(NOON + at, took=took, rows={"t": rows}, lag={"ods": took})) for at, took, rows in times]
    for length in (MINUTE_S, 600, HOUR_S):
        found = resampled(points, length)
        assert sum(one.epochs for one in found) == len(times)
        assert sum(one.rows["t"] for one in found) == sum(rows for _, _, rows in times)
        assert sum(one.busy_ms for one in found) == sum(one.lags["ods"].sum_ms for one in found)
        assert max(one.longest_ms for one in found) == max(took for _, took, _ in times)
        assert [one.start_ms for one in found] == sorted({at - at % (length * 1000) for at in _starts(points)})


def _starts(points):
    return [one.start_ms for one in points]
