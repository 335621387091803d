"""Every store, opened once for the run, and tables with names of their own for each test."""

from collections.abc import Callable, Iterator
from itertools import count

import pytest

from streamhouse.model.table import Column, Table, Tiers
from streamhouse.stores.base import LakeStore, Store
from tests.gate.levels import deep

_numbers = count(1)
_READER = "paimon_reader"
READS = {
    *("test_metadata", "test_lost_tables", "test_shapes"),
    *("test_conditions_leave_no_row_out_that_fulfils_them", "test_a_partition_may_be_null"),
    *("test_odd_names_of_partitions", "test_a_text_that_no_folder_can_be_called_by"),
    "test_a_condition_on_a_partition_leaves_out_files",
}
"""Files and tests that ask for what `PaimonReader` has of its own: columns, snapshots, identities, rows where."""


def pytest_itemcollected(item: pytest.Item) -> None:
    """Leave the reader to `make test-all` where it does what it has from `PaimonStore`, which is tried beside it."""
    if isinstance(item, pytest.Function) and _READER in _params(item) and not READS & _names(item):
        item.add_marker(deep("what the reader of Paimon has from the store; what it has of its own stays"))


def _params(item: pytest.Function) -> list[object]:
    return list(item.callspec.params.values()) if hasattr(item, "callspec") else []


def _names(item: pytest.Function) -> set[str]:
    return {item.path.stem, item.originalname}


@pytest.fixture(scope="session")
def paimon_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    from streamhouse.stores.paimon import PaimonStore

    folder = tmp_path_factory.mktemp("paimon")
    store = PaimonStore(folder / "warm", folder / "locks")
    yield store
    store.close()


@pytest.fixture(scope="session")
def paimon_reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    from streamhouse.stores.paimon.light import PaimonReader

    folder = tmp_path_factory.mktemp("paimon_reader")
    store = PaimonReader(folder / "warm", folder / "locks")
    yield store
    store.close()


@pytest.fixture(scope="session")
def iceberg_store(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Store]:
    from streamhouse.stores.iceberg import IcebergStore

    spark = request.getfixturevalue("spark")
    store = IcebergStore(lambda: spark, "cold", tmp_path_factory.mktemp("iceberg") / "locks")
    yield store
    store.close()


@pytest.fixture(scope="session")
def fluss_store(request: pytest.FixtureRequest) -> Iterator[Store]:
    from streamhouse.stores.fluss.store import FlussStore

    store = FlussStore(request.getfixturevalue("fluss"))
    yield store
    store.close()


LAKES = [
    pytest.param("paimon_store", id="paimon"),
    pytest.param(_READER, id=_READER),
    pytest.param("iceberg_store", id="iceberg", marks=pytest.mark.spark),
]
STORES = [*LAKES, pytest.param("fluss_store", id="fluss", marks=pytest.mark.services)]


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest) -> Store:
    opened: Store = request.getfixturevalue(request.param)
    return opened


@pytest.fixture(params=LAKES)
def lake(request: pytest.FixtureRequest) -> LakeStore:
    opened: LakeStore = request.getfixturevalue(request.param)
    return opened


@pytest.fixture
def make_table() -> Callable[..., Table]:
    """Builds a table that no other test has: `make_table(k="bigint", v="int", key=("k",))`."""

    def make(*, key: tuple[str, ...] = (), merge: dict[str, str] | None = None, **columns: str) -> Table:
        return Table(
            name=f"ods.contract_{next(_numbers)}",
            columns=tuple(Column(name=name, type=kind) for name, kind in columns.items()),
            primary_key=key,
            buckets=2,
            tiers=Tiers(hot="1d", warm="1d", cold="1d"),
            merge=merge or {},
        )

    return make
