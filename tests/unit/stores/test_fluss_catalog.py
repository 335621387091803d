"""What the catalog of the hot tier does when a table is looked for in the moment in which it is made."""

import pytest

from streamhouse.errors import StoreUnavailableError
from streamhouse.model.table import Column, Table
from streamhouse.stores.fluss import catalog
from streamhouse.stores.fluss.catalog import FlussCatalog
from streamhouse.stores.fluss.ddl import SAFE_LOG_TTL, describe
from streamhouse.stores.fluss.wire import proto
from streamhouse.stores.fluss.wire.api import Api
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


PARTED = Table.model_validate(
    {
        "name": "ods.p",
        "columns": [{"name": "day", "type": "string"}, {"name": "k", "type": "bigint"}],
        "partition_by": ["day"],
        "tiers": {"hot": "7d"},
    }
)
_NOT_KEYED, _UNKNOWN_BUCKET = 20, 21


class Stuck:
    """The links of a cluster of which one thing never happens: its coordinator hears of tables, or elects leaders."""

    def __init__(self, *, hears: bool) -> None:
        self.hears, self.partitions, self.asked = hears, 0, list[Api]()

    def call_any(self, *_: object) -> proto.Message:
        return proto.decode(proto.encode((1, NODE)))

    def call(self, _address: object, api: Api, _body: bytes, subject: str) -> proto.Message:
        self.asked.append(api)
        answer = b""
        if api is Api.GET_TABLE_INFO:
            answer = proto.encode((1, 5), (2, 1), (3, describe(PARTED, SAFE_LOG_TTL)))
        elif api is Api.RELEASE_KV_SNAPSHOT_LEASE:
            raise refusal(*((_NOT_KEYED, "no key") if self.hears else (_UNKNOWN_BUCKET, "Unknown table")), subject)
        elif api is Api.CREATE_PARTITION:
            self.partitions = 1
        elif api is Api.DROP_PARTITION:
            self.partitions = 0
        elif api is Api.LIST_PARTITION_INFOS and self.partitions:
            spec = proto.encode((1, proto.encode((1, "day"), (2, "mon"))))
            answer = proto.encode((1, proto.encode((1, 9), (2, spec))))
        elif api is Api.GET_METADATA and self.partitions:
            answer = proto.encode((4, proto.encode((1, 5), (3, 9), (4, proto.encode((1, 0))))))
        return proto.decode(answer)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "_CREATE_PATIENCE_S", 0.05)


@pytest.mark.usefixtures("impatient")
def test_no_partition_is_made_of_a_table_that_the_coordinator_never_hears_of() -> None:
    wire = Stuck(hears=False)
    with pytest.raises(StoreUnavailableError, match=r"does not know ods\.p yet, so no partition") as told:
        FlussCatalog(wire, 0.05).create_partitions(PARTED.name, ["mon"])  # type: ignore[arg-type]
    assert Api.CREATE_PARTITION not in wire.asked
    assert told.value.retryable
    assert "streamhouse services down && streamhouse services up" in str(told.value.hint)


@pytest.mark.usefixtures("impatient")
def test_a_table_that_the_coordinator_never_hears_of_is_made_again_a_few_times() -> None:
    wire = Stuck(hears=False)
    with pytest.raises(StoreUnavailableError, match=r"does not know ods\.p yet"):
        FlussCatalog(wire, 0.05).create(PARTED.name, describe(PARTED, SAFE_LOG_TTL))  # type: ignore[arg-type]
    assert Api.DROP_TABLE not in wire.asked, "it was there before"


@pytest.mark.usefixtures("impatient")
def test_a_partition_that_gets_no_leader_is_told_with_what_helps() -> None:
    wire = Stuck(hears=True)
    with pytest.raises(StoreUnavailableError, match=r"0 of 1 buckets of ods\.p have a leader") as told:
        FlussCatalog(wire, 0.05).create_partitions(PARTED.name, ["mon"])  # type: ignore[arg-type]
    assert wire.asked.count(Api.CREATE_PARTITION) == catalog._CREATE_ATTEMPTS
    assert told.value.retryable
    assert "streamhouse services down && streamhouse services up" in str(told.value.hint)
