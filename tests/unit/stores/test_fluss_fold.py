"""Folding a change log against a model that applies every change to a dictionary."""

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from streamhouse.stores.fluss.change_log import whole_changes
from streamhouse.stores.fluss.log import AFTER, BEFORE, DELETED, INSERTED, LogBatch
from streamhouse.stores.keyed import without_keys

SCHEMA = pa.schema([("k", pa.int64()), ("v", pa.int64())])
State = dict[int, int]
Change = tuple[int, int | None]  # key, its new value; None: deleted


def log_of(changes: list[Change]) -> tuple[list[tuple[int, int, int]], list[State]]:
    """The records `(kind, key, value)` Fluss would write, and the state before each offset and at the end."""
    records, states, now = [], [], {}
    for key, value in changes:
        old = now.get(key)
        if value is None and old is None:
            continue
        if old is None:
            new = [(INSERTED, key, value)]
        elif value is None:
            new = [(DELETED, key, old)]
        else:
            new = [(BEFORE, key, old), (AFTER, key, value)]
        records += new
        states += [dict(now)] * len(new)
        now = now | {key: value} if value is not None else {k: v for k, v in now.items() if k != key}
    return records, [*states, now]


def read(records: list[tuple[int, int, int]], start: int, end: int, size: int) -> list[LogBatch]:
    """Batches of `size` rows that hold one offset before `start`, as the store fetches them."""
    first = max(start - 1, 0)
    batches = []
    for base in range(0, len(records), size):
        part = records[base : base + size]
        rows = pa.RecordBatch.from_pylist([{"k": k, "v": v} for _, k, v in part], schema=SCHEMA)
        batch = LogBatch(base, base + len(part), bytes(kind for kind, _, _ in part), rows)
        if batch.end > first and batch.base < end:
            batches.append(batch.cut(first, end))
    return batches if start < end else []


def as_state(rows: pa.Table | None) -> State:
    found = [] if rows is None else rows.to_pylist()
    assert len({row["k"] for row in found}) == len(found), "a key is there twice"
    return {row["k"]: row["v"] for row in found}


def as_rows(state: State) -> pa.Table:
    return pa.Table.from_pylist([{"k": k, "v": v} for k, v in state.items()], schema=SCHEMA)


changes = st.lists(st.tuples(st.integers(0, 4), st.one_of(st.none(), st.integers(0, 9))), max_size=25)


@given(changes, st.data(), st.integers(1, 6))
def test_any_range_leads_from_the_state_at_its_start_to_that_at_its_end(
    history: list[Change], data: st.DataObject, size: int
) -> None:
    records, states = log_of(history)
    start = data.draw(st.integers(0, len(records)))
    end = data.draw(st.integers(start, len(records)))
    log = whole_changes({"0": read(records, start, end, size)}, {"0": start}, SCHEMA)
    folded = log.changes(("k",), ("k", "v"))

    upserts, before = as_state(folded.upserts), as_state(folded.before)
    gone = {row["k"] for row in folded.deletes.to_pylist()} if folded.deletes else set()
    touched = upserts.keys() | gone
    assert not upserts.keys() & gone
    assert before == {k: v for k, v in states[start].items() if k in touched}
    assert {k: v for k, v in states[start].items() if k not in touched} | upserts == states[end]


@given(changes, st.data(), st.integers(1, 6))
def test_undoing_a_log_gives_the_state_before_it(history: list[Change], data: st.DataObject, size: int) -> None:
    records, states = log_of(history)
    at = data.draw(st.integers(0, len(records)))
    seen = data.draw(st.integers(at, len(records)))  # a scan may show any moment up to the end of the log
    log = whole_changes({"0": read(records, at, len(records), size)}, {"0": at}, SCHEMA)
    assert as_state(log.undone(as_rows(states[seen]), ("k",))) == states[at]


def test_buckets_do_not_mix() -> None:
    def one(kind: int, key: int) -> LogBatch:
        rows = pa.RecordBatch.from_pylist([{"k": key, "v": 0}], schema=SCHEMA)
        return LogBatch(4, 5, bytes([kind]), rows)

    # Offset 4 lies before the range of each bucket: it only counts where it begins an update.
    log = whole_changes({"0": [one(AFTER, 1)], "1": [one(INSERTED, 2)]}, {"0": 5, "1": 4}, SCHEMA)
    assert as_state(log.changes(("k",), ("k", "v")).upserts) == {2: 0}


def test_keys_of_several_columns_are_left_out() -> None:
    rows = pa.table({"a": ["x", "x", "y"], "b": [1, 2, 1], "nested": [[1], None, []]})
    left = without_keys(rows, pa.table({"a": ["x", "y", "x"], "b": [1, 2, 1]}))
    assert left.to_pylist() == [{"a": "x", "b": 2, "nested": None}, {"a": "y", "b": 1, "nested": []}]
