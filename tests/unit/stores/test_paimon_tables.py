"""How tables stand in Paimon."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from streamhouse.errors import SchemaConflictError, StoreError
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.stores.base import Changes, WriteContext
from streamhouse.stores.paimon import PaimonStore


def table(**options: Any) -> Table:
    columns = (Column(name="a", type="bigint"), Column(name="b", type="bigint"), Column(name="v", type="bigint"))
    return Table(**{"name": "dwd.t", "columns": columns, "buckets": 2, "tiers": Tiers(warm="1d")} | options)


KINDS = {
    "log": table(),
    "bucketed-log": table(bucket_key=("a",)),
    "keyed": table(primary_key=("a",)),
    "keyed-by-two": table(primary_key=("a", "b"), bucket_key=("b",)),
    "merging": table(primary_key=("a", "b"), merge={"v": "sum"}),
}


@pytest.fixture
def store(tmp_path: Path) -> PaimonStore:
    return PaimonStore(tmp_path / "warm", tmp_path / "locks")


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_written_by_the_rust_engine(store, kind):
    from pypaimon.write.native_write import NativeTableWrite

    store.create(KINDS[kind])
    builder = store._handle("dwd.t").new_stream_write_builder()._with_commit_user("streamhouse.f.s.0")
    write = builder.new_write()
    try:
        assert isinstance(write, NativeTableWrite)  # pypaimon falls back to Python without a word
    finally:
        write.close()


@pytest.mark.parametrize(
    ("kind", "other"),
    [
        ("log", {"buckets": 3}),
        ("log", {"bucket_key": ("a",)}),
        ("bucketed-log", {"buckets": 3}),
        ("bucketed-log", {"bucket_key": ("b",)}),
        ("keyed", {"buckets": 3}),
        ("keyed-by-two", {"bucket_key": ("a",)}),
        ("keyed-by-two", {"bucket_key": ()}),
        ("merging", {"buckets": 1}),
    ],
)
def test_other_buckets_are_refused(store, kind, other):
    store.create(KINDS[kind])
    store.create(KINDS[kind])
    with pytest.raises(SchemaConflictError, match="bucket"):
        store.create(KINDS[kind].model_copy(update=other))


def test_rows_lie_in_the_buckets_of_paimons_hash(store):
    from pypaimon.write.row_key_extractor import FixedBucketRowKeyExtractor

    keyed = KINDS["keyed-by-two"]
    store.create(keyed)
    rows = pa.table({name: pa.array(range(50), pa.int64()) for name in ("a", "b", "v")})
    store.write(keyed, Changes(rows), WriteContext("f/s", 0))
    handle = store._catalog.get_table("dwd.t")
    extractor = FixedBucketRowKeyExtractor(handle.table_schema)
    expected = dict(zip(range(50), extractor._extract_buckets_batch(rows.to_batches()[0]), strict=True))
    builder = handle.new_read_builder()
    for split in builder.new_scan().plan().splits():
        for value in builder.new_read().to_arrow([split]).column("b").to_pylist():
            assert expected.pop(value) == split.bucket
    assert not expected


def test_the_hidden_column_cannot_be_a_users(store):
    columns = (Column(name="a", type="bigint"), Column(name="_rk", type="string"))
    with pytest.raises(SchemaConflictError, match="_rk"):
        store.create(table(columns=columns, primary_key=("a",)))


@pytest.mark.parametrize("kind", ["log", "keyed"])
def test_rows_from_before_a_column_was_added_have_nulls(store, kind):
    from pypaimon.schema.data_types import AtomicType
    from pypaimon.schema.schema_change import SchemaChange

    old = KINDS[kind]
    new = old.model_copy(update={"columns": (*old.columns, Column(name="more", type="string"))})
    store.create(old)
    start = store.end(old)
    row = {"a": [1], "b": [2], "v": [3]}
    middle = store.write(old, Changes(pa.table(row)), WriteContext("f/s", 0))
    store._catalog.alter_table("dwd.t", [SchemaChange.add_column("more", AtomicType("STRING"))], False)
    end = store.write(new, Changes(pa.table({**row, "a": [2], "more": ["x"]})), WriteContext("f/s", 1))

    first, second = {"a": 1, "b": 2, "v": 3, "more": None}, {"a": 2, "b": 2, "v": 3, "more": "x"}
    assert sorted(store.read_state(new).to_pylist(), key=str) == sorted([first, second], key=str)
    assert store.read_state(new, at=middle).to_pylist() == [first]
    assert store.read_changes(new, middle, end).upserts.to_pylist() == [second]
    assert store.read_changes(new, start, middle).upserts.to_pylist() == [first]
    # Between the change of the table and that of the flow, the old plan reads and writes what it knows.
    store.write(old, Changes(pa.table({**row, "a": [3]})), WriteContext("f/s", 2))
    assert {"a": 3, "b": 2, "v": 3, "more": None} in store.read_state(new).to_pylist()
    assert store.read_state(old, at=end, columns=("v", "a")).num_rows == 2


def test_a_warehouse_that_is_a_file_is_one_sentence(tmp_path):
    (tmp_path / "warm").write_text("")
    with pytest.raises(StoreError) as refused:
        PaimonStore(tmp_path / "warm", tmp_path / "locks").create(KINDS["log"])
    assert "dwd.t" in str(refused.value)
