"""How a task puts the batches it is given together before it writes them."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamhouse.engine.spread import can_spread, chunks
from streamhouse.model.table import Column, Table, Tiers


@given(st.lists(st.integers(0, 40), max_size=12), st.integers(1, 60))
def test_chunks_hold_every_row_once_and_in_order(sizes, least):
    first = [sum(sizes[:i]) for i in range(len(sizes))]
    batches = [pa.record_batch({"n": pa.array(range(at, at + n))}) for at, n in zip(first, sizes, strict=True)]
    found = list(chunks(batches, least))
    assert [n for chunk in found for n in chunk.column("n").to_pylist()] == list(range(sum(sizes)))
    assert all(chunk.num_rows >= least for chunk in found[:-1])
    assert all(chunk.num_rows for chunk in found)


@pytest.mark.parametrize(("tiers", "can"), [({"hot": "1h", "cold": "1d"}, True), ({"warm": "1d"}, False)])
def test_only_what_steps_write_to_the_hot_tier_is_spread(tiers, can):
    table = Table(name="ods.x", columns=(Column(name="a", type="int"),), tiers=Tiers.model_validate(tiers))
    assert can_spread(table) is can
