"""Tries each shortcut on a few rows, and compares what it gives with what Spark's public way gives.

That a shortcut gives the same is remembered for one Spark, one Java and one state of this package: the next session
tries it no more. One that does not is tried again at each start, as the reason may pass.
"""

import json
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cache
from hashlib import sha256
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa

from streamhouse.install.whole_file import write_whole
from streamhouse.spark.carrier import Carrier, CarriesRows, PublicCarrier
from streamhouse.spark.driver_task import DriverTasks, MakesTasks, ScheduledTasks
from streamhouse.spark.failures import first_line
from streamhouse.spark.log_files import LOCAL_LOGS
from streamhouse.spark.offset_log import newest_committed, offset_at_end
from streamhouse.spark.one_partition import join_in_one_partition
from streamhouse.spark.placeholder import Place, keeps_nothing
from streamhouse.spark.public_streams import PublicStreams
from streamhouse.spark.results import carried_arrow, counted_arrow
from streamhouse.spark.session_copy import ClonedSessions
from streamhouse.spark.shortcuts import Shortcut, Shortcuts, without_unmet
from streamhouse.spark.stream_source import JavaStreams
from streamhouse.spark.streams import Streams

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_T = TypeVar("_T")
_FILE = "shortcuts.json"
_BATCHES, _STREAM_S = 3, 60.0
_AT = datetime(2026, 1, 2, 3, 4, 5, 6, UTC)
_ROWS = pa.table(
    {
        "k": pa.array([1, 2, None, 1, 2, 3], pa.int64()),
        "name": ["a", None, "ü", "", "b", "a"],
        "price": pa.array([Decimal("1.50"), None, Decimal("-2.00"), Decimal("0.00"), Decimal("7.25"), None]),
        "rate": [1.5, None, float("inf"), -0.0, 2.0, 1e300],
        "day": [date(2026, 1, 2), None, date(1960, 5, 6), date(2026, 1, 2), None, None],
        "at": pa.array([_AT, None, _AT, _AT, None, _AT], pa.timestamp("us", "UTC")),
        "tags": [["x", None], None, [], ["y"], None, []],
        "part": [{"a": 1}, None, {"a": None}, {"a": 2}, None, {"a": 3}],
    }
)
_VIEW = "streamhouse_probe"
_QUERIES = (
    f"SELECT *, UPPER(name) AS upper FROM {_VIEW} WHERE k > 1 OR k IS NULL",
    f"SELECT k, SUM(price) AS price, COUNT(*) AS n, MAX(name) AS name FROM {_VIEW} GROUP BY k HAVING COUNT(*) > 1",
)
_JOIN = (
    f"SELECT COUNT(*) AS n, MAX(c.name) AS name FROM {_VIEW} AS a JOIN {_VIEW} AS b ON a.k = b.k "
    f"JOIN {_VIEW} AS c ON b.k = c.k"
)
_EPOCHS = (_ROWS, _ROWS.slice(0, 2))


class _DiffersError(Exception):
    """A shortcut gives something else than the public way."""


def tried(
    spark: "SparkSession", candidates: frozenset[Shortcut], folder: Path, say: Callable[[str], None] = lambda _: None
) -> Shortcuts:
    """Try shortcuts that are not known to do here what they should.

    Args:
        spark: A session without anything of a user's yet.
        candidates: Those that may be taken.
        folder: For this Java and this Spark; what is known is in it.
        say: Is called with a message when something is tried, which takes some seconds.

    Returns:
        Those that do, as far as those do that they go through; and why the others do not.
    """
    known = _remembered(folder)
    refused: dict[Shortcut, str] = {}
    if candidates - known:
        say("trying faster ways through Spark, once")
    for shortcut, probe in _PROBES.items():
        if shortcut in candidates and shortcut not in known:
            try:
                probe(spark)
            except Exception as error:  # noqa: BLE001  whatever a private way does, the public one is taken then
                refused[shortcut] = first_line(error)
            else:
                known.add(shortcut)
    _remember(folder, known)
    return Shortcuts(without_unmet(candidates & known), refused)


def _carrier(spark: "SparkSession") -> None:
    fast, public = Carrier(spark), PublicCarrier(spark)
    _same(public.rows(fast.frame(_ROWS)), public.rows(public.frame(_ROWS)))
    parts = spark.range(0, 30, 1, 3).toDF("n")
    _same(fast.rows(parts), public.rows(parts))
    _same(carried_arrow(parts), counted_arrow(parts))
    _same(carried_arrow(public.frame(_ROWS)), counted_arrow(public.frame(_ROWS)))
    for sql in _QUERIES:
        _same(_answer(fast, fast.frame(_ROWS), sql), _answer(public, public.frame(_ROWS), sql))


def _session_copy(spark: "SparkSession") -> None:
    name, before = "spark.sql.shuffle.partitions", spark.conf.get("spark.sql.shuffle.partitions")
    copy = ClonedSessions().copied(spark)
    _same_text(copy.conf.get(name), before)
    copy.conf.set(name, "17")
    _same_text(spark.conf.get(name), before)
    for key, value in spark.newSession().conf.getAll.items():
        if key.startswith("spark.sql.") and key != name:
            _same_text(copy.conf.get(key), value)


def _standing(spark: "SparkSession") -> None:
    _compare_standing(spark, ScheduledTasks)


def _driver_tasks(spark: "SparkSession") -> None:
    _compare_standing(spark, DriverTasks)


def _compare_standing(spark: "SparkSession", tasks: "Callable[[SparkSession], MakesTasks]") -> None:
    """Plan each query once, and run it over the rows of some epochs."""
    session = spark.newSession()
    session.conf.set("spark.sql.adaptive.enabled", "false")
    session.conf.set("spark.sql.execution.arrow.localRelationThreshold", "0")
    session.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    session.conf.set("spark.sql.defaultSizeInBytes", "1")
    join_in_one_partition(session)
    fast, public, makes = Carrier(session), PublicCarrier(spark.newSession()), tasks(session)
    sent = fast.sent(_ROWS)
    if sent is None:
        raise _DiffersError("rows must be converted before")
    place = Place.of(fast.over(sent), _ROWS.schema)
    for sql in (*_QUERIES, _JOIN):
        place.frame.createOrReplaceTempView(_VIEW)
        query = session.sql(sql)
        if not keeps_nothing(query):
            raise _DiffersError(f"a plan keeps rows: {sql}")
        task = makes.make_task(query)
        for rows in _EPOCHS:
            epoch_rows = fast.sent(rows)
            assert epoch_rows is not None, "as above"
            place.put(epoch_rows.batches.toSeq())
            _same(task.rows(), _answer(public, public.frame(rows), sql))
            place.clear()


def _stream_source(spark: "SparkSession") -> None:
    """Run a stream of three batches both ways: their numbers, their ends in the log, and whether each was begun."""
    found = _stream_of(spark, JavaStreams())
    _same_text(str(found), str([(n, {"n": str(n + 1)}, True) for n in range(_BATCHES)]))
    _same_text(str(found), str(_public_stream(spark)))


def _public_stream(spark: "SparkSession") -> "list[tuple[int, object, bool]]":
    """What Spark's public way gives, whose process may fail to start in time on a busy machine: tried twice."""
    try:
        return _stream_of(spark, PublicStreams())
    except Exception:  # noqa: BLE001  any error: the second one is reported
        return _stream_of(spark, PublicStreams())


def _stream_of(spark: "SparkSession", streams: Streams) -> "list[tuple[int, object, bool]]":
    """Of each batch its number, its end in the log when it is called, and whether it has begun by then."""
    offsets = _Count()
    with tempfile.TemporaryDirectory(prefix="streamhouse-") as folder:
        log, called = Path(folder, "log"), SimpleQueue[tuple[int, object, bool]]()
        stream = streams.stream(spark.newSession(), offsets)

        def run(n: int) -> None:
            end = offset_at_end(log, n)
            called.put((n, json.loads(end), json.dumps(json.loads(end)) in offsets.begun))

        writer = streams.calling(stream.frame.writeStream, run).option("checkpointLocation", str(log))
        query = writer.trigger(processingTime="1 milliseconds").start()
        try:
            return [_next(called) for _ in range(_BATCHES)]
        finally:
            query.stop()
            stream.close()


def _log_files(spark: "SparkSession") -> None:
    """A stream that is logged so goes on where it was, in a session that logs as Spark does by itself."""
    session = spark.newSession()
    for key, value in LOCAL_LOGS.items():
        session.conf.set(key, value)
    with tempfile.TemporaryDirectory(prefix="streamhouse-") as folder:
        log = Path(folder, "log")
        last = _rate(session, log)
        if any(log.rglob("*.crc")):
            raise _DiffersError("the logs have checksums")
        _same_text(str(newest_committed(log) in (last, last - 1)), "True")
        if _rate(spark.newSession(), log) <= last:
            raise _DiffersError("a stream does not go on from its logs")


def _rate(session: "SparkSession", log: Path) -> int:
    """Run a stream that Spark itself brings for some batches; the number of the last one."""
    called = SimpleQueue[int]()
    writer = session.readStream.format("rate").load().writeStream.foreachBatch(lambda _rows, batch: called.put(batch))
    query = writer.option("checkpointLocation", str(log)).trigger(processingTime="1 milliseconds").start()
    try:
        return max(_next(called) for _ in range(_BATCHES))
    finally:
        query.stop()


def _next(called: "SimpleQueue[_T]") -> _T:
    try:
        return called.get(timeout=_STREAM_S)
    except Empty:
        raise _DiffersError(f"no batch within {_STREAM_S:.0f} s") from None


class _Count:
    """Offsets of three batches."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self._last = self.offset(0)

    @staticmethod
    def offset(number: int) -> str:
        return json.dumps({"n": str(number)})

    def newest(self) -> str:
        number = min(len(set(self.begun)) + 1, _BATCHES)
        if self._last != self.offset(number):
            self._last = self.offset(number)
        return self._last

    def begins(self, end: str) -> None:
        self.begun.append(json.dumps(json.loads(end)))

    def stop(self) -> None:
        pass


_PROBES: "Mapping[Shortcut, Callable[[SparkSession], None]]" = {
    Shortcut.CARRIER: _carrier,
    Shortcut.SESSION_COPY: _session_copy,
    Shortcut.STANDING_QUERIES: _standing,
    Shortcut.DRIVER_TASKS: _driver_tasks,
    Shortcut.STREAM_SOURCE: _stream_source,
    Shortcut.LOG_FILES: _log_files,
}


def _answer(carrier: CarriesRows, frame: "DataFrame", sql: str) -> pa.Table:
    frame.createOrReplaceTempView(_VIEW)
    try:
        return carrier.rows(carrier.query(sql))
    finally:
        carrier.drop_view(_VIEW)


def _same(found: pa.Table, wanted: pa.Table) -> None:
    """The rows in any order: no query here has one."""
    if not found.schema.equals(wanted.schema):
        raise _DiffersError(f"columns {found.schema} instead of {wanted.schema}")
    _same_text(str(sorted(map(str, found.to_pylist()))), str(sorted(map(str, wanted.to_pylist()))))


def _same_text(found: str | None, wanted: str | None) -> None:
    if found != wanted:
        raise _DiffersError(f"{found} instead of {wanted}")


def _remembered(folder: Path) -> set[Shortcut]:
    with suppress(OSError, ValueError, TypeError, AttributeError):
        return {Shortcut(name) for name in json.loads((folder / _FILE).read_text()).get(_state(), ())}
    return set()


def _remember(folder: Path, known: set[Shortcut]) -> None:
    with suppress(OSError):  # they are tried again then
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_whole(folder / _FILE, json.dumps({_state(): sorted(known)}))


@cache
def _state() -> str:
    """Of this package."""
    sources = sorted(Path(__file__).parent.glob("*.py"))
    return sha256(b"".join(file.read_bytes() for file in sources)).hexdigest()[:16]
