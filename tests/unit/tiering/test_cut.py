"""Cutting a log: no row twice, none missed, and a gap is an error."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamhouse.errors import RowsLostError, StateConflictError
from streamhouse.tiering.cut import OffsetRange, behind, counts_rows, cut, within

BUCKETS = st.integers(1, 12)


def test_each_bucket_begins_where_the_lake_ends() -> None:
    ranges = cut({"0": 5, "10": 1}, {"0": 3, "2": 0, "10": 1}, {"10": 4, "2": 7, "0": 5})
    assert ranges == [OffsetRange("0", 5, 5), OffsetRange("2", 0, 7), OffsetRange("10", 1, 4)]
    assert [one.rows for one in ranges] == [0, 7, 3]


def test_rows_that_no_tier_holds_are_an_error() -> None:
    with pytest.raises(RowsLostError) as lost:
        cut({"0": 3}, {"0": 10}, {"0": 20})
    assert str(lost.value) == (
        "SH404 bucket 0: offsets 3..9 are in no tier\n"
        "  hint: raise the table's log TTL above the tiering interval, then backfill"
    )


def test_a_log_may_begin_exactly_where_the_lake_ends() -> None:
    assert cut({"0": 10}, {"0": 10}, {"0": 20}) == [OffsetRange("0", 10, 20)]


def test_never_tiered_and_cut_short_is_an_error() -> None:
    with pytest.raises(RowsLostError, match=r"bucket 1: offsets 0\.\.0 "):
        cut({"0": 2}, {"0": 0, "1": 1}, {"0": 2, "1": 2})


@pytest.mark.parametrize(
    ("lake_end", "log_end"),
    [({"0": 9}, {"0": 8}), ({"1": 1}, {"0": 8})],
    ids=["beyond the log's end", "a bucket that the table lacks"],
)
def test_a_copy_of_another_table_is_refused(lake_end, log_end) -> None:
    with pytest.raises(StateConflictError, match="streamhouse restore --dry-run"):
        cut(lake_end, {}, log_end)


@given(st.dictionaries(st.integers(0, 11).map(str), st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=1))
def test_a_cut_and_the_lake_hold_every_offset_once(buckets) -> None:
    lake_end = {bucket: first for bucket, (first, _) in buckets.items()}
    log_end = {bucket: first + more for bucket, (first, more) in buckets.items()}
    ranges = cut(lake_end, lake_end, log_end)
    assert len(ranges) == len(log_end)
    for one in ranges:
        held = [*range(lake_end[one.bucket]), *range(one.start, one.end)]
        assert held == list(range(log_end[one.bucket]))


@given(
    st.dictionaries(st.integers(0, 11).map(str), st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=1),
    st.integers(1, 60),
)
def test_rounds_reach_the_end_with_each_row_in_one_of_them(buckets, max_rows) -> None:
    position = {bucket: first for bucket, (first, _) in buckets.items() if first}
    end = {bucket: first + more for bucket, (first, more) in buckets.items()}
    rounds = 0
    waiting = sum(more for _, more in buckets.values())
    while behind(position, end):
        following = within(position, end, max_rows)
        spanned = sum(following[bucket] - position.get(bucket, 0) for bucket in end)
        assert spanned == min(max_rows, waiting)
        assert all(position.get(bucket, 0) <= following[bucket] <= end[bucket] for bucket in end)
        position, waiting, rounds = following, waiting - spanned, rounds + 1
    assert waiting == 0
    assert rounds == -(-sum(more for _, more in buckets.values()) // max_rows)


def test_commits_are_taken_whole() -> None:
    assert within({"snapshot": 3}, {"snapshot": 90}, 1) == {"snapshot": 90}
    assert not counts_rows({"snapshot": 90})
    assert counts_rows({"0": 90})
    assert behind({}, {"snapshot": 1})
    assert not behind({"snapshot": 1}, {"snapshot": 1})
    assert not behind({}, {"0": 0})


def test_a_partition_that_was_dropped_since_leaves_nothing_to_read() -> None:
    lake = {"2026-11-20#3/0": 9, "2026-11-21#4/0": 5}
    assert cut(lake, {}, {"2026-11-21#4/0": 7}) == [OffsetRange("2026-11-21#4/0", 5, 7)]
    with pytest.raises(StateConflictError, match="no such bucket"):
        cut({"0": 9}, {}, {"1": 7})
