"""A server that has just started knows no tables: a write to a log waits until it does, and sends its rows once."""

from datetime import timedelta
from types import SimpleNamespace

import pyarrow as pa
import pytest

from streamhouse.model.table import Column, Table, Tiers
from streamhouse.stores.base import Changes, WriteContext
from streamhouse.stores.fluss.catalog import Located
from streamhouse.stores.fluss.ddl import StoredTable
from streamhouse.stores.fluss.native import Native, _Session
from streamhouse.stores.fluss.store import FlussStore
from streamhouse.stores.fluss.wire.refusal import LeaderMovedError

COLUMNS = (Column(name="id", type="int"),)
LOG = Table(name="ods.t", columns=COLUMNS, tiers=Tiers(hot=timedelta(days=1)))
ROWS = pa.table({"id": pa.array([1, 2], pa.int32())})


def unknown():
    import fluss

    return fluss.FlussError("Table not found: ods.t", 7)


class Writer:
    """Takes rows, which are durable at once; while it knows no table, it refuses each batch from the one given."""

    def __init__(self, refusals):
        self.sent, self._refusals = [], refusals

    def write_arrow_batch(self, batch):
        if self._refusals and len(self.sent) == self._refusals[0]:
            self._refusals.pop(0)
            raise unknown()
        self.sent.append(batch.num_rows)
        return Written()

    async def flush(self):
        """Nothing is on its way."""


class Written:
    async def wait(self):
        """It is there."""


@pytest.fixture
def store(monkeypatch):
    """A store whose server does not know the table at first."""
    opened, tries = FlussStore("localhost:1"), []
    stored = StoredTable(7, 1, COLUMNS, (), ("id",), 1, {}, {})
    located = Located("ods.t", stored, {"0": ("localhost", 1)})

    def after(refusals):
        writer = Writer(refusals)

        async def find(session, target, columns):
            tries.append(target.name)
            if len(tries) == 1:
                raise unknown()
            session.quick.add(target)
            return writer

        monkeypatch.setattr(_Session, "writer", find)
        return SimpleNamespace(write=opened.write, sent=writer.sent, tries=tries)

    async def connect(native):
        return SimpleNamespace(close=Writer([]).flush)

    monkeypatch.setattr(Native, "_connect", connect)
    monkeypatch.setattr(opened._catalog, "locate", lambda name: located)
    monkeypatch.setattr(FlussStore, "end", lambda store, table: {"0": 2})
    yield after
    opened.close()


def test_a_log_waits_until_its_server_knows_it(store):
    found = store([0, 0])
    assert found.write(LOG, Changes(ROWS), WriteContext("f/main", 0)) == {"0": 2}
    assert (len(found.tries), found.sent) == (4, [2])


def test_a_log_of_which_rows_were_sent_is_not_written_again(store):
    found = store([1])
    halves = pa.concat_tables([ROWS.slice(0, 1), ROWS.slice(1)])
    with pytest.raises(LeaderMovedError, match="has not found ods"):
        found.write(LOG, Changes(halves), WriteContext("f/main", 0))
    assert (len(found.tries), found.sent) == (2, [1])
