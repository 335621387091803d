"""Rows of something that changed upstream, as steps know them."""

import json

import pyarrow as pa

from streamhouse.engine.adapt import adapt, losses, stored_names
from streamhouse.engine.inputs import AdaptedInput
from streamhouse.model.read_as import RESCUED, ReadAs, as_read, as_stored
from streamhouse.model.table import Column
from streamhouse.stores.arrow import arrow_type
from streamhouse.stores.base import Changes

ID, N, NOTE = Column(name="id", type="bigint"), Column(name="n", type="int"), Column(name="note", type="string")
BIG, REMARK = Column(name="n", type="bigint"), Column(name="remark", type="string")
COLUMNS = (ID, N, NOTE)
CAST = ReadAs(column=N, of=(BIG,))
RENAMED = ReadAs(column=NOTE, of=(REMARK, NOTE))


def rows(**columns):
    return pa.table(columns)


def test_names():
    assert as_stored(COLUMNS, [CAST, RENAMED]) == (ID, BIG, REMARK, NOTE)
    assert as_read(COLUMNS, [ReadAs(column=N, gone=True), ReadAs(column=REMARK, of=(REMARK,))]) == (ID, NOTE, REMARK)
    assert stored_names(COLUMNS, [NOTE], [RENAMED]) == ("remark", "note")
    assert stored_names(COLUMNS, [NOTE], [ReadAs(column=NOTE)]) == ("id",), "rows must be counted"


def test_casts_renames_and_counts():
    given = rows(id=[1, 2, 3], n=[1, 2**40, None], remark=["a", None, None], note=[None, "b", None])
    done = adapt(given, COLUMNS, [CAST, RENAMED])
    assert done.rows.to_pylist() == [
        {"id": 1, "n": 1, "note": "a"},
        {"id": 2, "n": None, "note": "b"},
        {"id": 3, "n": None, "note": None},
    ]
    assert done.lost == {"n": 1}
    assert losses("ods.t", done.lost, [CAST]) == {"ods.t.n do not fit int: they are NULL": 1}


def test_defaults_and_what_must_be_there():
    default = ReadAs(column=N, of=(N,), default="5")
    given = rows(id=[1, 2], n=pa.array([1, None], pa.int32()), note=["a", "b"])
    assert adapt(given, COLUMNS, [default]).rows["n"].to_pylist() == [1, 5]
    needed = ReadAs(column=N, of=(N,), required=True, misfit="discard")
    done = adapt(given, COLUMNS, [needed])
    assert (done.rows["id"].to_pylist(), done.left_out["id"].to_pylist(), done.lost) == ([1], [2], {"n": 1})


class Given:
    """An input that has one range."""

    available = advance = rows_between = None

    def changes(self, start, end, columns):
        upserts = rows(id=[1, 2], n=[1, 2**40], note=["a", "b"])
        return Changes(upserts.select(list(columns)), rows(id=[7]))

    def parts(self, at, columns):
        yield self.changes({}, at, columns).upserts


def test_a_row_that_is_left_out_takes_the_place_of_the_one_that_was_there():
    left_out = CAST.model_copy(update={"misfit": "discard"})
    adapted = AdaptedInput(Given(), COLUMNS, [left_out], ("id",))
    changes, lost = adapted.changes_and_lost({}, {"row": 2}, ("id", "n"))
    assert changes.upserts.to_pylist() == [{"id": 1, "n": 1}]
    assert changes.deletes.to_pylist() == [{"id": 7}, {"id": 2}]
    assert lost == {"n": 1}
    assert [part.to_pylist() for part in adapted.parts({"row": 2}, ("id", "n"))] == [[{"id": 1, "n": 1}]]


def test_what_does_not_fit_is_rescued_as_json():
    n, at, rescued = Column(name="n", type="int"), Column(name="at", type="date"), RESCUED
    adapted = (
        ReadAs(column=n, of=(Column(name="m", type="string"), Column(name="n", type="bigint")), misfit="rescue"),
        ReadAs(column=at, of=(Column(name="at", type="string"),), misfit="rescue"),
        ReadAs(column=rescued, rescues=("n", "at")),
    )
    assert {c.name for c in as_stored((rescued,), adapted)} == {"m", "n", "at"}, "also when it is read alone"
    rows = pa.table(
        {
            "m": pa.array(["1", "many", None, 'sa"y', None]),
            "n": pa.array([None, 5, 2**40, None, 7]),
            "at": pa.array(["2026-01-01", "once", None, None, "2026-02-30"]),
        }
    )
    done = adapt(rows, (n, at, rescued), adapted)
    assert done.rows["n"].to_pylist() == [1, None, None, None, 7], "an older value does not take the place"
    assert [json.loads(text) if text else None for text in done.rows["_rescued"].to_pylist()] == [
        None,
        {"n": "many", "at": "once"},
        {"n": 2**40},
        {"n": 'sa"y'},
        {"at": "2026-02-30"},
    ]
    assert losses("rows", done.lost, adapted) == {
        "rows.n do not fit int: they are kept in _rescued": 3,
        "rows.at do not fit date: they are kept in _rescued": 2,
    }
    assert adapt(rows, (rescued,), adapted).rows["_rescued"].to_pylist() == done.rows["_rescued"].to_pylist()


def test_fields_of_a_struct_that_do_not_fit_are_rescued_and_the_others_stay():
    was = Column(name="s", type="struct<a:int,in:struct<x:int>>")
    now = "struct<a:bigint,b:string,in:struct<x:int,y:int>>"
    adapted = (
        ReadAs(column=was, of=(Column(name="s", type=now),), misfit="rescue"),
        ReadAs(column=RESCUED, rescues=("s",)),
    )
    values = [
        {"a": 1, "b": None, "in": {"x": 1, "y": None}},
        {"a": 2**40, "b": "more", "in": {"x": 2, "y": 7}},
        None,
    ]
    given = rows(s=pa.array(values, arrow_type(now)))
    done = adapt(given, (was, RESCUED), adapted)
    assert done.rows["s"].to_pylist() == [{"a": 1, "in": {"x": 1}}, {"a": None, "in": {"x": 2}}, None]
    kept = [json.loads(text) if text else None for text in done.rows["_rescued"].to_pylist()]
    assert kept == [None, {"s": {"a": 2**40, "b": "more", "in": {"y": 7}}}, None]
    assert done.lost == {"s": 1}
    assert adapt(given.slice(0, 0), (was, RESCUED), adapted).rows.num_rows == 0
