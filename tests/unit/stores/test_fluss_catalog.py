"""What the catalog of the hot tier does when a table is looked for in the moment in which it is made."""

import pytest

from streamhouse.errors import StoreUnavailableError
from streamhouse.model.table import Column, Table
from streamhouse.stores.fluss import catalog
from streamhouse.stores.fluss.catalog import FlussCatalog
from streamhouse.stores.fluss.ddl import SAFE_LOG_TTL, describe
from streamhouse.stores.fluss.wire import proto
from streamhouse.stores.fluss.wire.refusal import refusal

TABLE = Table(name="ods.t", columns=(Column(name="k", type="bigint"),), tiers={"hot": "7d"})
NODE = proto.encode((1, 1), (2, "localhost"), (3, 9123))


class Coordinator:
    """Its links; it refuses the first `failures` questions as Fluss does while a table's node is still empty."""

    def __init__(self, failures: int) -> None:
        self.failures, self.asked = failures, 0

    def call_any(self, *_: object) -> proto.Message:
        return proto.decode(proto.encode((1, NODE)))

    def call(self, _address: object, _api: int, _body: bytes, subject: str) -> proto.Message:
        self.asked += 1
        if self.asked <= self.failures:
            raise refusal(
                -1, f"org.apache.fluss.exception.FlussRuntimeException: Failed to get table '{subject}'.", subject
            )
        return proto.decode(proto.encode((1, 5), (2, 1), (3, describe(TABLE, SAFE_LOG_TTL))))


def test_a_table_that_is_being_made_is_waited_for() -> None:
    coordinator = Coordinator(3)
    found = FlussCatalog(coordinator).stored(TABLE.name)  # type: ignore[arg-type]
    assert (found.table_id, found.column_names) == (5, TABLE.column_names)
    assert coordinator.asked == 4


def test_a_table_that_stays_half_made_is_told_as_what_may_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "_MAKING_S", 0.1)
    with pytest.raises(StoreUnavailableError, match=r"ods\.t") as told:
        FlussCatalog(Coordinator(10_000)).stored(TABLE.name)  # type: ignore[arg-type]
    assert told.value.retryable
