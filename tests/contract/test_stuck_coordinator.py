"""A coordinator of Fluss that a client of others has stopped from electing leaders: writes end, and say what helps.

The coordinator gets stuck by a race of its own threads, so the test tries until one is lost: a long form of what
tests/unit/stores/test_fluss_catalog.py says of the messages.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from itertools import count
from pathlib import Path
from threading import Event

import pyarrow as pa
import pytest

from streamhouse.errors import StoreUnavailableError
from streamhouse.model.table import Table
from streamhouse.services.services import Services
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes, WriteContext
from streamhouse.stores.fluss import FlussStore, catalog
from streamhouse.stores.fluss.catalog import FlussCatalog
from streamhouse.stores.fluss.ddl import describe
from streamhouse.stores.fluss.wire import proto
from streamhouse.stores.fluss.wire.api import Api
from streamhouse.stores.fluss.wire.cluster import Wire
from tests.gate.levels import soak
from tests.patience import until

pytestmark = [pytest.mark.services, soak]

DAY, NEXT = date(2026, 11, 21), date(2026, 11, 22)
FIRST = WriteContext("flow/segment", 0)
CLIENTS = 12


def table(name: str) -> Table:
    columns = [{"name": "d", "type": "date"}, {"name": "k", "type": "bigint"}]
    return Table.model_validate({"name": name, "columns": columns, "partition_by": ["d"], "tiers": {"hot": "1d"}})


def changes(made: Table, day: date) -> Changes:
    return Changes(pa.Table.from_pylist([{"d": day, "k": 1}], schema=arrow_schema(made.columns)))


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    services = Services(tmp_path)
    yield services
    services.down()


def get_stuck(services: Services, address: str) -> None:
    """Make tables, and a partition of each at once, until the coordinator has heard of one too late."""
    log, numbers, over = services.folder.log("coordinator"), count(), Event()

    def is_stuck() -> bool:
        return "NullPointerException" in log.read_text()

    def hurry(_: int) -> None:
        with Wire(address) as wire:
            asked = FlussCatalog(wire)
            while not (over.is_set() or is_stuck()):
                name = f"hasty_{next(numbers)}"
                path = (1, proto.encode((1, "ods"), (2, name)))
                described = describe(table(f"ods.{name}"))
                asked._ask_coordinator(Api.CREATE_TABLE, proto.encode(path, (2, described), (3, 1)), name)
                spec = proto.encode((1, proto.encode((1, "d"), (2, DAY.isoformat()))))
                asked._ask_coordinator(Api.CREATE_PARTITION, proto.encode(path, (2, spec), (3, 1)), name)

    with ThreadPoolExecutor(CLIENTS) as pool:
        done = [pool.submit(hurry, number) for number in range(CLIENTS)]
        try:
            until(lambda: all(one.done() for one in done), what="a stuck coordinator", saw=log.read_text)
        finally:
            over.set()
        for one in done:
            one.result()


def test_a_write_ends_with_what_helps_and_that_helps(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "_CREATE_PATIENCE_S", 1.0)
    address, made, late = services.up().fluss, table("ods.made"), table("ods.late")
    store = FlussStore(address)
    store.create(made)
    store.write(made, changes(made, DAY), FIRST)
    get_stuck(services, address)
    for work in (
        lambda: store.write(made, changes(made, NEXT), FIRST),
        lambda: (store.create(late), store.write(late, changes(late, DAY), FIRST)),
    ):
        with pytest.raises(StoreUnavailableError, match=r"leader|does not know") as told:
            work()
        assert told.value.retryable
        assert "streamhouse services down && streamhouse services up" in str(told.value.hint)
    services.down()
    services.up()
    store.create(late)
    for one in (made, late):
        store.write(one, changes(one, NEXT), FIRST)
        assert NEXT in store.read_state(one)["d"].to_pylist()
    assert DAY in store.read_state(made)["d"].to_pylist()
    store.close()
