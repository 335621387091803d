"""Cold tables that a REST catalog knows: what the store asks of one, and what befalls it when that says no."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from streamhouse.errors import StoreError, StoreUnavailableError
from streamhouse.model.table import Column, Table
from streamhouse.project.settings import ColdSettings
from streamhouse.stores.base import Changes, WriteContext
from streamhouse.stores.iceberg import IcebergStore
from streamhouse.stores.iceberg.upkeep import IcebergUpkeep
from tests.gate.levels import deep
from tests.iceberg_rest import ID, SCOPE, SECRET, Catalog, named, rest_catalog

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [deep("a log table stays", only=("test_a_table_lives_in_it[keyed]",)), pytest.mark.spark]
Make = Callable[..., Table]
NOBODY = "http://127.0.0.1:1/api/catalog"


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalog]:
    folder = tmp_path_factory.mktemp("rest")
    with rest_catalog(folder, str(folder / "warehouse")) as running:
        yield running


@pytest.fixture(scope="module")
def rest(spark: "SparkSession", catalog: Catalog) -> str:
    return named(spark, "rest", ColdSettings(catalog=catalog.url, credential=f"{ID}:{SECRET}", scope=SCOPE))


@pytest.mark.parametrize("key", [(), ("k",)], ids=["log", "keyed"])
def test_a_table_lives_in_it(
    spark: "SparkSession", rest: str, catalog: Catalog, tmp_path: Path, make_table: Make, key: tuple[str, ...]
) -> None:
    store, upkeep = (kind(lambda: spark, rest, tmp_path / "locks") for kind in (IcebergStore, IcebergUpkeep))
    table = make_table(k="bigint", v="bigint", key=key)
    store.create(table)
    ends = []
    for epoch in range(3):
        rows = pa.table({"k": pa.array([epoch, 9], pa.int64()), "v": pa.array([epoch, epoch], pa.int64())})
        context = WriteContext("f/s", epoch, properties={"offsets": str(epoch)})
        ends += [store.write(table, Changes(rows), context) for _ in range(2)]  # a repeated epoch changes nothing
    wide = table.model_copy(update={"columns": (*table.columns, Column(name="more", type="string"))})
    store.add_columns(wide)
    wanted = [{"k": k, "v": k, "more": None} for k in range(3)]
    wanted += [{"k": 9, "v": v, "more": None} for v in ([2] if key else range(3))]
    upkeep.compact(wide, full=True)
    assert upkeep.expire(wide, datetime.now(UTC) + timedelta(days=1), {}) > 0
    assert upkeep.remove_orphans(wide, datetime.now(UTC) - timedelta(days=3)) == 0
    assert sorted(store.read_state(wide).to_pylist(), key=str) == sorted(wanted, key=str)
    assert ends[0] == ends[1] != ends[2]
    assert store.snapshot_properties(wide)["offsets"] == "2"
    assert any(call.startswith("POST /v1/namespaces/ods/tables/") for call in catalog.calls), "it was told of commits"
    store.drop(wide.name)
    assert store.columns(wide.name) is None


def test_files_that_the_catalog_keeps_are_left_to_it(
    spark: "SparkSession", rest: str, tmp_path: Path, make_table: Make
) -> None:
    store, upkeep = (kind(lambda: spark, rest, tmp_path / "locks") for kind in (IcebergStore, IcebergUpkeep))
    table = make_table(k="bigint")
    store.create(table)
    for epoch in range(4):
        store.write(table, Changes(pa.table({"k": pa.array([epoch], pa.int64())})), WriteContext("f/s", epoch))
    spark.sql(f"ALTER TABLE {rest}.{table.name} SET TBLPROPERTIES ('gc.enabled' = 'false')")
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    assert upkeep.expire(table, tomorrow, {}) == 0
    assert upkeep.remove_orphans(table, datetime.now(UTC) - timedelta(days=3)) == 0
    spark.sql(f"ALTER TABLE {rest}.{table.name} UNSET TBLPROPERTIES ('gc.enabled')")
    assert upkeep.expire(table, tomorrow, {}) > 0


def test_a_wrong_secret_is_said_and_not_shown(
    spark: "SparkSession", catalog: Catalog, tmp_path: Path, make_table: Make
) -> None:
    cold = ColdSettings(catalog=catalog.url, credential=f"{ID}:not-the-hush", scope=SCOPE)
    store = IcebergStore(lambda: spark, named(spark, "shut", cold), tmp_path)
    with pytest.raises(StoreError, match="unknown client") as refused:
        store.create(make_table(k="bigint"))
    assert not isinstance(refused.value, StoreUnavailableError), "to ask again would not help"
    assert "hush" not in str(refused.value)


def test_a_catalog_that_is_away_is_waited_for(spark: "SparkSession", tmp_path: Path, make_table: Make) -> None:
    store = IcebergStore(lambda: spark, named(spark, "gone", ColdSettings(catalog=NOBODY)), tmp_path)
    with pytest.raises(StoreUnavailableError):
        store.create(make_table(k="bigint"))
