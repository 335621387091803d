"""Keys are the same when Spark says so, whoever compares them; values keep their bits."""

import math
import struct
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from streamhouse.ingest.debezium import last_of_each
from streamhouse.ingest.event_run import Events
from streamhouse.model.table import Column
from streamhouse.stores.arrow import arrow_schema, conform
from streamhouse.stores.base import Changes
from streamhouse.stores.equality import distinct_keys, may_hold_floats, plain_keys
from streamhouse.stores.fluss.change_log import AFTER, BEFORE, DELETED, ChangeLog
from streamhouse.stores.keyed import last_of_each_key, with_keys, without_keys
from streamhouse.tiering.union import without_changed

(NAN,) = struct.unpack("<d", struct.pack("<Q", 0xFFF8000000000001))  # another one than Python's
SAME = [(0.0, -0.0), (math.nan, NAN)]
KEYS = [("k",), ("k", "p")]
NO_VALUES = pa.array([], pa.int64())
NOWHERE = np.array([], np.int64)


def rows_of(*keys, **columns):
    given = {"k": pa.array(keys, pa.float64()), "p": pa.array(["x"] * len(keys), pa.string())}
    return pa.table(given | {name: pa.array(values) for name, values in columns.items()})


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_there_is_one_zero_and_one_nan(kind):
    given = pa.array(np.array([0.0, -0.0, math.nan, NAN, 1.5], kind))
    found = plain_keys(pa.table({"k": given}), ["k"])["k"]
    assert found.type == given.type
    zero, negative, nan, other, value = (part.tobytes() for part in found.to_numpy())
    assert zero == negative
    assert nan == other
    assert len({zero, nan, value}) == 3


@pytest.mark.parametrize(("one", "other"), SAME)
@pytest.mark.parametrize("key", KEYS)
def test_every_look_by_key_finds_the_other_spelling(one, other, key):
    rows, wanted = rows_of(one, 7.0, v=[1, 2]), rows_of(other).select(list(key))
    assert with_keys(rows, wanted)["v"].to_pylist() == [1]
    assert without_keys(rows, wanted)["v"].to_pylist() == [2]
    assert last_of_each_key(rows_of(one, other, v=[1, 2]), key)["v"].to_pylist() == [2]
    assert distinct_keys(rows_of(one, other, 7.0), key).num_rows == 2
    tail = Changes(rows_of(other, v=[3]), rows_of(7.0).select(list(key)))
    assert without_changed(rows, tail, key).num_rows == 0


@pytest.mark.parametrize(("one", "other"), SAME)
def test_a_log_of_changes_folds_them_as_one_key(one, other):
    log = ChangeLog(rows_of(one, other, other, v=[1, 2, 3]), np.array([BEFORE, AFTER, DELETED], np.int8))
    assert log.undone(rows_of(v=NO_VALUES), ("k",))["v"].to_pylist() == [1]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_a_source_that_deletes_the_other_spelling_deletes_the_row(one, other):
    first = np.array([0])
    written = Events(rows_of(one, v=[1]), first, rows_of().select(["k"]), NOWHERE)
    deleted = Events(rows_of(v=NO_VALUES), NOWHERE, rows_of(other).select(["k"]), first)
    left = last_of_each([written, deleted], ("k",))
    assert (left.rows.num_rows, left.deletes.num_rows) == (0, 1)


def test_decimals_instants_and_texts_need_no_more_than_their_column():
    """Values come in the types of the table: one scale, one zone; and no two spellings of a text are one."""
    types = {"d": "decimal(10,3)", "at": "timestamp", "s": "string"}
    columns = [Column(name=name, type=kind) for name, kind in types.items()]
    at = datetime(2026, 1, 1, 12, tzinfo=timezone(timedelta(hours=5)))
    given = pa.table(
        {
            "d": pa.array([Decimal("1.5"), Decimal("1.5")], pa.decimal128(5, 1)),
            "at": pa.array([at, at.astimezone(UTC)], pa.timestamp("us", "+05:00")),
            "s": ["\u00e9", "e\u0301"],
        }
    )
    stored = conform(given, columns)
    assert stored.schema == arrow_schema(columns)
    assert distinct_keys(stored, ["d", "at"]).num_rows == 1
    assert distinct_keys(stored, ["s"]).num_rows == 2


def test_floats_are_seen_at_any_depth():
    assert may_hold_floats("array<struct<a:map<int,float>>>")
    assert not may_hold_floats("decimal(10,2)")
