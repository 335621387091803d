"""Frames of windows: what Spark refuses is refused at its place."""

import pytest

from streamhouse.errors import StreamhouseError
from tests.spark_verdicts import checked
from tests.tables import each

_FALSE = [
    (
        "sum(v) OVER (ORDER BY k RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)",
        "RANGE takes no int as bound where .* string",
    ),
    ("sum(v) OVER (ORDER BY ts RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)", "takes no int as bound where .* timestamp"),
    ("sum(v) OVER (ORDER BY d RANGE BETWEEN INTERVAL 1 HOUR PRECEDING AND CURRENT ROW)", "takes no time_interval"),
    ("sum(v) OVER (ORDER BY d RANGE BETWEEN 1L PRECEDING AND CURRENT ROW)", "takes no bigint"),
    ("sum(v) OVER (RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)", "RANGE needs an ORDER BY"),
    ("sum(v) OVER (PARTITION BY b RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)", "RANGE needs an ORDER BY"),
    ("sum(v) OVER (ORDER BY id, v RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)", "takes one column in its ORDER BY"),
    ("sum(v) OVER (ORDER BY id ROWS BETWEEN 1 FOLLOWING AND 1 PRECEDING)", "ends before it begins"),
    ("sum(v) OVER (ORDER BY id ROWS BETWEEN CURRENT ROW AND UNBOUNDED PRECEDING)", "ends before it begins"),
    ("sum(v) OVER (ORDER BY id ROWS BETWEEN 1.5 PRECEDING AND CURRENT ROW)", r"ROWS takes an INT .* decimal\(2,1\)"),
    ("sum(v) OVER (ORDER BY id ROWS BETWEEN 1L PRECEDING AND CURRENT ROW)", "ROWS takes an INT .* bigint"),
    ("rank() OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)", r"rank\(\) takes no frame of its own"),
    ("lag(v) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)", r"lag\(\) takes no frame"),
    ("row_number() OVER (ORDER BY id RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)", "takes no frame"),
    (
        "sum(v) OVER (ORDER BY ts RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND INTERVAL 1 HOUR PRECEDING)",
        "intervals of one unit",
    ),
]
_RIGHT = [
    "sum(v) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING)",
    "sum(v) OVER (ORDER BY id ROWS BETWEEN CURRENT ROW AND 1 PRECEDING)",
    "sum(v) OVER (PARTITION BY b RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)",
    "sum(v) OVER (ORDER BY k, v RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)",
    "sum(v) OVER (ORDER BY d RANGE BETWEEN INTERVAL 7 DAYS PRECEDING AND CURRENT ROW)",
    "sum(v) OVER (ORDER BY d RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)",
    "sum(v) OVER (ORDER BY dec RANGE BETWEEN 0.5 PRECEDING AND 1 FOLLOWING)",
    "row_number() OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)",
    "rank() OVER (ORDER BY id ROWS UNBOUNDED PRECEDING)",
    "cume_dist() OVER (ORDER BY id RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)",
    "nth_value(v, 2) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
]


@each(("call", "message"), _FALSE)
def test_refused(call: str, message: str) -> None:
    with pytest.raises(StreamhouseError, match=rf"^a\.sql:1:12: SH203 .*{message}"):
        checked(f"SELECT id, {call} AS z FROM t")


@each("call", _RIGHT)
def test_taken(call: str) -> None:
    checked(f"SELECT id, {call} AS z FROM t")


@each(
    "window",
    [
        "ORDER BY k RANGE BETWEEN 1 PRECEDING AND CURRENT ROW",
        "ORDER BY id ROWS BETWEEN 1 FOLLOWING AND 1 PRECEDING",
        "ORDER BY upper(arr)",
        "ORDER BY nosuch",
    ],
)
def test_a_window_that_nothing_uses_is_left_out(window: str) -> None:
    taken = checked(f"SELECT id, rank() OVER W AS z FROM t WINDOW q AS ({window}), w AS (ORDER BY v, id)")
    assert "WINDOW w AS (ORDER BY t.v, t.id)" in taken.sql
    assert "q" not in checked(f"SELECT id FROM t WINDOW q AS ({window})").sql


def test_the_frame_of_a_named_window() -> None:
    with pytest.raises(StreamhouseError, match=r"rank\(\) takes no frame of its own"):
        checked(
            "SELECT id, rank() OVER w AS z FROM t WINDOW w AS (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)"
        )
    with pytest.raises(StreamhouseError, match="RANGE takes no int"):
        checked(
            "SELECT id, sum(v) OVER w AS z FROM t WINDOW w AS (ORDER BY k RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)"
        )
