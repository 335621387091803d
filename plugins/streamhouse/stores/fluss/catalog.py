"""What a Fluss cluster holds and where: tables, bucket leaders, offsets."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import IntEnum
from time import monotonic, sleep
from typing import TypeVar

import pyarrow as pa
from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_fixed, wait_random_exponential

from streamhouse.errors import StoreError, StoreUnavailableError, TableMissingError
from streamhouse.model.types import Position
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.fluss.ddl import StoredTable, columns_of, stored
from streamhouse.stores.fluss.partitions import WHOLE, bucket_key, bucket_of, in_order, name_values, partition_name
from streamhouse.stores.fluss.wire import proto
from streamhouse.stores.fluss.wire.api import Api
from streamhouse.stores.fluss.wire.cluster import Wire
from streamhouse.stores.fluss.wire.link import Address
from streamhouse.stores.fluss.wire.refusal import LeaderMovedError, NotKeyedError, TableUnfinishedError, refusal

_NO_LEASE = "streamhouse-none"  # the name of a lease that nobody has
_LAST = 0  # where a column is added
_AHEAD_OF_CLOCK = 38
_CLIENT = -1  # in place of the id of a following server

_CREATE_ATTEMPTS = 4
_CREATE_PATIENCE_S = 6.0
_DROP_PATIENCE_S, _DROP_LOOK_S = 5.0, 0.02
_MAKING_S, _MAKING_LOOK_S = 2.0, 0.01
_NO_LEADER = (
    "while Fluss starts, try again; if it stays so, look for a server that is down: streamhouse services status; "
    "where all run, the coordinator is stuck, as after a client made a partition of a table right after the table: "
    "start it again: streamhouse services down && streamhouse services up"
)

T = TypeVar("T")


class OffsetBound(IntEnum):
    """Which offset of a bucket is asked for."""

    EARLIEST = 0
    LATEST = 1
    TIME = 2  # of the first row committed at a time or after it; the next offset when there is none


@dataclass(frozen=True)
class Located:
    """A table and the servers that lead its buckets.

    Attributes:
        leaders: Bucket, as positions name it → address; in the order of the buckets.
        partitions: Name of a partition → its id.
    """

    name: str
    stored: StoredTable
    leaders: dict[str, Address]
    partitions: dict[str, int] = field(default_factory=dict)

    def by_leader(self, buckets: Iterable[str]) -> dict[Address, list[str]]:
        """The buckets each server leads."""
        led: dict[Address, list[str]] = defaultdict(list)
        for bucket in buckets:
            led[self.leaders[bucket]].append(bucket)
        return led


class FlussCatalog:
    """Tables of one cluster, remembered until a server says that something moved."""

    def __init__(self, wire: Wire, patience_s: float = 20.0) -> None:
        self.wire = wire
        self._patience_s = patience_s
        self._located: dict[str, Located] = {}
        self._coordinator: Address | None = None
        # A server that lost everything gives the numbers of its tables again.
        self._schemas: dict[tuple[int, int, int], pa.Schema] = {}

    def create(self, name: str, description: bytes) -> None:
        """Create a table and its database where they are absent, and wait until all buckets have leaders.

        Raises:
            StoreUnavailableError: a bucket has no leader.
        """
        attempts = 1 if self._exists(name) else _CREATE_ATTEMPTS
        for attempt in range(1, attempts + 1):
            database = name.partition(".")[0]
            self._ask_coordinator(Api.CREATE_DATABASE, proto.encode((1, database), (2, 1)), name)
            self._ask_coordinator(Api.CREATE_TABLE, proto.encode((1, _path(name)), (2, description), (3, 1)), name)
            self.forget(name)
            try:
                self.on_leaders(name, self._serves, _CREATE_PATIENCE_S)
            except LeaderMovedError:
                # Rarely, a coordinator of 0.9 overlooks a new table (its watcher drops the event when it reads
                # the node late) and never gives it leaders. What never had a leader holds no rows: begin again.
                if attempt == attempts:
                    raise
                self.drop(name)
            else:
                return

    def add_columns(self, name: str, columns: Sequence[tuple[str, bytes, str | None]]) -> None:
        """Add columns, given by name, JSON of their type and comment, all in one new version of the table."""
        added = [(4, proto.encode((1, column), (2, kind), (3, note), (4, _LAST))) for column, kind, note in columns]
        self._ask_coordinator(Api.ALTER_TABLE, proto.encode((1, _path(name)), (2, 0), *added), name)
        self.forget(name)

    def drop(self, name: str) -> None:
        """Drop a table; do nothing when there is none."""
        self._ask_coordinator(Api.DROP_TABLE, proto.encode((1, _path(name)), (2, 1)), name)
        self.forget(name)

    def names(self) -> list[str]:
        """All tables of the cluster that the user may see, as `database.table`, sorted."""
        databases = proto.texts(self._ask_coordinator(Api.LIST_DATABASES, b"", "the databases"), 1)
        found = {
            one: proto.texts(self._ask_coordinator(Api.LIST_TABLES, proto.encode((1, one)), one), 1)
            for one in databases
        }
        return sorted(f"{database}.{table}" for database, tables in found.items() for table in tables)

    def stored(self, name: str) -> StoredTable:
        """The table as it is now, not as it is remembered.

        Raises:
            TableMissingError: there is none.
            StoreUnavailableError: it is not made as a whole.
        """
        retrying = Retrying(
            retry=retry_if_exception_type(TableUnfinishedError),
            stop=stop_after_delay(_MAKING_S),
            wait=wait_fixed(_MAKING_LOOK_S),
            reraise=True,
        )
        answer = retrying(self._ask_coordinator, Api.GET_TABLE_INFO, proto.encode((1, _path(name))), name)
        return _stored(name, bytes(proto.blob(answer, 3)), *(proto.number(answer, field) for field in (1, 2, 4)))

    def schema(self, located: Located, schema_id: int) -> pa.Schema:
        """The Arrow schema of one version of a table; versions never change, so they are remembered."""
        key = (located.stored.table_id, located.stored.created_ms, schema_id)
        if key not in self._schemas:
            request = proto.encode((1, _path(located.name)), (2, schema_id))
            answer = self._ask_coordinator(Api.GET_TABLE_SCHEMA, request, located.name)
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
        with suppress(LeaderMovedError):
            return self._tried(name, work)  # as almost always
        attempts = Retrying(
            retry=retry_if_exception_type(LeaderMovedError),
            stop=stop_after_delay(self._patience_s if patience_s is None else patience_s),
            wait=wait_random_exponential(multiplier=0.02, max=0.5),
            reraise=True,
        )
        for attempt in attempts:
            with attempt:
                return self._tried(name, work)
        raise AssertionError("tenacity ends with a result or an exception")

    def _tried(self, name: str, work: Callable[[Located], T]) -> T:
        try:
            return work(self.locate(name))
        except StoreUnavailableError:
            self.forget(name)
            self._coordinator = None
            raise

    def offsets(self, located: Located, bound: OffsetBound, at_ms: int | None = None) -> Position:
        """Bucket → its first retained, or its next offset; with `OffsetBound.TIME` that of `at_ms`.

        It is the next offset when the server's clock has not come so far. The buckets are those of
        the partitions that there are now.
        """
        located = self.refreshed(located)
        found = self._offsets(located, located.leaders, bound, at_ms)
        if behind := [bucket for bucket in located.leaders if bucket not in found]:
            found |= self._offsets(located, behind, OffsetBound.LATEST, None)
        return {bucket: found[bucket] for bucket in in_order(found)}

    def refreshed(self, located: Located) -> Located:
        """The table with the partitions it has now; itself when it has none by its design.

        Raises:
            LeaderMovedError: a bucket of a new partition has no leader yet.
        """
        if not located.stored.partition_key:
            return located
        now = self._list_partitions(located.name, located.stored)
        if now == located.partitions:
            return located
        known_ids = {id_ for name, id_ in located.partitions.items() if now.get(name) == id_}
        leaders = {bucket: address for bucket, address in located.leaders.items() if bucket_of(bucket)[0] in known_ids}
        leaders |= self._leaders(
            located.name, located.stored, {n: id_ for n, id_ in now.items() if id_ not in known_ids}
        )
        fresh = replace(located, leaders={bucket: leaders[bucket] for bucket in in_order(leaders)}, partitions=now)
        if located.name in self._located:
            self._located[located.name] = fresh
        return fresh

    def create_partitions(self, name: str, partitions: Iterable[str]) -> Located:
        """Create the partitions that are absent, and wait until all of their buckets have leaders.

        Others may do the same at the same time.

        Returns:
            The table with the partitions it has then.

        Raises:
            WriteRefusedError: it has as many partitions, or buckets, as the cluster allows.
            StoreUnavailableError: a bucket has no leader.
        """
        located = self.on_leaders(name, self.refreshed)
        absent = [partition for partition in partitions if partition not in located.partitions]
        if absent:
            self.on_leaders(name, self._refuse_overlooked)
        for attempt in range(1, _CREATE_ATTEMPTS + 1):
            for partition in absent:
                body = proto.encode((1, _path(name)), (2, _spec(located.stored, partition)), (3, 1))
                self._ask_coordinator(Api.CREATE_PARTITION, body, name)
            try:
                return self.on_leaders(name, lambda found: self._led(found, absent), _CREATE_PATIENCE_S)
            except LeaderMovedError:
                # As with tables, see `create`. What had a leader once may hold rows: it stays.
                overlooked = self._never_led(name, located.stored, absent)
                if attempt == _CREATE_ATTEMPTS or not overlooked:
                    raise
                for partition in overlooked:
                    self.drop_partition(name, located.stored, partition)
        raise AssertionError("the last attempt returns or raises")

    def _serves(self, located: Located) -> None:
        """Raise `LeaderMovedError` where a table that was just made cannot be used yet."""
        if located.stored.partition_key:
            self._refuse_overlooked(located)
        else:
            self.offsets(located, OffsetBound.LATEST)

    def _refuse_overlooked(self, located: Located) -> None:
        """Raise `LeaderMovedError` where the coordinator does not know a partitioned table that exists.

        A coordinator of 0.9 sometimes overlooks a new table (see `create`), and to make a partition of
        such a table stops it from electing any leader of any table until it is started again. Whether it
        knows the table shows in its answer to who gives back a lease: it looks for the table first, and
        a lease that nobody has changes nothing.
        """
        bucket = proto.encode((1, located.stored.table_id), (3, 0))
        try:
            self._ask_coordinator(
                Api.RELEASE_KV_SNAPSHOT_LEASE, proto.encode((1, _NO_LEASE), (2, bucket)), located.name
            )
        except NotKeyedError:
            return  # it looked at the table
        except LeaderMovedError as error:
            raise LeaderMovedError(
                f"Fluss's coordinator does not know {located.name} yet, so no partition of it can be made",
                hint=_NO_LEADER,
            ) from error

    def _led(self, known: Located, partitions: Iterable[str]) -> Located:
        """The table with the partitions it has now; the leaders of some have been asked whether they are."""
        located = self.refreshed(known)
        prefixes = {f"{partition}#{located.partitions.get(partition)}" for partition in partitions}
        buckets = [bucket for bucket in located.leaders if bucket.rpartition("/")[0] in prefixes]
        self._offsets(located, buckets, OffsetBound.LATEST, None)
        return located

    def drop_partitions(self, located: Located, partitions: Iterable[str]) -> None:
        """Drop partitions, and wait a little until no leader serves their rows any more."""
        dropped = list(partitions)
        for partition in dropped:
            self.drop_partition(located.name, located.stored, partition)
        until = monotonic() + _DROP_PATIENCE_S
        for partition in dropped:
            bucket = bucket_key(0, partition, located.partitions[partition])
            with suppress(StoreUnavailableError):  # it is not there any more, or the next reader will see
                while monotonic() < until:
                    self._offsets(located, [bucket], OffsetBound.LATEST, None)
                    sleep(_DROP_LOOK_S)

    def drop_partition(self, name: str, found: StoredTable, partition: str) -> None:
        """Drop a partition and its rows; do nothing when there is none."""
        body = proto.encode((1, _path(name)), (2, _spec(found, partition)), (3, 1))
        self._ask_coordinator(Api.DROP_PARTITION, body, name)

    def _offsets(self, located: Located, buckets: Iterable[str], bound: OffsetBound, at_ms: int | None) -> Position:
        time = () if at_ms is None else ((6, at_ms),)
        position: Position = {}
        for address, led in located.by_leader(buckets).items():
            # One question is about one partition.
            parts: dict[int | None, dict[int, str]] = defaultdict(dict)
            for key in led:
                partition_id, number = bucket_of(key)
                parts[partition_id][number] = key
            for partition_id, keys in parts.items():
                about = ((3, located.stored.table_id), (4, partition_id), (5, list(keys)))
                body = proto.encode((1, _CLIENT), (2, int(bound)), *about, *time)
                answer = self.wire.call(address, Api.LIST_OFFSETS, body, located.name)
                for bucket in proto.messages(answer, 1):
                    if (code := proto.number(bucket, 2)) == _AHEAD_OF_CLOCK:
                        continue
                    if code:
                        raise refusal(code, proto.text(bucket, 3), located.name)
                    position[keys[proto.number(bucket, 1)]] = proto.number(bucket, 4)
        return position

    def _list_partitions(self, name: str, found: StoredTable) -> dict[str, int]:
        """Name → id."""
        answer = self._ask_coordinator(Api.LIST_PARTITION_INFOS, proto.encode((1, _path(name))), name)
        listed: dict[str, int] = {}
        for partition in proto.messages(answer, 1):
            spec = proto.decode(proto.blob(partition, 2))
            values = {proto.text(value, 1): proto.text(value, 2) for value in proto.messages(spec, 1)}
            listed[partition_name([values[column] for column in found.partition_key])] = proto.number(partition, 1)
        return listed

    def _never_led(self, name: str, found: StoredTable, partitions: Iterable[str]) -> list[str]:
        """Those of some partitions of which no bucket ever had a leader."""
        listed = self._list_partitions(name, found)
        partition_ids = {partition: listed[partition] for partition in partitions if partition in listed}
        metadata = proto.messages(self._metadata(name, partition_ids.values()), 4) if partition_ids else []
        led = {
            proto.number(partition, 3)
            for partition in metadata
            if any(4 in bucket or 2 in bucket for bucket in proto.messages(partition, 4))
        }
        return [partition for partition, id_ in partition_ids.items() if id_ not in led]

    def _leaders(self, name: str, found: StoredTable, partitions: Mapping[str, int]) -> dict[str, Address]:
        """Bucket → its leader, of the table as a whole (`WHOLE`) or of some partitions.

        Raises:
            LeaderMovedError: one has none.
        """
        if not partitions:
            return {}
        names = {id_: partition for partition, id_ in partitions.items() if partition != WHOLE}
        answer = self._metadata(name, names)
        servers = {proto.number(node, 1): _endpoint(node) for node in proto.messages(answer, 2)}
        parts = (
            [(WHOLE, None, proto.messages(table, 5)) for table in proto.messages(answer, 3)]
            if WHOLE in partitions
            else [
                (names[id_], id_, proto.messages(partition, 4))
                for partition in proto.messages(answer, 4)
                if (id_ := proto.number(partition, 3)) in names
            ]
        )
        leaders = {
            bucket_key(proto.number(bucket, 1), partition, id_): servers[proto.number(bucket, 2, _CLIENT)]
            for partition, id_, buckets in parts
            for bucket in buckets
            if proto.number(bucket, 2, _CLIENT) in servers
        }
        if len(leaders) != (wanted := found.buckets * len(partitions)):
            raise LeaderMovedError(f"{len(leaders)} of {wanted} buckets of {name} have a leader", hint=_NO_LEADER)
        return leaders

    def _metadata(self, name: str, partition_ids: Iterable[int]) -> proto.Message:
        ids = list(partition_ids)
        return self._ask_coordinator(Api.GET_METADATA, proto.encode((1, _path(name)), (3, ids or None)), name)

    def _exists(self, name: str) -> bool:
        try:
            self.stored(name)
        except TableMissingError:
            return False
        return True

    def _locate(self, name: str) -> Located:
        found = self.stored(name)
        partitions = self._list_partitions(name, found) if found.partition_key else {}
        leaders = self._leaders(name, found, partitions if found.partition_key else {WHOLE: 0})
        located = Located(name, found, {bucket: leaders[bucket] for bucket in in_order(leaders)}, partitions)
        self._located[name] = located
        return located

    def _ask_coordinator(self, api: Api, body: bytes, subject: str) -> proto.Message:
        if self._coordinator is None:
            answer = self.wire.call_any(Api.GET_METADATA, b"", subject)
            nodes = proto.messages(answer, 1)
            if not nodes:
                raise LeaderMovedError("Fluss has no coordinator yet")
            self._coordinator = _endpoint(nodes[0])
        try:
            return self.wire.call(self._coordinator, api, body, subject)
        except StoreUnavailableError:
            self._coordinator = None
            raise


def _stored(name: str, description: bytes, table_id: int, schema_id: int, created_ms: int) -> StoredTable:
    try:
        return stored(description, table_id, schema_id, created_ms)
    except ValueError as error:
        raise StoreError(f"{name}: {error}", hint="it was not made by Streamhouse; use another name") from error


def _spec(found: StoredTable, partition: str) -> bytes:
    pairs = zip(found.partition_key, name_values(partition), strict=True)
    return proto.encode(*((1, proto.encode((1, column), (2, value))) for column, value in pairs))


def _path(name: str) -> bytes:
    database, _, table = name.partition(".")
    return proto.encode((1, database), (2, table))


def _endpoint(node: proto.Message) -> Address:
    return proto.text(node, 2), proto.number(node, 3)
