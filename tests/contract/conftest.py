"""Every store, opened once for the run, and tables with names of their own for each test."""

from collections.abc import Callable, Iterator
from itertools import count

import pytest

from streamhouse.model.table import Column, Table, Tiers
from streamhouse.stores.base import LakeStore, Store

_numbers = count(1)


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
    pytest.param("paimon_reader", id="paimon_reader"),
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
