"""The embedded Fluss, started once for all tests that ask for it; or the one that STREAMHOUSE_TEST_FLUSS names."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import psutil
import pyarrow as pa
import pytest

from streamhouse.model.table import Column, Table, Tiers
from streamhouse.services.services import Services, running
from streamhouse.stores.base import Changes, WriteContext
from tests.gate.shared import Server, looked_after


@pytest.fixture(scope="session")
def fluss(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address `localhost:PORT` of a Fluss that all tests of this process share: give tables names of their own."""
    if given := os.environ.get("STREAMHOUSE_TEST_FLUSS"):
        yield given
        return
    root = tmp_path_factory.mktemp("fluss")
    with running(root) as endpoints:
        address = endpoints.fluss
        with looked_after(Server("Fluss", lambda: _lives(root), lambda: _answers(address), lambda: _kill(root))):
            yield address


def _lives(root: Path) -> bool:
    return Services(root).status().endpoints is not None


def _kill(root: Path) -> None:
    for service in Services(root).status().services:
        with suppress(psutil.Error):
            psutil.Process(service.pid).kill()


def _answers(address: str) -> bool:
    """Whether it makes a table, takes a row and gives it back: its coordinator and its tablet server do their work."""
    from streamhouse.stores.fluss.store import FlussStore

    table = Table(name=f"ods.answers_{uuid4().hex}", columns=(Column(name="n", type="bigint"),), tiers=Tiers(hot="1d"))
    store = FlussStore(address)
    try:
        store.create(table)
        store.write(table, Changes(pa.table({"n": pa.array([1], pa.int64())})), WriteContext("tests/tests", 0))
        return bool(store.read_state(table).num_rows == 1)
    finally:
        store.close()
