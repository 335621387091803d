from hypothesis import given
from hypothesis import strategies as st

from streamhouse.stores.pace import by_offsets, by_snapshots, offsets_between

POSITIONS = st.dictionaries(st.sampled_from(["0", "1", "2"]), st.integers(0, 1000))


@given(start=POSITIONS, more=POSITIONS, max_rows=st.integers(1, 500))
def test_steps_by_offsets_come_to_the_end_and_keep_to_their_size(start, more, max_rows):
    end = {bucket: start.get(bucket, 0) + more.get(bucket, 0) for bucket in "012"}
    position = start
    for _ in range(4000):
        further = by_offsets(position, end, max_rows)
        taken = offsets_between(position, further)
        if not taken:
            break
        assert taken <= max_rows
        assert all(further[bucket] >= position.get(bucket, 0) for bucket in further)
        position = further
    assert {bucket: position.get(bucket, 0) for bucket in end} == end


@given(rows=st.lists(st.integers(0, 50)), max_rows=st.integers(1, 100))
def test_steps_by_snapshots_are_as_long_as_they_may_be(rows, max_rows):
    position = 0
    while position < len(rows):
        further = by_snapshots(((n + 1, rows[n]) for n in range(position, len(rows))), position, max_rows)
        assert further > position
        taken = rows[position:further]
        assert sum(taken) <= max_rows or sum(count > 0 for count in taken) == 1
        if further < len(rows):
            assert sum(taken) + rows[further] > max_rows
        position = further
    assert by_snapshots([], position, max_rows) == position
