"""The cache of held states against a plain dictionary."""

import struct
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamhouse.engine.spill import Bound, Spilled
from streamhouse.engine.states import CachedRows, StateCache
from streamhouse.model.table import Column
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes

pytestmark = pytest.mark.proof

COLUMNS = (
    Column(name="id", type="int"),
    Column(name="part", type="string"),
    Column(name="city", type="string"),
    Column(name="tags", type="array<struct<name:string,at:timestamp>>"),
)
KEY = ("id", "part")
KEYED = CachedRows("dwd.people", COLUMNS, KEY)
LOG = CachedRows("ods.people", COLUMNS)

Row = dict[str, Any]
ids, parts = st.integers(0, 3), st.sampled_from(["a", "b"])
cities = st.sampled_from(["oslo", "rome", None])
rows = st.builds(lambda i, p, c: {"id": i, "part": p, "city": c, "tags": None}, ids, parts, cities)
epochs = st.lists(st.tuples(st.lists(rows, max_size=4), st.lists(st.tuples(ids, parts), max_size=2)), max_size=5)


def table(found: list[Row]) -> pa.Table:
    return pa.Table.from_pylist(found, schema=arrow_schema(COLUMNS))


def keys(found: list[tuple[int, str]]) -> pa.Table:
    schema = arrow_schema(c for c in COLUMNS if c.name in KEY)
    return pa.Table.from_pylist([dict(zip(KEY, key, strict=True)) for key in found], schema=schema)


def same(found: pa.Table, expected: list[Row]) -> bool:
    assert found.schema.equals(arrow_schema(COLUMNS))
    return sorted(map(repr, found.to_pylist())) == sorted(map(repr, table(expected).to_pylist()))


def test_nested_values_and_nulls_come_back_as_they_were(tmp_path: Path) -> None:
    from datetime import UTC, datetime

    tags = [{"name": "x", "at": datetime(1969, 1, 1, 0, 0, 0, 5, tzinfo=UTC)}, {"name": None, "at": None}]
    given_rows = [{"id": 1, "part": "a", "city": None, "tags": tags}, {"id": None, "part": "b", "city": "", "tags": []}]
    cache = StateCache(tmp_path / "states.duckdb", [LOG])
    cache.load("ods.people", [table(given_rows[:1]), table(given_rows[1:])], {"0": 2})
    assert same(cache.rows("ods.people", None), given_rows)
    cache.close()


@settings(max_examples=25, deadline=None)
@given(epochs, st.sampled_from(["oslo", None]))
def test_a_keyed_table_equals_a_dictionary(tmp_path_factory, history, city) -> None:
    cache = StateCache(tmp_path_factory.mktemp("states") / "s.duckdb", [KEYED])
    cache.load("dwd.people", [], {})
    model: dict[tuple[int, str], Row] = {}
    for number, (changed, deleted) in enumerate(history):
        upserts = {(row["id"], row["part"]): row for row in changed}
        gone = [key for key in dict.fromkeys(deleted) if key not in upserts]
        changes = Changes(table(list(upserts.values())), keys(gone))
        before = [model[key] for key in (*upserts, *gone) if key in model]
        assert same(cache.before("dwd.people", changes), before)
        after = {key: row for key, row in model.items() if key not in gone} | upserts
        assert same(cache.rows("dwd.people", changes), list(after.values()))
        wanted = pa.table({"c": pa.array([city, "nowhere"], pa.string())})
        in_city = [row for row in after.values() if row["city"] == city]
        assert same(cache.rows_with_keys("dwd.people", changes, wanted, {"c": "city"}), in_city)
        assert same(cache.rows("dwd.people", None), list(model.values()))  # nothing is taken over yet
        found = cache.difference("dwd.people", table(list(after.values())))
        assert same(found.upserts, [row for key, row in after.items() if model.get(key) != row])
        assert found.deletes is not None
        assert {tuple(k.values()) for k in found.deletes.to_pylist()} == set(model) - set(after)
        assert found.before is not None
        assert same(found.before, [row for key, row in model.items() if after.get(key) != row])
        for among, value in (("city", city), ("part", "a")):  # outside of the key, and a part of it
            touched = pa.table({among: pa.array([value, "nowhere"], pa.string())})
            there = {key: row for key, row in after.items() if row[among] == value}
            differ = {key: row for key, row in there.items() if model.get(key) != row}
            lost = {key: row for key, row in model.items() if row[among] == value and key not in there}
            found = cache.difference("dwd.people", table(list(there.values())), touched)
            assert same(found.upserts, list(differ.values()))
            assert found.deletes is not None
            assert found.before is not None
            assert {tuple(k.values()) for k in found.deletes.to_pylist()} == set(lost)
            assert same(found.before, [model[key] for key in (*differ, *lost) if key in model])
        cache.commit({"dwd.people": changes}, {"dwd.people": {"0": number}})
        model = after
        assert cache.position("dwd.people") == {"0": number}
    cache.close()


def test_values_held_with_rows_find_them_and_come_with_the_rows_before(tmp_path: Path) -> None:
    letter = Column(name="__key_1", type="string")
    held = CachedRows("dwd.people", COLUMNS, KEY, "", (letter,))

    def lettered(found: list[Row]) -> pa.Table:
        return table(found).append_column("__key_1", pa.array([row["city"][:1] for row in found], pa.string()))

    first = [{"id": 1, "part": "a", "city": "oslo"}, {"id": 2, "part": "a", "city": "rome"}]
    moved = [{"id": 2, "part": "a", "city": "orbe"}, {"id": 3, "part": "a", "city": "rome"}]
    cache = StateCache(tmp_path / "s.duckdb", [held])
    cache.load("dwd.people", [lettered(first)], {})
    changes = Changes(lettered(moved), keys([(1, "a")]))
    wanted = pa.table({"letter": pa.array(["o"])})
    assert same(cache.rows_with_keys("dwd.people", None, wanted, {"letter": "__key_1"}), first[:1])
    assert same(cache.rows_with_keys("dwd.people", changes, wanted, {"letter": "__key_1"}), moved[:1])
    assert sorted(cache.before("dwd.people", changes)["__key_1"].to_pylist()) == ["o", "r"]
    cache.commit({"dwd.people": changes}, {"dwd.people": {"0": 1}})
    assert same(cache.rows_with_keys("dwd.people", None, wanted, {"letter": "__key_1"}), moved[:1])
    assert same(cache.rows("dwd.people", None), moved)
    cache.close()
    again = StateCache(tmp_path / "s.duckdb", [KEYED])
    assert again.position("dwd.people") is None
    again.close()


def test_it_survives_its_process(tmp_path: Path) -> None:
    cache = StateCache(tmp_path / "s.duckdb", [LOG])
    cache.load("ods.people", [table([{"id": 1}])], {"0": 1})
    cache.commit({"ods.people": Changes(table([{"id": 2}]))}, {"ods.people": {"0": 2}})
    cache.close()
    again = StateCache(tmp_path / "s.duckdb", [LOG])
    assert again.position("ods.people") == {"0": 2}
    assert again.rows("ods.people", None).num_rows == 2
    again.close()


@pytest.mark.parametrize(
    "other",
    [
        CachedRows("ods.people", COLUMNS[:2]),
        CachedRows("ods.people", COLUMNS, KEY),
        CachedRows("ods.people", COLUMNS, (), "new"),
    ],
)
def test_other_columns_key_or_origin_are_not_held(tmp_path: Path, other: CachedRows) -> None:
    cache = StateCache(tmp_path / "s.duckdb", [LOG])
    cache.load("ods.people", [], {"0": 1})
    cache.close()
    again = StateCache(tmp_path / "s.duckdb", [other])
    assert again.position("ods.people") is None
    again.close()


def test_a_broken_file_is_made_anew(tmp_path: Path) -> None:
    file = tmp_path / "s.duckdb"
    file.write_bytes(b"no database" * 1000)
    cache = StateCache(file, [LOG])
    assert cache.position("ods.people") is None
    cache.close()


def test_a_second_process_gets_a_file_of_its_own(tmp_path: Path) -> None:
    import subprocess
    import sys

    file = tmp_path / "s.duckdb"
    cache = StateCache(file, [LOG])
    cache.load("ods.people", [], {"0": 1})
    code = (
        "import sys; from pathlib import Path; from streamhouse.engine.states import *\n"
        f"c = StateCache(Path({str(file)!r}), [CachedRows('ods.people', ())])\n"
        "print(c.position('ods.people')); c.close()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "None", done.stderr
    assert [p.name for p in tmp_path.iterdir() if p.is_dir()] == []
    cache.close()


FLOATS = (
    Column(name="k", type="double"),
    Column(name="d", type="double"),
    Column(name="f", type="float"),
    Column(name="n", type="array<struct<x:double,y:map<string,float>>>"),
)
NAN, OTHER_NAN = (struct.unpack(">d", bytes.fromhex(text))[0] for text in ("7ff8000000000000", "fff8000000000001"))


def floats(*values: tuple[float, float | None]) -> pa.Table:
    listed = [{"k": k, "d": v, "f": v, "n": [{"x": v, "y": [("a", v)]}]} for k, v in values]
    return pa.Table.from_pylist(listed, schema=arrow_schema(FLOATS))


def bits(rows: pa.Table) -> list[str]:
    def text(value: Any) -> str:
        if isinstance(value, float):
            return struct.pack(">d", value).hex()
        if isinstance(value, dict):
            return str({name: text(one) for name, one in value.items()})
        return str([text(one) for one in value]) if isinstance(value, list | tuple) else repr(value)

    return sorted(text(row) for row in rows.to_pylist())


@pytest.mark.parametrize("bound", [None, Bound(rows=0)], ids=["here", "spilled"])
@pytest.mark.parametrize("pattern", [[0.0, -0.0], [0.0] * 7 + [-0.0] * 7, [-0.0, 1.5, 0.0, NAN, OTHER_NAN, None]])
def test_floats_keep_their_bits(tmp_path: Path, pattern: list[float], bound: Bound | None) -> None:
    file, held = tmp_path / "s.duckdb", CachedRows("ods.floats", FLOATS)
    rows = floats(*((float(n), pattern[n % len(pattern)]) for n in range(3000)))
    cache = StateCache(file, [held])
    cache.load("ods.floats", [rows], {"0": 1})
    cache.close()
    cache = StateCache(file, [held], bound)  # from its file, where DuckDB compressed it
    found = cache.rows("ods.floats", None)
    assert bits(pq.read_table(found.file) if isinstance(found, Spilled) else found) == bits(rows)
    cache.close()


def test_floats_are_compared_as_keys_by_spark_and_as_values_by_their_bits(tmp_path: Path) -> None:
    name = "dwd.floats"
    cache = StateCache(tmp_path / "s.duckdb", [CachedRows(name, FLOATS, ("k",))])
    cache.load(name, [floats((0.0, 0.0), (NAN, NAN), (1.0, -0.0), (2.0, 2.0))], {"0": 1})
    wanted = pa.table({"k": pa.array([-0.0, OTHER_NAN])})
    assert cache.all_with_keys(name, wanted, {"k": "k"}).num_rows == 2
    changes = Changes(floats((-0.0, 5.0)), pa.table({"k": pa.array([OTHER_NAN])}))
    assert cache.before(name, changes).num_rows == 2
    after = cache.rows(name, changes)
    assert isinstance(after, pa.Table)
    assert bits(after) == bits(floats((-0.0, 5.0), (1.0, -0.0), (2.0, 2.0)))
    found = cache.difference(name, floats((0.0, -0.0), (NAN, NAN), (1.0, -0.0)))
    assert bits(found.upserts) == bits(floats((0.0, -0.0)))
    assert found.deletes is not None
    assert found.deletes.to_pylist() == [{"k": 2.0}]
    cache.commit({name: changes}, {name: {"0": 2}})
    assert bits(cache.all_with_keys(name, wanted, {"k": "k"})) == bits(floats((-0.0, 5.0)))
    cache.close()


@pytest.mark.parametrize("scale", [0, 10, 38])
def test_a_sum_of_more_digits_than_it_can_have_is_none(tmp_path: Path, scale: int) -> None:
    columns = (*COLUMNS[:1], Column(name="total", type=f"decimal(38,{scale})"), Column(name="weight", type="bigint"))
    held = CachedRows("groups", columns, ("id",))

    def added(digits: int) -> pa.Table:
        row = {"id": 1, "total": Decimal(digits * 10**37).scaleb(-scale), "weight": 1}
        return pa.Table.from_pylist([row], schema=arrow_schema(columns))

    with patch("streamhouse.engine.states.WEIGHT", "weight"):
        cache = StateCache(tmp_path / "s.duckdb", [held])
        cache.load("groups", [added(6)], {"0": 1})
        assert cache.regrouped("groups", added(4), ["total", "weight"]) is None  # 39 digits
        assert cache.regrouped("groups", added(9), ["total", "weight"]) is None  # too many for DuckDB itself
        found = cache.regrouped("groups", added(3), ["total", "weight"])
        assert found is not None
        assert found[0].to_pylist() == [{"id": 1, "total": Decimal(9 * 10**37).scaleb(-scale), "weight": 2}]
        cache.close()
