"""What only Fluss has: the merge engine, states of earlier offsets, and writes that a dead process left behind."""

import multiprocessing
import os
import random
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from threading import Event, Thread
from time import sleep
from typing import Any

import pyarrow as pa
import pytest

from streamhouse.errors import RowsLostError, SchemaConflictError, StateConflictError, StoreError
from streamhouse.model.table import Column, Table
from streamhouse.model.types import Position
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes, WriteContext
from streamhouse.stores.fluss import FlussStore
from streamhouse.stores.fluss.remote import read_segments
from streamhouse.stores.fluss.wire import proto
from streamhouse.stores.fluss.wire.api import Api
from streamhouse.stores.fluss.wire.cluster import Wire
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.services

Make = Callable[..., Table]
FIRST = WriteContext("flow/segment", 0)


def rows(table: Table, *values: dict[str, Any]) -> pa.Table:
    return pa.Table.from_pylist(list(values), schema=arrow_schema(table.columns))


def numbers(table: Table, start: int, end: int, **others: Any) -> pa.Table:
    return rows(table, *({"k": k, "v": k % 7} | others for k in range(start, end)))


def again(replay_from: Position) -> WriteContext:
    return WriteContext("flow/segment", 1, replay_from)


def by_key(found: pa.Table) -> dict[int, Any]:
    listed = {row["k"]: row["v"] for row in found.to_pylist()}
    assert len(listed) == found.num_rows
    return listed


# --- merge engine -----------------------------------------------------------------------------


def test_merge_functions_pass_over_nulls_but_for_the_last_value(fluss_store: FlussStore, make_table: Make) -> None:
    functions = {
        "total": ("bigint", "sum"),
        "money": ("decimal(12,2)", "sum"),
        "least": ("int", "min"),
        "latest": ("timestamp", "max"),
        "every": ("boolean", "bool_and"),
        "some": ("boolean", "bool_or"),
        "first": ("string", "first_value"),
        "last": ("string", "last_value"),
    }
    table = make_table(
        k="int",
        key=("k",),
        merge={name: function for name, (_, function) in functions.items()},
        **{name: kind for name, (kind, _) in functions.items()},
    )
    fluss_store.create(table)
    early, late = datetime(2017, 1, 1, tzinfo=UTC), datetime(2017, 1, 2, tzinfo=UTC)
    nothing = dict.fromkeys(functions)
    one = {
        "total": 5, "money": Decimal("1.25"), "least": 3, "latest": late,
        "every": True, "some": False, "first": "a", "last": "a",
    }  # fmt: skip
    two = one | {"total": -2, "least": 9, "latest": early, "every": False, "some": True, "first": "b", "last": "b"}
    both = {
        "total": 3, "money": Decimal("2.50"), "least": 3, "latest": late,
        "every": False, "some": True, "first": "a", "last": "b",
    }  # fmt: skip

    def state_after(value: dict[str, Any]) -> dict[str, Any]:
        fluss_store.write(table, Changes(rows(table, {"k": 1} | value)), FIRST)
        (found,) = fluss_store.read_state(table).to_pylist()
        return {name: found[name] for name in functions}

    assert state_after(nothing) == nothing
    assert state_after(one) == one
    assert state_after(two) == both
    assert state_after(nothing) == both | {"last": None}


def test_a_merge_fluss_cannot_do_is_refused(fluss_store: FlussStore, make_table: Make) -> None:
    table = make_table(k="int", v="string", key=("k",), merge={"v": "sum"})
    with pytest.raises(SchemaConflictError, match="v is string, which sum cannot fold"):
        fluss_store.create(table)
    assert fluss_store.columns(table.name) is None


def test_another_merge_function_or_bucket_count_is_refused(fluss_store: FlussStore, make_table: Make) -> None:
    table = make_table(k="int", v="int", key=("k",), merge={"v": "sum"})
    fluss_store.create(table)
    for other, difference in (
        ({"merge": {"v": "max"}}, "merge functions: stored v: sum; planned v: max"),
        ({"merge": {}}, "merge functions: stored v: sum; planned none"),
        ({"buckets": 4}, "bucket count: stored 2; planned 4"),
    ):
        wanted = Table.model_validate(table.model_dump() | other)
        with pytest.raises(SchemaConflictError) as refused:
            fluss_store.create(wanted)
        assert difference in str(refused.value)


@pytest.mark.parametrize("count", [1, 100], ids=["few", "many"])
def test_a_sum_that_does_not_fit_is_an_error(fluss_store: FlussStore, make_table: Make, count: int) -> None:
    table = make_table(k="int", v="decimal(4,2)", key=("k",), merge={"v": "sum"})
    fluss_store.create(table)
    most = rows(table, *({"k": k, "v": Decimal("99.99")} for k in range(count)))
    fluss_store.write(table, Changes(most), FIRST)
    # Neither the client nor, for whole numbers, the server tells.
    with pytest.raises(StoreError, match=r"the sum in .*v overflows decimal\(4,2\) where k = "):
        fluss_store.write(table, Changes(most), FIRST)
    assert set(by_key(fluss_store.read_state(table)).values()) == {Decimal("99.99")}


# --- added columns ----------------------------------------------------------------------------


def test_a_process_that_knows_the_narrower_table_goes_on(fluss: str, fluss_store: FlussStore, make_table: Make) -> None:
    table = make_table(k="bigint", v="bigint", key=("k",))
    wide = table.model_copy(update={"columns": (*table.columns, Column(name="w", type="string"))})
    fluss_store.create(table)
    other = FlussStore(fluss)
    try:
        other.write(table, Changes(numbers(table, 0, 3)), FIRST)  # it remembers the table as it is now
        fluss_store.add_columns(wide)
        fluss_store.write(
            wide, Changes(pa.table({"k": [1, 2], "w": ["x", "y"]})), WriteContext("w/s", 0, columns=("w",))
        )
        other.write(table, Changes(pa.table({"k": [2, 3], "v": [9, 9]})), WriteContext("v/s", 0, columns=("v",)))
        other.write(table, Changes(numbers(table, 4, 5)), FIRST)
        expected = [(0, 0, None), (1, 1, "x"), (2, 9, "y"), (3, 9, None), (4, 4, None)]
        assert sorted((r["k"], r["v"], r["w"]) for r in other.read_state(wide).to_pylist()) == expected
        found = other.read_changes(wide, {}, other.end(wide)).upserts
        assert sorted((r["k"], r["v"], r["w"]) for r in found.to_pylist()) == expected
        assert by_key(other.read_state(table)) == {k: v for k, v, _ in expected}
    finally:
        other.close()


def test_two_processes_add_the_same_column_at_once(fluss: str, fluss_store: FlussStore, make_table: Make) -> None:
    table = make_table(k="bigint", key=("k",))
    fluss_store.create(table)
    others = [FlussStore(fluss) for _ in range(3)]
    for number in range(5):
        columns = (*table.columns, Column(name=f"c{number}", type="int"))
        table = table.model_copy(update={"columns": columns})
        with ThreadPoolExecutor(len(others)) as pool:
            list(pool.map(FlussStore.add_columns, others, [table] * len(others)))
        assert [c.name for c in fluss_store.columns(table.name) or ()] == list(table.column_names)
    for other in others:
        other.close()


# --- states and changes of earlier offsets ----------------------------------------------------


def history_of(store: FlussStore, table: Table, epochs: int) -> list[tuple[Position, dict[int, int]]]:
    """Random upserts and deletes, and the position and state after each epoch."""
    random_ = random.Random(7)
    state: dict[int, int] = {}
    history = [(store.end(table), dict(state))]
    for epoch in range(epochs):
        touched = random_.sample(range(40), random_.choice([1, 5, 30]))
        upserts = {key: random_.randrange(100) for key in touched[: len(touched) * 2 // 3 + 1]}
        deletes = [key for key in touched if key not in upserts]
        gone = pa.table({"k": pa.array(deletes, pa.int64())})
        changes = Changes(rows(table, *({"k": k, "v": v} for k, v in upserts.items())), gone)
        position = store.write(table, changes, WriteContext("flow/segment", epoch))
        state = {k: v for k, v in (state | upserts).items() if k not in deletes}
        history.append((position, dict(state)))
    return history


def test_every_earlier_state_can_be_read(fluss_store: FlussStore, make_table: Make) -> None:
    table = make_table(k="bigint", v="bigint", key=("k",))
    fluss_store.create(table)
    history = history_of(fluss_store, table, 12)
    for position, state in history:
        assert by_key(fluss_store.read_state(table, at=position)) == state
    for (start, old), (end, new) in zip(history[::3], history[2::3], strict=False):
        changes = fluss_store.read_changes(table, start, end)
        assert changes.before is not None
        touched = set(changes.upserts.column("k").to_pylist())
        touched |= set(changes.deletes.column("k").to_pylist()) if changes.deletes else set()
        assert by_key(changes.before) == {k: v for k, v in old.items() if k in touched}
        untouched = {k: v for k, v in old.items() if k not in touched}
        assert untouched | by_key(changes.upserts) == new


def test_any_cut_gives_changes_that_lead_to_its_state(fluss_store: FlussStore, make_table: Make) -> None:
    table = make_table(k="bigint", v="bigint", key=("k",)).model_copy(update={"buckets": 1})
    fluss_store.create(table)
    end = history_of(fluss_store, table, 3)[-1][0]["0"]
    assert end > 40
    for cut in range(end + 1):  # some fall between the two images of an update
        position = {"0": cut}
        state = by_key(fluss_store.read_state(table, at=position))
        assert by_key(fluss_store.read_changes(table, {}, position).upserts) == state


def test_an_earlier_state_stands_still_while_rows_arrive(fluss_store: FlussStore, make_table: Make) -> None:
    table = make_table(k="bigint", v="bigint", key=("k",))
    fluss_store.create(table)
    position = fluss_store.write(table, Changes(numbers(table, 0, 500)), FIRST)
    expected = by_key(fluss_store.read_state(table))
    stop = Event()

    def keep_writing() -> None:
        for value in range(10_000):
            fluss_store.write(table, Changes(numbers(table, value % 300, value % 300 + 300, v=value)), FIRST)
            if stop.is_set():
                return

    writer = Thread(target=keep_writing)
    writer.start()
    try:
        for _ in range(15):
            assert by_key(fluss_store.read_state(table, at=position)) == expected
    finally:
        stop.set()
        writer.join()
    assert by_key(fluss_store.read_state(table)) != expected


def test_what_changed_nothing_does_not_stall_a_reader(fluss_store: FlussStore, make_table: Make) -> None:
    table = make_table(k="bigint", v="bigint", key=("k",))
    fluss_store.create(table)
    start = fluss_store.write(table, Changes(numbers(table, 0, 3)), FIRST)
    absent = Changes(rows(table), pa.table({"k": pa.array([77], pa.int64())}))
    end = fluss_store.write(table, absent, FIRST)
    assert end != start  # it takes an offset, though no record
    changes = fluss_store.read_changes(table, start, end)  # no record will ever come that it could wait for
    assert changes.upserts.num_rows == 0
    assert changes.deletes is None


def test_a_position_beyond_the_end_is_told(fluss_store: FlussStore, make_table: Make) -> None:
    for key in ((), ("k",)):
        table = make_table(k="bigint", v="bigint", key=key)
        fluss_store.create(table)
        end = fluss_store.write(table, Changes(numbers(table, 0, 3)), FIRST)
        beyond = {bucket: offset + 5 for bucket, offset in end.items()}
        for read in (
            lambda table=table, end=end, beyond=beyond: fluss_store.read_changes(table, end, beyond),
            lambda table=table, beyond=beyond: fluss_store.read_state(table, at=beyond),
        ):
            with pytest.raises(RowsLostError):
                read()


def test_rows_lie_in_the_bucket_that_paimon_computes(fluss_store: FlussStore, make_table: Make) -> None:
    from pypaimon import Schema
    from pypaimon.schema.table_schema import TableSchema
    from pypaimon.write.row_key_extractor import FixedBucketRowKeyExtractor

    table = make_table(k="bigint", s="string", v="int", key=("k", "s")).model_copy(update={"buckets": 5})
    fluss_store.create(table)
    values = rows(table, *({"k": k, "s": f"s{k}", "v": k} for k in range(300)))
    end = fluss_store.write(table, Changes(values), FIRST)
    # Paimon's schema wants keys that are not null; the hash is the same.
    fields = [pa.field(f.name, f.type, nullable=f.name == "v") for f in values.schema]
    schema = Schema.from_pyarrow_schema(pa.schema(fields), primary_keys=["k", "s"], options={"bucket": "5"})
    batch = values.combine_chunks().to_batches()[0]
    computed = FixedBucketRowKeyExtractor(TableSchema.from_schema(0, schema))._extract_buckets_batch(batch)
    for bucket, offset in end.items():
        found = fluss_store.read_changes(table, {}, {bucket: offset}).upserts.column("k").to_pylist()
        assert set(found) == {k for k, computed_bucket in enumerate(computed) if computed_bucket == int(bucket)}


_HALF = timedelta(days=1, microseconds=1)
KEYS_OF_TYPE: dict[str, list[Any]] = {
    "boolean": [True, False],
    "tinyint": [*range(-128, 128, 5)],
    "smallint": [*range(-300, 300, 11)],
    "int": [0, -1, 2**31 - 1, -(2**31), *range(1, 40)],
    "bigint": [0, -1, 2**63 - 1, -(2**63), *range(1, 40)],
    "float": [0.0, -0.5, 1e30, *(n / 4 for n in range(1, 40))],
    "double": [0.0, -0.5, 1e300, *(n / 7 for n in range(1, 40))],
    "decimal(9,2)": [Decimal(n).scaleb(-2) for n in range(-2000, 2000, 97)],
    "decimal(38,5)": [Decimal(n).scaleb(-5) for n in (-1, 10**37, -(10**37), *range(0, 10**20, 10**19 // 4))],
    "string": ["", "a", "ä", "漢字", "long " * 20, *(f"key {n}" for n in range(40))],
    "binary": [b"", b"\x00", bytes(range(40)), *(bytes([n, 255 - n]) for n in range(40))],
    "date": [date(1969, 12, 31), date(1, 1, 1), *(date(2024, 1, 1) + timedelta(days=n) for n in range(40))],
    "timestamp": [
        datetime(1969, 12, 31, tzinfo=UTC),
        *(datetime(2024, 1, 1, tzinfo=UTC) + n * _HALF for n in range(40)),
    ],
    "timestamp_ntz": [datetime(1969, 12, 31), *(datetime(2024, 1, 1) + n * _HALF for n in range(40))],
}


@pytest.mark.parametrize("kind", KEYS_OF_TYPE)
def test_fluss_and_paimon_put_a_key_of_any_type_into_the_same_bucket(
    fluss_store: FlussStore, paimon_store: Any, make_table: Make, kind: str
) -> None:
    table = make_table(k=kind, n="int", key=("k",)).model_copy(update={"buckets": 7})
    values = rows(table, *({"k": value, "n": number} for number, value in enumerate(KEYS_OF_TYPE[kind])))
    fluss_store.create(table)
    end = fluss_store.write(table, Changes(values), FIRST)
    in_fluss = {
        number: int(bucket)
        for bucket, offset in end.items()
        for number in fluss_store.read_changes(table, {}, {bucket: offset}).upserts.column("n").to_pylist()
    }
    paimon_store.create(table)
    paimon_store.write(table, Changes(values), FIRST)
    builder = paimon_store._catalog.get_table(table.name).new_read_builder()
    in_paimon = {
        number: split.bucket
        for split in builder.new_scan().plan().splits()
        for number in builder.new_read().to_arrow([split]).column("n").to_pylist()
    }
    assert in_fluss == in_paimon
    assert len(in_fluss) == values.num_rows


# --- columns that came later ------------------------------------------------------------------


@pytest.mark.parametrize("key", [(), ("k",)], ids=["log", "keyed"])
def test_rows_from_before_a_column_was_added_have_nulls(
    fluss: str, fluss_store: FlussStore, make_table: Make, key: tuple[str, ...]
) -> None:
    old = make_table(k="bigint", v="bigint", key=key)
    new = old.model_copy(update={"columns": (*old.columns, Column(name="more", type="string"))})
    fluss_store.create(old)
    middle = fluss_store.write(old, Changes(numbers(old, 0, 2)), FIRST)
    with pytest.raises(SchemaConflictError, match="lacks more"):
        fluss_store.read_state(new)
    database, name = old.name.split(".")
    column = proto.encode((1, "more"), (2, b'{"type":"STRING"}'), (4, 0))
    with Wire(fluss) as wire:
        wire.call_any(
            Api.ALTER_TABLE, proto.encode((1, proto.encode((1, database), (2, name))), (2, 0), (4, column)), old.name
        )
    end = fluss_store.write(new, Changes(numbers(new, 2, 4, more="x")), FIRST)

    before, after = {0: None, 1: None}, {2: "x", 3: "x"}

    def more(found: pa.Table) -> dict[int, str | None]:
        return {row["k"]: row["more"] for row in found.to_pylist()}

    assert more(fluss_store.read_state(new)) == before | after
    assert more(fluss_store.read_state(new, at=middle)) == before
    assert more(fluss_store.read_changes(new, {}, end).upserts) == before | after
    assert more(fluss_store.read_changes(new, {}, end, ("more", "k")).upserts) == before | after
    assert more(fluss_store.read_changes(new, middle, end).upserts) == after
    # Between the change of the table and that of the flow, the old plan still reads and writes.
    fluss_store.write(old, Changes(numbers(old, 4, 5)), FIRST)
    assert more(fluss_store.read_state(new)) == before | after | {4: None}
    assert by_key(fluss_store.read_state(old)) == {k: k % 7 for k in range(5)}


# --- what a dead attempt left -----------------------------------------------------------------


def test_a_log_takes_the_rest_of_an_epoch(fluss_store: FlussStore, make_table: Make) -> None:
    table = make_table(k="bigint", f="double", n="array<struct<a:decimal(5,2),b:string>>")
    fluss_store.create(table)
    start = fluss_store.write(table, Changes(rows(table, {"k": 1, "f": float("nan")})), FIRST)
    epoch = rows(
        table,
        {"k": 1, "f": float("nan"), "n": [{"a": Decimal("1.00"), "b": None}]},
        {"k": 1, "f": float("nan"), "n": [{"a": Decimal("1.00"), "b": None}]},
        {"k": None, "f": None, "n": []},
        {"k": 2, "f": -0.0, "n": None},
    )
    fluss_store.write(table, Changes(epoch.slice(1, 2)), again(start))
    for _ in range(3):
        end = fluss_store.write(table, Changes(epoch), again(start))
    found = fluss_store.read_changes(table, start, end).upserts
    assert sorted(map(repr, found.to_pylist())) == sorted(map(repr, epoch.to_pylist()))


def test_rows_that_the_epoch_does_not_make_are_not_passed_over(fluss_store: FlussStore, make_table: Make) -> None:
    table = make_table(k="bigint", v="bigint")
    fluss_store.create(table)
    start = fluss_store.end(table)
    fluss_store.write(table, Changes(numbers(table, 0, 5)), FIRST)
    with pytest.raises(StateConflictError):
        fluss_store.write(table, Changes(numbers(table, 0, 4)), again(start))


def test_a_merge_adds_each_key_of_an_epoch_once(fluss_store: FlussStore, make_table: Make) -> None:
    table = make_table(k="bigint", v="bigint", key=("k",), merge={"v": "sum"})
    fluss_store.create(table)
    start = fluss_store.write(table, Changes(numbers(table, 0, 60, v=10)), FIRST)
    epoch = rows(table, *({"k": k, "v": 0 if k < 5 else None if k < 10 else k} for k in range(100)))
    fluss_store.write(table, Changes(epoch.slice(0, 40)), again(start))
    for _ in range(3):
        fluss_store.write(table, Changes(epoch), again(start))
    expected = {k: 10 if k < 10 else k + (10 if k < 60 else 0) for k in range(100)}
    assert by_key(fluss_store.read_state(table)) == expected


WRITE_FOR_EVER = """
import sys
import pyarrow as pa
from streamhouse.model.table import Table
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes, WriteContext
from streamhouse.stores.fluss import FlussStore

store = FlussStore(sys.argv[1])
table = Table.model_validate_json(sys.argv[2])
for k in range(int(sys.argv[3])):
    row = pa.Table.from_pylist([{"k": k, "v": k % 7 + 1}], schema=arrow_schema(table.columns))
    store.write(table, Changes(row), WriteContext("flow/segment", 1))
    print(k, flush=True)
"""


@pytest.mark.parametrize(("kind", "dies_after"), [("log", 0), ("log", 40), ("keyed", 7), ("merge", 0), ("merge", 40)])
def test_an_epoch_whose_writer_was_killed_is_written_once(
    fluss: str, fluss_store: FlussStore, make_table: Make, kind: str, dies_after: int
) -> None:
    key = () if kind == "log" else ("k",)
    table = make_table(k="bigint", v="bigint", key=key, merge={"v": "sum"} if kind == "merge" else None)
    fluss_store.create(table)
    earlier = rows(table, *({"k": k, "v": 100} for k in range(0, 200, 3)))
    start = fluss_store.write(table, Changes(earlier), FIRST)
    count = 200
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITE_FOR_EVER, fluss, table.model_dump_json(), str(count)],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2] / "plugins")},
    )
    assert writer.stdout is not None
    for _ in range(dies_after + 1):
        assert writer.stdout.readline()
    writer.send_signal(signal.SIGKILL)
    writer.wait()

    epoch = rows(table, *({"k": k, "v": k % 7 + 1} for k in range(count)))
    end = fluss_store.write(table, Changes(epoch), again(start))
    assert fluss_store.write(table, Changes(epoch), again(start)).keys() == end.keys()
    if kind == "log":
        found = fluss_store.read_changes(table, start, end).upserts
        assert sorted(found.column("k").to_pylist()) == list(range(count))
        assert fluss_store.end(table) == end
    else:
        old = dict.fromkeys(range(0, 200, 3), 100) if kind == "merge" else {}
        assert by_key(fluss_store.read_state(table)) == {k: k % 7 + 1 + old.get(k, 0) for k in range(count)}


# --- connections ------------------------------------------------------------------------------


@contextmanager
def relay(target: str) -> Iterator[tuple[str, Callable[[], None]]]:
    """A port that passes bytes on to `target`, and a way to cut all connections through it."""
    host, port = target.split(":")
    listener = socket.create_server(("localhost", 0))
    ends: list[socket.socket] = []

    def pump(source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)

    def accept() -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                server = socket.create_connection((host, int(port)))
                ends.extend((client, server))
                for pair in ((client, server), (server, client)):
                    Thread(target=pump, args=pair, daemon=True).start()

    def cut() -> None:
        while ends:
            with suppress(OSError):
                ends[-1].shutdown(socket.SHUT_RDWR)
            ends.pop().close()

    Thread(target=accept, daemon=True).start()
    try:
        yield f"localhost:{listener.getsockname()[1]}", cut
    finally:
        listener.close()
        cut()


def test_a_link_that_broke_while_idle_is_replaced(fluss: str) -> None:
    with relay(fluss) as (address, cut), Wire(address) as wire:
        for _ in range(3):
            assert proto.messages(wire.call_any(Api.GET_METADATA, b"", "the cluster"), 2)
            cut()


def write_then_fork(bootstrap: str, table: Table, answers: Any) -> None:
    """Write three rows, then read them and write more in a child that has this process's memory."""
    with closing(FlussStore(bootstrap)) as store:
        store.create(table)
        store.write(table, Changes(numbers(table, 0, 3)), FIRST)

        def child() -> None:
            answers.put(store.read_state(table).num_rows)
            try:
                store.write(table, Changes(numbers(table, 3, 4)), FIRST)
            except StoreError as error:
                answers.put(str(error))

        process = multiprocessing.get_context("fork").Process(target=child)
        process.start()
        process.join()


def test_a_child_process_reads_but_does_not_hang_in_a_write(
    fluss: str, fluss_store: FlussStore, make_table: Make
) -> None:
    table = make_table(k="bigint", v="bigint")
    context = multiprocessing.get_context("spawn")  # the threads of other tests may own locks when a process forks
    answers = context.SimpleQueue()
    process = context.Process(target=write_then_fork, args=(fluss, table, answers))
    process.start()
    process.join(PATIENCE_S)
    assert process.exitcode == 0
    assert answers.get() == 3
    assert "forked" in answers.get()
    assert fluss_store.read_state(table).num_rows == 3


def test_threads_write_different_tables_at_once(fluss_store: FlussStore, make_table: Make) -> None:
    tables = [make_table(k="bigint", v="bigint", key=("k",) if n % 2 else ()) for n in range(4)]
    failures: list[Exception] = []

    def work(table: Table) -> None:
        try:
            fluss_store.create(table)
            for start in range(0, 300, 30):
                fluss_store.write(table, Changes(numbers(table, start, start + 30)), FIRST)
        except StoreError as error:
            failures.append(error)

    threads = [Thread(target=work, args=(table,)) for table in tables]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    for table in tables:
        assert by_key(fluss_store.read_state(table)) == {k: k % 7 for k in range(300)}


def test_segments_that_were_moved_away_read_like_the_log(
    fluss: str, fluss_store: FlussStore, make_table: Make, tmp_path: Path
) -> None:
    table = make_table(k="bigint", v="bigint", key=("k",)).model_copy(update={"buckets": 1})
    fluss_store.create(table)
    for start in range(0, 50, 10):
        end = fluss_store.write(table, Changes(numbers(table, start, start + 15)), FIRST)["0"]
    # What a server uploads is what it sends: take an answer for a segment.
    located = fluss_store._catalog.locate(table.name)
    bucket = proto.encode((2, 0), (3, 0), (4, 1 << 20))
    request = proto.encode((1, -1), (2, 1 << 20), (3, proto.encode((1, located.stored.table_id), (2, 0), (4, bucket))))
    with Wire(fluss) as wire:
        answer = wire.call(located.leaders["0"], Api.FETCH_LOG, request, table.name)
    segment = proto.blob(proto.messages(proto.messages(answer, 1)[0], 2)[0], 8)
    (tmp_path / "id").mkdir()
    (tmp_path / "id" / f"{0:020d}.log").write_bytes(segment)
    info = proto.decode(proto.encode((1, str(tmp_path)), (3, proto.encode((1, "id"), (2, 0), (3, end)))))

    batches = list(read_segments(info, 20, 45, lambda _: arrow_schema(table.columns)))
    assert batches[0].base <= 20 < batches[0].end
    assert batches[-1].base < 45 <= batches[-1].end
    assert [batch.base for batch in batches[1:]] == [batch.end for batch in batches[:-1]]
    keys = [key for batch in batches if batch.rows for key in batch.rows.column("k").to_pylist()]
    assert set(keys) <= set(range(55))
    some = list(read_segments(info, 20, 45, lambda _: arrow_schema(table.columns), [1, 7]))
    assert [(b.base, b.end, b.kinds, b.rows) for b in some] == [
        (b.base, b.end, b.kinds, b.rows.select(["v"]) if b.rows else None) for b in batches
    ]


def test_a_note_stands_as_long_as_one_of_its_tables(fluss_store: FlussStore, make_table: Make) -> None:
    one, two = make_table(k="bigint"), make_table(k="bigint")
    writer = f"test/{one.name}"
    assert fluss_store.noted(writer) is None
    for table in (one, two):
        fluss_store.create(table)
    for text in ("a", "it's"):
        fluss_store.note(writer, text, [one.name, two.name])
        assert fluss_store.noted(writer) == text
    assert fluss_store.noted("test/another") is None
    fluss_store.drop(one.name)
    assert fluss_store.noted(writer) == "it's"
    fluss_store.drop(two.name)
    fluss_store.create(two)
    assert fluss_store.noted(writer) is None, "it is another table of that name"


def test_a_position_is_found_by_the_time_of_its_rows(fluss_store: FlussStore, make_table: Make) -> None:
    table = make_table(k="bigint", v="bigint").model_copy(update={"buckets": 1})
    fluss_store.create(table)
    assert fluss_store.position_before(table, datetime.now(UTC)) == {"0": 0}
    fluss_store.write(table, Changes(numbers(table, 0, 5)), FIRST)
    sleep(0.05)
    between = datetime.now(UTC)
    sleep(0.05)
    assert fluss_store.position_before(table, between) == {"0": 5}
    fluss_store.write(table, Changes(numbers(table, 5, 8)), WriteContext("flow/segment", 1))
    assert fluss_store.position_before(table, between) == {"0": 5}
    assert fluss_store.position_before(table, between - timedelta(days=1)) == {"0": 0}
    assert fluss_store.position_before(table, datetime.now(UTC) + timedelta(hours=1)) == {"0": 8}, "ahead of its clock"
    assert fluss_store.retention(table) >= timedelta(days=1)
