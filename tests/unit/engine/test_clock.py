"""The clock of a segment, against inputs that are plain counters."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamhouse.engine.clock import EpochClock
from streamhouse.engine.vector import Vector, cap, covers


class Counter:
    """An input of `rows` rows."""

    def __init__(self, rows: int) -> None:
        self.rows = rows

    def available(self):
        return {"row": self.rows}

    def advance(self, start, max_rows):
        return {"row": min(self.rows, start.get("row", 0) + max_rows)}

    def rows_between(self, start, end):
        return end.get("row", 0) - start.get("row", 0)


def clock(inputs, **options):
    defaults = {"first": (), "max_rows": 10, "now_ms": lambda: 1_000}
    return EpochClock(inputs, **(defaults | options))


def drain(ticker, last=None):
    """Every vector until the clock stands still."""
    last = last or Vector()
    while (after := ticker.next(last)) != last:
        yield after
        last = after


def test_an_idle_clock_gives_the_last_vector_back():
    last = Vector(5, {"a": {"row": 3}})
    assert clock({"a": Counter(3)}).next(last) is last


def test_an_epoch_is_bounded():
    ends = [v.positions["a"]["row"] for v in drain(clock({"a": Counter(25)}))]
    assert ends == [10, 20, 25]


def test_inputs_share_the_bound_and_leave_what_they_do_not_need():
    first = clock({"a": Counter(2), "b": Counter(100)}).next(Vector())
    assert first.positions == {"a": {"row": 2}, "b": {"row": 8}}


def test_facts_wait_until_their_dimensions_are_loaded():
    vectors = list(drain(clock({"facts": Counter(5), "dimension": Counter(15)}, first={"dimension"})))
    assert "facts" not in vectors[0].positions
    # The epoch that takes the last dimension row may also take facts: lookups see its end.
    assert vectors[1].positions == {"dimension": {"row": 15}, "facts": {"row": 5}}


def test_a_drain_ends_where_it_was_told_though_more_rows_arrived():
    vectors = list(drain(clock({"a": Counter(100)}, until={"a": {"row": 15}})))
    assert [v.positions["a"]["row"] for v in vectors] == [10, 15]


def test_a_tick_follows_the_last_rows_once():
    now = iter(range(1_000, 100_000, 1_000))
    ticker = clock({"a": Counter(3)}, now_ms=lambda: next(now), tick_after=timedelta(seconds=2))
    last = ticker.next(Vector())
    assert not last.tick
    assert ticker.next(last) is last  # one second later: not due
    tick = ticker.next(last)
    assert tick.tick
    assert tick.positions == last.positions
    assert ticker.next(tick) is tick


def test_a_drain_ticks_at_once():
    vectors = list(drain(clock({"a": Counter(3)}, until={"a": {"row": 3}}, tick_after=timedelta(hours=1))))
    assert [v.tick for v in vectors] == [False, True]


def test_nothing_ticks_before_the_first_rows():
    assert list(drain(clock({"a": Counter(0)}, until={}, tick_after=timedelta(0)))) == []


@given(
    rows=st.dictionaries(st.sampled_from("abcd"), st.integers(0, 60), min_size=1),
    first=st.sets(st.sampled_from("abcd")),
    max_rows=st.integers(1, 20),
)
def test_every_row_is_in_exactly_one_bounded_epoch(rows, first, max_rows):
    inputs = {name: Counter(n) for name, n in rows.items()}
    last = Vector()
    for after in drain(clock(inputs, first=first, max_rows=max_rows)):
        taken = sum(inputs[n].rows_between(last.positions.get(n, {}), p) for n, p in after.positions.items())
        # Each input with a backlog gets one row at least, or it would starve under a small bound.
        assert 0 < taken < max_rows + len(rows)
        last = after
    assert {n: last.positions.get(n, {"row": 0})["row"] for n in rows} == rows


def test_cap_drops_what_the_limit_does_not_know():
    assert cap({"0": 5, "1": 9, "2": 1}, {"0": 7, "1": 4}) == {"0": 5, "1": 4}


@pytest.mark.parametrize(
    ("reached", "expected"),
    [({"a": {"0": 5}}, True), ({"a": {"0": 6}, "b": {"0": 1}}, True), ({"a": {"0": 4}}, False), ({}, False)],
)
def test_covers(reached, expected):
    assert covers(reached, {"a": {"0": 5}}) is expected


def test_a_vector_survives_its_json():
    vector = Vector(7, {"b": {"1": 2}, "a": {}}, tick=True)
    assert Vector.from_json(vector.to_json()) == vector


class Timed(Counter):
    """An input that knows when its next row comes."""

    def __init__(self, rows, due_s):
        super().__init__(rows)
        self.due = due_s

    def due_s(self, start):
        return None if self.due is None else self.due + start.get("row", 0)


def test_the_row_that_comes_first_tells_when_to_look_again():
    inputs = {"late": Timed(0, 5.0), "soon": Timed(0, 1.0), "over": Timed(0, None), "unknown": Counter(0)}
    assert clock(inputs).due_s(Vector(1, {"soon": {"row": 2}})) == 3.0


def test_where_no_input_knows_nothing_is_told():
    assert clock({"over": Timed(0, None), "unknown": Counter(0)}).due_s(Vector()) is None
