"""Sums that a store would let overflow are refused; the table is looked at only when one could."""

from decimal import Context, Decimal

import pyarrow as pa
import pytest

from streamhouse.errors import WriteRefusedError
from streamhouse.model.table import Column, Table
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.sums import SumBounds, added_by

MOST = 2**63 - 1
EXACT = Context(prec=100)


def table_of(kind, key="string"):
    columns = (Column(name="k", type=key), Column(name="v", type=kind), Column(name="m", type=kind))
    merge = {"v": "sum", "m": "max"}
    return Table(name="dws.sums", columns=columns, primary_key=("k",), merge=merge, tiers={"hot": "1d"})


class Fold:
    """A table that adds up exactly, and counts how often it is read."""

    def __init__(self, kind="bigint", key="string"):
        self.table, self.rows, self.reads, self.bounds = table_of(kind, key), {}, 0, SumBounds()

    def write(self, *given):
        schema = arrow_schema(self.table.columns)
        rows = pa.Table.from_pylist([{"k": k, "v": v, "m": v} for k, v in given], schema)
        self.bounds.admit(self.table, added_by(self.table, rows), self.stored)
        for key, value in given:
            before, more = self.rows.get(key, 0), value or 0
            exact = isinstance(more, Decimal)
            self.rows[key] = EXACT.add(Decimal(before), more) if exact else before + more

    def stored(self, names):
        self.reads += 1
        schema = arrow_schema([self.table.column(name) for name in names])
        return pa.Table.from_pylist([{"k": k, "v": v} for k, v in self.rows.items()], schema)


def test_the_table_is_read_once_for_small_values():
    fold = Fold()
    for value in range(1000):
        fold.write(("a", value), ("b", None), ("c", -value))
    assert fold.reads == 1


def test_a_sum_beyond_bigint_is_refused_with_its_key_and_values():
    fold = Fold()
    fold.write(("a", 5 * 10**18), ("b", 1))
    with pytest.raises(WriteRefusedError) as refused:
        fold.write(("b", 1), ("a", 5 * 10**18))
    told = str(refused.value)
    assert "SH405 the sum in dws.sums.v overflows bigint where k = 'a'" in told
    assert "5000000000000000000 is stored, 5000000000000000000 is to be added" in told
    assert "DECIMAL(38,0)" in told


@pytest.mark.parametrize(
    ("kind", "most", "least"),
    [
        ("tinyint", 127, -128),
        ("smallint", 2**15 - 1, -(2**15)),
        ("int", 2**31 - 1, -(2**31)),
        ("bigint", MOST, -MOST - 1),
        ("decimal(38,2)", Decimal(10**38 - 1).scaleb(-2, EXACT), Decimal(1 - 10**38).scaleb(-2, EXACT)),
        ("decimal(11,2)", Decimal("999999999.99"), Decimal("-999999999.99")),
    ],
)
def test_the_bounds_themselves_fit_and_no_more(kind, most, least):
    one = Decimal("0.01") if kind.startswith("decimal") else 1
    for bound, step in ((most, one), (least, -one)):
        fold = Fold(kind)
        fold.write(("a", bound))
        fold.write(("a", -step))
        fold.write(("a", step))
        with pytest.raises(WriteRefusedError):
            fold.write(("a", step))


def test_only_the_key_that_would_overflow_counts():
    fold = Fold()
    fold.write(("full", MOST), ("empty", 0))
    fold.write(("empty", MOST), ("new", MOST), ("full", None))
    with pytest.raises(WriteRefusedError, match="k = 'new'"):
        fold.write(("new", 1))


def test_values_of_other_signs_make_room():
    fold = Fold()
    for _ in range(5):
        fold.write(("a", MOST))
        fold.write(("a", -MOST))


def test_rows_of_one_key_in_one_write_are_added_in_turn():
    fold = Fold()
    fold.write(("a", 0))
    with pytest.raises(WriteRefusedError):
        fold.write(("b", 4 * 10**18), ("a", 1), ("b", 4 * 10**18), ("b", 4 * 10**18))


def test_what_another_writer_stored_is_seen_at_first():
    fold = Fold()
    fold.rows["a"] = MOST
    with pytest.raises(WriteRefusedError):
        fold.write(("a", 1))


def test_keys_of_floats_are_found():
    fold = Fold(key="double")
    fold.write((float("nan"), MOST), (0.0, 1))
    with pytest.raises(WriteRefusedError, match="k = nan"):
        fold.write((float("nan"), 1))


def test_a_float_is_left_to_become_infinite():
    fold = Fold("double")
    fold.write(("a", 1e308))
    fold.write(("a", 1e308))
    assert not fold.reads


def test_room_is_what_fits_whatever_it_is_added_to():
    fold = Fold()
    fold.write(("a", 100), ("b", -300))
    assert fold.bounds.room(fold.table, fold.stored) == {"v": 2**63 - 1 - 300}
    assert fold.reads == 1


def test_what_was_written_into_the_room_is_known_afterwards():
    fold = Fold()
    room = fold.bounds.room(fold.table, fold.stored)
    fold.bounds.wrote(fold.table, room, {"v": Decimal(70)})
    assert fold.bounds.room(fold.table, fold.stored) == {"v": 2**63 - 1 - 70}
    assert fold.reads == 1


def test_the_table_is_read_again_when_nobody_says_what_was_written():
    fold = Fold()
    fold.bounds.room(fold.table, fold.stored)
    fold.rows["a"] = 10**9  # tasks wrote, and one of them failed
    assert fold.bounds.room(fold.table, fold.stored) == {"v": 2**63 - 1 - 10**9}
    assert fold.reads == 2


def test_there_is_no_room_near_the_bounds():
    fold = Fold()
    fold.write(("a", 2**53 + 1))
    assert fold.bounds.room(fold.table, fold.stored) is None
    fold.write(("a", 5))
    assert fold.reads == 1
