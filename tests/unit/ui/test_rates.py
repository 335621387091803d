from datetime import UTC, datetime

from streamhouse.state.records import EpochRecord
from streamhouse.ui.rates import rates

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
NOW_MS = int(NOW.timestamp() * 1000)


def epoch(started_s, finished_s, rows):
    return EpochRecord("f", "main", 0, 0, NOW_MS + started_s * 1000, NOW_MS + finished_s * 1000, rows=rows)


def test_what_ended_within_a_minute_counts():
    found = rates(
        [epoch(-90, -70, {"ods.a": 9}), epoch(-40, -30, {"ods.a": 100}), epoch(-20, -10, {"ods.a": 100})], NOW
    )
    assert found == {"ods.a": 5.0}  # 200 rows since 40 s ago


def test_never_more_than_a_minute_back():
    assert rates([epoch(-600, -1, {"ods.a": 120})], NOW) == {"ods.a": 2.0}


def test_versions_of_a_table_are_one_table():
    assert rates([epoch(-10, -9, {"ods.a": 10, "ods.a__v2": 10, "ods.b": 0})], NOW) == {"ods.a": 2.0}


def test_nothing_ran():
    assert rates([], NOW) == {}
    assert rates([epoch(-100, -61, {"ods.a": 9})], NOW) == {}
