"""The changes of a log come in the order they were written, over many commits."""

import pyarrow as pa

from streamhouse.stores.base import Changes, WriteContext

COMMITS, ROWS = 8, 5


def test_changes_of_many_commits_come_in_their_order(store, make_table):
    table = make_table(n="int", word="string").model_copy(update={"buckets": 1})
    store.create(table)
    ends = [store.end(table)]
    for epoch in range(COMMITS):
        numbers = list(range(epoch * ROWS, epoch * ROWS + ROWS))
        rows = pa.table({"n": pa.array(numbers, pa.int32()), "word": [f"w{n}" for n in numbers]})
        ends.append(store.write(table, Changes(rows), WriteContext("flow/order", epoch)))
    for start, end in ((0, COMMITS), (2, COMMITS - 1)):
        found = store.read_changes(table, ends[start], ends[end]).upserts
        assert found["n"].to_pylist() == list(range(start * ROWS, end * ROWS))
