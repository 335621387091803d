"""The Arrow side of a union read."""

import pyarrow as pa
import pytest

from streamhouse.model.table import Column, Table
from streamhouse.model.types import Tier
from streamhouse.stores.base import Changes
from streamhouse.tiering.union import tiers_read, without_changed

ROWS = pa.table({"a": [1, 2, 3, 4], "b": ["x", "x", "y", "y"], "tags": [["t"], None, [], ["u"]]})


def table(key=(), **tiers):
    return Table(
        name="dwd.t", columns=(Column(name="k", type="bigint"),), primary_key=key, tiers=dict.fromkeys(tiers, "1d")
    )


def test_a_key_in_the_tail_outdoes_the_lake() -> None:
    tail = Changes(pa.table({"a": [2, 9], "b": ["new", "new"]}), pa.table({"a": [4]}))
    assert without_changed(ROWS, tail, ("a",)).column("a").to_pylist() == [1, 3]


def test_a_key_of_two_columns_must_match_in_both() -> None:
    tail = Changes(pa.table({"a": [1, 2], "b": ["y", "x"]}), pa.table({"a": [4, 3], "b": ["y", "x"]}))
    kept = without_changed(ROWS, tail, ("a", "b"))
    assert kept.select(["a", "tags"]).to_pylist() == [{"a": 1, "tags": ["t"]}, {"a": 3, "tags": []}]


@pytest.mark.parametrize("key", [(), ("a",), ("a", "b")])
def test_an_empty_tail_changes_nothing(key) -> None:
    tail = Changes(ROWS.slice(0, 0))
    assert without_changed(ROWS, tail, key).equals(ROWS)


def test_a_log_keeps_every_row() -> None:
    assert without_changed(ROWS, Changes(ROWS), ()).equals(ROWS)


def test_many_chunks() -> None:
    rows = pa.concat_tables([ROWS.slice(0, 1), ROWS.slice(1, 2), ROWS.slice(3)])
    tail = Changes(pa.concat_tables([ROWS.slice(3), ROWS.slice(0, 1)]))
    for key in (("a",), ("a", "b")):
        assert without_changed(rows, tail, key).column("a").to_pylist() == [2, 3]


@pytest.mark.parametrize(
    ("tiers", "key", "read"),
    [
        (("hot",), (), (Tier.HOT,)),
        (("cold",), (), (Tier.COLD,)),
        (("hot", "warm"), (), (Tier.HOT, Tier.WARM)),
        (("hot", "warm", "cold"), (), (Tier.HOT, Tier.COLD)),
        (("warm", "cold"), (), (Tier.WARM, Tier.COLD)),
        (("hot", "warm", "cold"), ("k",), (Tier.HOT,)),
    ],
)
def test_which_tiers_are_read(tiers, key, read) -> None:
    assert tiers_read(table(key, **dict.fromkeys(tiers))) == read


def test_which_tiers_are_read_through_the_lake() -> None:
    assert tiers_read(table(("k",), hot=1, cold=1), through_lake=True) == (Tier.HOT, Tier.COLD)
    assert tiers_read(table(("k",), hot=1), through_lake=True) == (Tier.HOT,)
