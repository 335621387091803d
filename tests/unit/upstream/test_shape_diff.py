"""Two looks at one thing, and what happened in between."""

import pytest

from streamhouse.model.shape import SeenColumn, Shape
from streamhouse.model.types import Tier
from streamhouse.upstream.shape_diff import compare


def shape(version="1", **columns):
    ids = columns.pop("ids", {})
    seen = []
    for name, kind in columns.items():
        kind, _, default = kind.partition(" default ")
        required = kind.endswith("!")
        seen.append(
            SeenColumn(
                name=name,
                type=kind.rstrip("!"),
                nullable=not required,
                id=str(ids.get(name, "")),
                default=default or None,
            )
        )
    return Shape(object="dwd.sales", version=version, columns=tuple(seen), tier=Tier.WARM)


def told(before, after):
    return sorted(str(event).removeprefix("dwd.sales: ") for event in compare(before, after))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"a": "int"}, {"a": "int", "b": "date"}, ["add_column b date"]),
        ({"a": "int"}, {"a": "int", "b": "date!"}, ["add_required_column b date"]),
        ({"a": "int"}, {"a": "int", "b": "int default 0"}, ["add_required_column b int"]),
        ({"a": "int", "b": "date"}, {"a": "int"}, ["drop_column b date"]),
        ({"a": "int"}, {"a": "bigint"}, ["widen_type a int → bigint"]),
        ({"a": "bigint"}, {"a": "int"}, ["narrow_type a bigint → int"]),
        ({"a": "bigint"}, {"a": "string"}, ["change_type a bigint → string"]),
        ({"a": "struct<x:int>"}, {"a": "struct<x:int,y:int>"}, ["add_field a struct<x:int> → struct<x:int,y:int>"]),
        ({"a": "int!"}, {"a": "int"}, ["relax_nullability a"]),
        ({"a": "int"}, {"a": "int!"}, ["tighten_nullability a"]),
        ({"a": "int!"}, {"a": "bigint"}, ["relax_nullability a int → bigint", "widen_type a int → bigint"]),
        ({"a": "int", "b": "int"}, {"b": "int", "a": "int"}, ["change_text"]),
        ({"price": "int", "n": "int"}, {"total_price": "int", "n": "int"}, ["maybe_rename price → total_price (int)"]),
        ({"price": "int", "n": "int"}, {"x": "int", "n": "int"}, ["maybe_rename price → x (int)"]),
        ({"price": "int", "n": "int"}, {"x": "date", "n": "int"}, ["add_column x date", "drop_column price int"]),
        (
            {"city": "string", "street": "string"},
            {"town": "string", "street_name": "string", "zip": "string"},
            ["add_column town string", "add_column zip string", "drop_column city string",
             "maybe_rename street → street_name (string)"],
        ),
        ({"a": "int"}, {"a": "int"}, []),
    ],
)  # fmt: skip
def test_by_names(before, after, expected):
    assert told(shape(**before), shape("2", **after)) == expected


def test_ids_tell_a_rename_from_a_drop_and_an_add():
    before = shape(a="int", b="date", ids={"a": 1, "b": 2})
    renamed = shape("2", c="int", b="date", ids={"c": 1, "b": 2})
    assert told(before, renamed) == ["rename_column a → c (int)"]
    another = shape("2", c="int", b="date", ids={"c": 3, "b": 2})
    assert told(before, another) == ["add_column c int", "drop_column a int"]
    swapped = shape("2", b="int", a="date", ids={"b": 1, "a": 2})
    assert told(before, swapped) == ["rename_column a → b (int)", "rename_column b → a (date)"]
    wider = shape("2", c="bigint", b="date", ids={"c": 1, "b": 2})
    assert told(before, wider) == ["rename_column a → c (bigint)", "widen_type a int → bigint"]


def test_a_message_tells_a_rename():
    after = shape("2", c="int").model_copy(update={"renames": (("c", "a"),)})
    assert told(shape(a="int"), after) == ["rename_column a → c (int)"]


def test_equal_versions_are_not_looked_into():
    assert compare(shape(a="int"), shape(b="date")) == ()


def test_the_same_looks_give_the_same_ids():
    before, after = shape(a="int"), shape("2", a="bigint", b="int")
    assert [e.id for e in compare(before, after)] == [e.id for e in compare(before, after)]
    assert {e.id for e in compare(before, after)}.isdisjoint(
        e.id for e in compare(before, shape("3", a="bigint", b="int"))
    )


def test_gone_and_made_again():
    pinned = shape(a="int").model_copy(update={"identity": "7"})
    assert told(pinned, None) == ["drop_table"]
    again = shape(a="bigint").model_copy(update={"identity": "8"})
    assert told(pinned, again) == ["recreate_table (7 → 8)", "widen_type a int → bigint"]
    assert told(pinned, shape("1", a="int")) == []


def test_key_layout_and_truncation():
    pinned = shape(a="int").model_copy(update={"primary_key": ("a",), "layout": "2 buckets"})
    live = shape("2", a="int").model_copy(
        update={"primary_key": ("a", "b"), "layout": "4 buckets", "truncated": "changes.json:7"}
    )
    assert told(pinned, live) == [
        "change_key ((a) → (a, b))",
        "change_layout (2 buckets → 4 buckets)",
        "truncate_table",
    ]


def test_inferred_types_that_are_narrower_say_nothing():
    before = shape(a="bigint", b="double", c="int")
    after = shape("2", a="int", b="int", c="bigint").model_copy(update={"inferred": True})
    assert told(before, after) == ["widen_type c int → bigint"]


def test_unknown_fields_are_told_once():
    field = (SeenColumn(name="tax", type="int"), 3)
    after = shape(a="int").model_copy(update={"unknown": (field,)})
    assert told(shape(a="int"), after) == ["unknown_field tax int (in 3 of the rows looked at)"]
    assert told(after, after) == []
    assert told(after, after.model_copy(update={"version": "2"})) == []


@pytest.mark.parametrize(
    ("was", "types", "expected"),
    [
        ("int", ("int", "bigint"), ["shards_disagree a int → bigint (shards have bigint, int)"]),
        ("bigint", ("int", "bigint"), []),
        ("int", ("int", "string"), ["shards_disagree a int → string (shards have int, string)"]),
        ("binary", ("binary", "int"), ["shards_disagree a binary (shards have binary, int)"]),
    ],
)
def test_shards(was, types, expected):
    live = shape("2", a=types[-1]).model_copy(update={"shards": (("a", types),)})
    assert told(shape(a=was), live) == expected
