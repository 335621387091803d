"""What a round of tiering says of itself."""

import pyarrow as pa
import pytest

from streamhouse.model.table import Column, Table, Tiers
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes, WriteContext
from streamhouse.stores.mark import WriterEpochs
from streamhouse.stores.paimon import PaimonStore
from streamhouse.tiering.move import tier

TABLE = Table(name="ods.rows", columns=(Column(name="k", type="bigint"),), tiers=Tiers(warm="1d", cold="forever"))


@pytest.mark.parametrize("times", [{}, {"f/s": {}}, {"f/s": {3: 30}, "f/t": {}}], ids=str)
def test_the_rows_of_a_round_are_counted_whatever_is_known_of_the_writers(tmp_path, times):
    source, lake = (PaimonStore(tmp_path / name / "lake", tmp_path / name / "locks") for name in ("first", "copy"))
    source.create(TABLE)
    rows = pa.table({"k": [1, 2, 3]}, schema=arrow_schema(TABLE.columns))
    source.write(TABLE, Changes(rows), WriteContext("f/s", 3))
    assert tier(TABLE, source, lake, epochs=lambda: WriterEpochs({"f/s": 3, "f/t": 3}, times)).rows == 3
