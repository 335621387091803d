"""How rows are told apart by partition, and how positions name their buckets."""

from datetime import date, timedelta

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamhouse.errors import WriteRefusedError
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.fluss.partitions import (
    WHOLE,
    bucket_key,
    bucket_of,
    by_partition,
    name_of,
    partition_name,
    partition_values,
)

COLUMNS = {"v": "int", "d": "date", "s": "string", "n": "int", "big": "bigint", "many": "array<int>"}


def table(*by):
    columns = tuple(Column(name=name, type=kind) for name, kind in COLUMNS.items())
    return Table(name="dwd.parts", columns=columns, partition_by=by, tiers=Tiers(hot="1d"))


def rows(values):
    names = [name for name in COLUMNS if name != "many"]
    listed = [dict(zip(names, row, strict=True)) | {"many": [row[0]]} for row in values]
    return pa.Table.from_pylist(listed, schema=arrow_schema(table().columns))


VALUES = st.tuples(
    st.integers(0, 99),
    st.integers(0, 3).map(lambda days: date(2026, 1, 1) + timedelta(days=days)),
    st.sampled_from(["de", "FR", "a-b_c", "7"]),
    st.integers(-2, 2),
    st.sampled_from([-(2**63), 0, 2**63 - 1]),
)


@given(st.lists(VALUES, max_size=30), st.lists(st.sampled_from(["d", "s", "n", "big"]), unique=True))
def test_every_row_is_in_the_partition_of_its_values_and_in_order(values, by):
    parted, given_rows = table(*by), rows(values)
    parts = by_partition(parted, given_rows)
    if not by:
        assert parts == {WHOLE: given_rows}
        return
    assert sum(part.num_rows for part in parts.values()) == len(values)
    for name, part in parts.items():
        key = partition_values(parted, name)
        assert partition_name(key) == name
        expected = [row for row in given_rows.to_pylist() if tuple(row[column] for column in by) == key]
        assert part.to_pylist() == expected
    assert set(parts) == {partition_name([row[column] for column in by]) for row in given_rows.to_pylist()}


@given(st.integers(0, 99), st.sampled_from(["2026-01-01", "2026-01-01$a-b_c", "-5"]), st.integers(0, 2**40))
def test_a_bucket_is_read_back_from_its_name(number, name, partition_id):
    key = bucket_key(number, name, partition_id)
    assert (bucket_of(key), name_of(key)) == ((partition_id, number), name)
    assert bucket_of(bucket_key(number)) == (None, number)


@pytest.mark.parametrize("value", [None, "", "a b", "a$b", "a/b", "a#b", "ü", "__a", "a" * 201])
def test_a_value_that_fluss_cannot_name_is_refused(value):
    with pytest.raises(WriteRefusedError, match="s is NULL" if value is None else "by s = "):
        by_partition(table("s"), rows([(1, date(2026, 1, 1), "ok", 1, 1), (1, date(2026, 1, 1), value, 1, 1)]))


def test_a_name_of_several_values_may_be_too_long():
    with pytest.raises(WriteRefusedError, match="longer than 200"):
        by_partition(table("s", "d"), rows([(1, date(2026, 1, 1), "a" * 195, 1, 1)]))
