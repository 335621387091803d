"""What a Fluss cluster holds and where: tables, bucket leaders, offsets."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeVar

import pyarrow as pa
from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_random_exponential

from streamhouse.errors import StoreError, StoreUnavailableError, TableMissingError
from streamhouse.model.types import Position
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.fluss import proto
from streamhouse.stores.fluss.ddl import Stored, columns_of, stored
from streamhouse.stores.fluss.wire import Address, LeaderMovedError, Wire, refusal

_CREATE_DATABASE, _CREATE_TABLE, _DROP_TABLE, _TABLE_INFO = 1001, 1005, 1006, 1007
_TABLE_SCHEMA, _METADATA, _LIST_OFFSETS, _ALTER_TABLE = 1011, 1012, 1021, 1044
_LAST = 0  # where a column is added
_AHEAD_OF_CLOCK = 38
_CLIENT = -1  # in place of the id of a following server

_CREATE_ATTEMPTS = 4
_CREATE_PATIENCE_S = 6.0
_NO_LEADER = (
    "while Fluss starts, try again; if it stays so, its tablet server is down or cannot follow: "
    "streamhouse services status tells, and where its log is"
)

T = TypeVar("T")


class Bound(IntEnum):
    """Which offset of a bucket is asked for."""

    EARLIEST = 0
    LATEST = 1
    TIME = 2  # of the first row committed at a time or after it; the next offset when there is none


@dataclass(frozen=True)
class Located:
    """A table and the servers that lead its buckets."""

    name: str
    stored: Stored
    leaders: dict[int, Address]  # bucket → address

    def by_leader(self, buckets: Iterable[int]) -> dict[Address, list[int]]:
        """The buckets each server leads."""
        led: dict[Address, list[int]] = defaultdict(list)
        for bucket in buckets:
            led[self.leaders[bucket]].append(bucket)
        return led


class Catalog:
    """Tables of one cluster, remembered until a server says that something moved."""

    def __init__(self, wire: Wire, patience_s: float = 20.0) -> None:
        self.wire = wire
        self._patience_s = patience_s
        self._located: dict[str, Located] = {}
        self._coordinator: Address | None = None
        self._schemas: dict[tuple[int, int], pa.Schema] = {}

    def create(self, name: str, description: bytes) -> None:
        """Create a table and its database where they are absent, and wait until all buckets have leaders.

        Raises:
            StoreUnavailableError: a bucket has no leader.
        """
        attempts = 1 if self._exists(name) else _CREATE_ATTEMPTS
        for attempt in range(1, attempts + 1):
            database = name.partition(".")[0]
            self._ask_coordinator(_CREATE_DATABASE, proto.encode((1, database), (2, 1)), name)
            self._ask_coordinator(_CREATE_TABLE, proto.encode((1, _path(name)), (2, description), (3, 1)), name)
            self.forget(name)
            try:
                self.on_leaders(name, lambda located: self.offsets(located, Bound.LATEST), _CREATE_PATIENCE_S)
            except LeaderMovedError:
                # Rarely, a coordinator of 0.9 overlooks a new table (its watcher drops the event when it reads
                # the node late) and never gives it leaders. What never had a leader holds no rows: begin anew.
                if attempt == attempts:
                    raise
                self.drop(name)
            else:
                return

    def add_columns(self, name: str, columns: Sequence[tuple[str, bytes]]) -> None:
        """Add columns, given by name and the JSON of their type, all in one new version of the table."""
        added = [(4, proto.encode((1, column), (2, kind), (4, _LAST))) for column, kind in columns]
        self._ask_coordinator(_ALTER_TABLE, proto.encode((1, _path(name)), (2, 0), *added), name)
        self.forget(name)

    def drop(self, name: str) -> None:
        """Drop a table; do nothing when there is none."""
        self._ask_coordinator(_DROP_TABLE, proto.encode((1, _path(name)), (2, 1)), name)
        self.forget(name)

    def stored(self, name: str) -> Stored:
        """The table as it is now, not as it is remembered.

        Raises:
            TableMissingError: there is none.
        """
        answer = self._ask_coordinator(_TABLE_INFO, proto.encode((1, _path(name))), name)
        return _stored(name, bytes(proto.blob(answer, 3)), proto.number(answer, 1), proto.number(answer, 2))

    def schema(self, located: Located, schema_id: int) -> pa.Schema:
        """The Arrow schema of one version of a table; versions never change, so they are remembered."""
        key = (located.stored.table_id, schema_id)
        if key not in self._schemas:
            request = proto.encode((1, _path(located.name)), (2, schema_id))
            answer = self._ask_coordinator(_TABLE_SCHEMA, request, located.name)
            self._schemas[key] = arrow_schema(columns_of(json.loads(bytes(proto.blob(answer, 2)))))
        return self._schemas[key]

    def forget(self, name: str) -> None:
        """Look the table up again at its next use."""
        self._located.pop(name, None)

    def locate(self, name: str) -> Located:
        """The table and its leaders, remembered.

        Raises:
            TableMissingError: there is none.
            LeaderMovedError: a bucket has no leader yet.
        """
        known = self._located.get(name)
        return known if known is not None else self._locate(name)

    def on_leaders(self, name: str, work: Callable[[Located], T], patience_s: float | None = None) -> T:
        """`work(located)`; when a leader turns out to have moved, again with fresh addresses.

        `work` must be safe to repeat.

        Raises:
            StoreUnavailableError: a leader was still missing after `patience_s`, by default that of this catalog.
        """
        attempts = Retrying(
            retry=retry_if_exception_type(LeaderMovedError),
            stop=stop_after_delay(self._patience_s if patience_s is None else patience_s),
            wait=wait_random_exponential(multiplier=0.02, max=0.5),
            reraise=True,
        )
        for attempt in attempts:
            with attempt:
                try:
                    return work(self.locate(name))
                except StoreUnavailableError:
                    self.forget(name)
                    self._coordinator = None
                    raise
        raise AssertionError("tenacity ends with a result or an exception")

    def offsets(self, located: Located, bound: Bound, at_ms: int | None = None) -> Position:
        """Bucket → its first retained, or its next offset; with `Bound.TIME` that of `at_ms`.

        It is the next offset when the server's clock has not come so far.
        """
        found = self._offsets(located, located.leaders, bound, at_ms)
        if behind := [bucket for bucket in located.leaders if str(bucket) not in found]:
            found |= self._offsets(located, behind, Bound.LATEST, None)
        return dict(sorted(found.items(), key=lambda entry: int(entry[0])))

    def _offsets(self, located: Located, buckets: Iterable[int], bound: Bound, at_ms: int | None) -> Position:
        time = () if at_ms is None else ((6, at_ms),)
        position: Position = {}
        for address, led in located.by_leader(buckets).items():
            body = proto.encode((1, _CLIENT), (2, int(bound)), (3, located.stored.table_id), (5, led), *time)
            answer = self.wire.call(address, _LIST_OFFSETS, body, located.name)
            for bucket in proto.messages(answer, 1):
                if (code := proto.number(bucket, 2)) == _AHEAD_OF_CLOCK:
                    continue
                if code:
                    raise refusal(code, proto.text(bucket, 3), located.name)
                position[str(proto.number(bucket, 1))] = proto.number(bucket, 4)
        return position

    def _exists(self, name: str) -> bool:
        try:
            self.stored(name)
        except TableMissingError:
            return False
        return True

    def _locate(self, name: str) -> Located:
        found = self.stored(name)
        answer = self._ask_coordinator(_METADATA, proto.encode((1, _path(name))), name)
        servers = {proto.number(node, 1): _endpoint(node) for node in proto.messages(answer, 2)}
        leaders = {
            proto.number(bucket, 1): servers[proto.number(bucket, 2, _CLIENT)]
            for table in proto.messages(answer, 3)
            for bucket in proto.messages(table, 5)
            if proto.number(bucket, 2, _CLIENT) in servers
        }
        if len(leaders) != found.buckets:
            raise LeaderMovedError(
                f"{len(leaders)} of {found.buckets} buckets of {name} have a leader", hint=_NO_LEADER
            )
        located = Located(name, found, leaders)
        self._located[name] = located
        return located

    def _ask_coordinator(self, api: int, body: bytes, subject: str) -> proto.Message:
        if self._coordinator is None:
            answer = self.wire.call_any(_METADATA, b"", subject)
            nodes = proto.messages(answer, 1)
            if not nodes:
                raise LeaderMovedError("Fluss has no coordinator yet")
            self._coordinator = _endpoint(nodes[0])
        try:
            return self.wire.call(self._coordinator, api, body, subject)
        except StoreUnavailableError:
            self._coordinator = None
            raise


def _stored(name: str, description: bytes, table_id: int, schema_id: int) -> Stored:
    try:
        return stored(description, table_id, schema_id)
    except ValueError as error:
        raise StoreError(f"{name}: {error}", hint="it was not made by Streamhouse; use another name") from error


def _path(name: str) -> bytes:
    database, _, table = name.partition(".")
    return proto.encode((1, database), (2, table))


def _endpoint(node: proto.Message) -> Address:
    return proto.text(node, 2), proto.number(node, 3)
