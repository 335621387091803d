"""Two versions of a table compared in Spark: figures and samples against rows written down here."""

from decimal import Decimal

import pytest

from streamhouse.change.audit import Profile
from streamhouse.change.data_diff import Versions, data_diff
from streamhouse.change.profile import profile
from streamhouse.model.action import Expectation
from streamhouse.model.review import DifferingRow
from streamhouse.model.table import Column, Table, Tiers

pytestmark = pytest.mark.spark


def table(columns, key=()):
    return Table(
        name="dws.t",
        columns=tuple(Column(name=n, type=t) for n, t in columns.items()),
        primary_key=tuple(key),
        tiers=Tiers.model_validate({"warm": "1d"}),
    )


def frame(spark, described, rows):
    return spark.createDataFrame(rows, ", ".join(f"{c.name} {c.type}" for c in described.columns))


def compared(spark, old, old_rows, new, new_rows, *, renamed=None, most=1_000):
    versions = Versions.of(old, new, renamed or {})
    frames = frame(spark, old, old_rows), frame(spark, new, new_rows)
    return data_diff(versions, *frames, max(len(old_rows), len(new_rows)), most)


KEYED = {"k": "string", "n": "bigint", "note": "string"}


def test_keys_and_columns(spark):
    old, new = table(KEYED, ["k"]), table({"k": "string", "n": "bigint", "note": "string", "more": "int"}, ["k"])
    found = compared(
        spark,
        old,
        [("a", 1, None), ("b", 2, "x"), ("c", 3, "y"), ("gone", 4, "z")],
        new,
        [("a", 1, None, 1), ("b", 20, "x", 1), ("c", 30, None, 1), ("come", 5, "z", 1)],
    )
    assert (found.by, found.one_in, found.equal, found.changed, found.only_old, found.only_new) == (
        "key",
        1,
        1,
        2,
        1,
        1,
    )
    assert found.columns == {"n": 2, "note": 1}
    assert (found.added, found.dropped) == (("more",), ())
    assert found.samples == {
        "only_old": (DifferingRow(row={"k": "gone"}),),
        "only_new": (DifferingRow(row={"k": "come"}),),
        "changed": (
            DifferingRow(row={"k": "b"}, old={"n": "2"}, new={"n": "20"}),
            DifferingRow(row={"k": "c"}, old={"n": "3", "note": "y"}, new={"n": "30", "note": None}),
        ),
    }


def test_null_in_a_key_meets_null(spark):
    keyed = table(KEYED, ["k", "n"]).model_copy(update={"null_keys": ("k", "n")})
    old = [(None, 1, "x"), (None, None, "y"), ("a", None, "z")]
    new = [(None, 1, "x"), (None, None, "other"), ("a", 0, "z")]
    found = compared(spark, keyed, old, keyed, new)
    assert (found.equal, found.changed, found.only_old, found.only_new) == (1, 1, 1, 1)
    assert found.samples["changed"] == (
        DifferingRow(row={"k": None, "n": None}, old={"note": "y"}, new={"note": "other"}),
    )
    figures = profile(keyed, frame(spark, keyed, new), None, {}, most=1_000)
    assert (figures.rows, figures.null_keys, figures.double_keys) == (3, 0, 0)


def test_rows_without_a_key_are_counted_as_often_as_they_are_there(spark):
    log = table({"a": "int", "b": "string"})
    old, new = [(1, "x"), (1, "x"), (1, "x"), (2, None)], [(1, "x"), (2, None), (2, None), (3, "n")]
    found = compared(spark, log, old, log, new)
    assert (found.by, found.equal, found.only_old, found.only_new, found.changed) == ("rows", 2, 2, 2, 0)
    assert found.samples["only_old"] == (DifferingRow(row={"a": "1", "b": "x"}),)
    assert {s.row["a"] for s in found.samples["only_new"]} == {"2", "3"}


def test_another_key_finds_other_rows_equal(spark):
    old, new = table({"k": "int", "n": "int"}, ["k"]), table({"k": "int", "j": "int", "n": "int"}, ["k", "j"])
    versions = Versions.of(old, new, {})
    assert (versions.key, versions.same_rows) == ((), False)
    found = compared(spark, old, [(1, 5)], new, [(1, 1, 5), (1, 2, 6)])
    assert (found.by, found.equal, found.only_new, found.added) == ("rows", 1, 1, ("j",))


def test_values_that_only_their_type_or_name_tells_apart_are_equal(spark):
    old = table({"k": "int", "n": "int", "m": "string", "was": "double"}, ["k"])
    new = table({"k": "bigint", "n": "decimal(12,2)", "m": "int", "is": "double"}, ["k"])
    third = 0.1 + 0.2  # a sum in another order
    found = compared(spark, old, [(1, 7, "8", 0.3)], new, [(1, Decimal(7), 8, third)], renamed={"is": "was"})
    assert (found.equal, found.changed, found.added, found.dropped) == (1, 0, (), ())
    found = compared(spark, old, [(1, 7, "x", 0.3)], new, [(1, Decimal(7), 8, 0.31)], renamed={"is": "was"})
    assert found.columns == {"is": 1, "m": 1}


@pytest.mark.parametrize("key", [["k"], []], ids=["key", "rows"])
def test_maps_arrays_and_structs(spark, key):
    kinds = {"k": "int", "m": "map<string,int>", "a": "array<int>", "s": "struct<x:int,y:map<string,int>>"}
    nested = table(kinds, key)
    rows = [(1, {"a": 1, "b": 2}, [1, None], (1, {"q": 1})), (2, None, None, None), (3, {}, [], (None, None))]
    found = compared(spark, nested, rows, nested, [(1, {"b": 2, "a": 1}, *rows[0][2:]), *rows[1:]])
    assert (found.equal, found.is_empty) == (3, True)
    found = compared(spark, nested, rows, nested, [(1, {"b": 2, "a": 9}, *rows[0][2:]), *rows[1:]])
    assert found.equal == 2
    assert (found.changed, found.columns) == ((1, {"m": 1}) if key else (0, {}))


@pytest.mark.parametrize("key", [["k"], []], ids=["key", "rows"])
def test_of_many_rows_a_part_is_compared_the_same_on_both_sides(spark, key):
    kinds = table({"k": "bigint", "n": "bigint"}, key)
    frames = [spark.range(20_000).selectExpr("id AS k", f"id % {part} AS n") for part in (7, 7)]
    found = data_diff(Versions.of(kinds, kinds, {}), *frames, 20_000, 1_000)
    assert (found.one_in, found.is_empty) == (20, True)
    assert 700 < found.equal < 1_300
    frames[1] = frames[1].selectExpr("k", "n + 1 AS n")
    found = data_diff(Versions.of(kinds, kinds, {}), *frames, 20_000, 1_000)
    assert found.equal == 0
    assert 700 < found.changed + found.only_old < 1_300
    assert all(len(samples) == 5 for samples in found.samples.values())


def test_long_values_are_cut_off(spark):
    log = table({"a": "string"})
    found = compared(spark, log, [], log, [("x" * 1_000,)])
    [sample] = found.samples["only_new"]
    assert sample.row["a"] == "x" * 99 + "…"


def test_figures_of_a_version(spark):
    described = table(KEYED, ["k"])
    rows = frame(spark, described, [("a", 1, None), ("a", 0, "x"), (None, None, "y"), ("b", 5, "z")])
    kept_out = spark.createDataFrame([("c", "paid"), ("d", "paid"), ("e", "other")], "k string, _expectation string")
    expect = {
        "paid": Expectation(check="n > 0", on_violation="quarantine"),
        "noted": Expectation(check="note IS NOT NULL"),
        "later": Expectation(check="more > 0"),  # of a column that this version has not
    }
    assert profile(described, rows, kept_out, expect, most=1_000) == Profile(
        rows=4, null_keys=1, double_keys=1, quarantine_rows=3, violations={"paid": 4, "noted": 1}
    )
