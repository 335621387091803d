"""No result is short without an error, on whichever road it comes and whatever Spark's serialisers do."""

import io

import pyarrow as pa
import pytest

from streamhouse.engine.frames import Frames
from streamhouse.errors import ResultShortError
from streamhouse.spark import arrow_result, results
from streamhouse.spark.carrier import Carrier, PublicCarrier
from streamhouse.spark.results import CountedRows, carried_arrow, collected_rows

pytestmark = [pytest.mark.spark, pytest.mark.public_ways]

ROADS = {
    "carrier": lambda spark, frame: Carrier(spark).rows(frame),
    "carried": lambda spark, frame: carried_arrow(frame),
    "public": lambda spark, frame: PublicCarrier(spark).rows(frame),
    "engine": lambda spark, frame: Frames(spark).rows(frame),
}


@pytest.fixture(params=ROADS)
def rows_of(request, spark):
    return lambda frame: ROADS[request.param](spark, frame)


@pytest.fixture
def frame(spark):
    """Three partitions of rows, each at least a batch."""
    return spark.range(0, 30, 1, 3).selectExpr("id AS n", "CAST(id AS STRING) AS s")


def plant(monkeypatch, change):
    """Let what Spark's reader of results yields go through `change` first."""
    from pyspark.sql.pandas import serializers

    before = serializers.ArrowCollectSerializer.load_stream
    monkeypatch.setattr(
        serializers.ArrowCollectSerializer, "load_stream", lambda self, stream: iter(change(list(before(self, stream))))
    )


def last_batch_and_its_place_gone(found):
    *batches, order = found
    return [*batches[:-1], [place for place in order if place != len(batches) - 1]]


def rows_of_the_last_batch_gone(found):
    *batches, order = found
    return [*batches[:-1], batches[-1].slice(0, 0), order]


def all_gone(found):
    return [found[0].slice(0, 0), [0]]


@pytest.mark.parametrize("change", [last_batch_and_its_place_gone, rows_of_the_last_batch_gone, all_gone])
def test_rows_that_sparks_reader_drops_are_missed_on_the_public_road(spark, frame, monkeypatch, change):
    assert PublicCarrier(spark).rows(frame).num_rows == 30
    plant(monkeypatch, change)
    with pytest.raises(ResultShortError, match=r"of 30 rows of a result have arrived"):
        PublicCarrier(spark).rows(frame)


def test_a_row_that_comes_twice_is_seen_on_the_public_road(spark, frame, monkeypatch):
    plant(monkeypatch, lambda found: [*found[:-1], found[0], [*found[-1], len(found) - 1]])
    with pytest.raises(ResultShortError, match="40 of 30 rows"):
        PublicCarrier(spark).rows(frame)


@pytest.mark.parametrize("road", ["carrier", "carried"])
def test_sparks_reader_has_no_say_where_the_jvm_lists_the_batches(spark, frame, monkeypatch, road):
    plant(monkeypatch, rows_of_the_last_batch_gone)
    assert sorted(ROADS[road](spark, frame).column("n").to_pylist()) == list(range(30))


@pytest.fixture
def sent(frame, monkeypatch):
    """What the JVM sends for a result of three batches."""
    seen = []
    monkeypatch.setattr(arrow_result, "read_result", lambda stream: seen.append(stream.read()))
    arrow_result.arrow_rows(frame)
    monkeypatch.undo()
    return seen[0]


def test_a_result_that_breaks_off_anywhere_is_an_error(sent):
    assert arrow_result.read_result(io.BytesIO(sent)).column("n").to_pylist() == list(range(30))
    for end in range(len(sent)):
        with pytest.raises(ResultShortError):
            arrow_result.read_result(io.BytesIO(sent[:end]))


def rewritten(sent, change):
    """The stream again, with other batches, and the JVM's list of them as it was."""
    head = io.BytesIO(sent)
    batches = list(pa.ipc.open_stream(head))
    target = io.BytesIO()
    with pa.ipc.new_stream(target, batches[0].schema) as writer:
        for batch in change(batches):
            writer.write_batch(batch)
    return io.BytesIO(target.getvalue() + head.read())


@pytest.mark.parametrize(
    ("change", "came"),
    [
        (lambda batches: batches[:-1], "2 of 3 batches"),
        (lambda batches: batches[1:], "2 of 3 batches"),
        (lambda batches: [], "0 of 3 batches"),
        (lambda batches: [*batches, batches[0]], "4 of 3 batches"),
    ],
)
def test_a_batch_that_is_lost_or_comes_twice_is_seen(sent, change, came):
    with pytest.raises(ResultShortError, match=came):
        arrow_result.read_result(rewritten(sent, change))


def test_batches_come_in_the_order_of_their_partitions(sent):
    *stream, first, second, third = [sent[:-12], *(sent[at : at + 4] for at in (-12, -8)), sent[-4:]]
    order = [int.from_bytes(place) for place in (first, second, third)]
    turned = stream[0] + b"".join(place.to_bytes(4) for place in reversed(order))
    found = arrow_result.read_result(io.BytesIO(turned)).column("n").to_pylist()
    assert found == [*range(20, 30), *range(10, 20), *range(10)]
    with pytest.raises(ResultShortError, match="3 of 3 batches"):
        arrow_result.read_result(io.BytesIO(stream[0] + first + first + third))


def test_what_fails_in_the_middle_of_a_result_is_told_by_its_own_error(rows_of, spark):
    from pyspark.errors import PySparkException

    from streamhouse.errors import EpochFailedError

    late = spark.range(0, 30, 1, 3).selectExpr("IF(id = 29, RAISE_ERROR('late'), id) AS n")
    with pytest.raises((PySparkException, EpochFailedError), match="late"):
        rows_of(late)


def test_nothing_is_planned_again_to_count(spark, frame, monkeypatch):
    """A plan that stands stays the one that runs, and a limit the root of its plan."""
    monkeypatch.setattr(results.CountedRows, "__init__", lambda *_: pytest.fail("counted by a further plan"))
    assert carried_arrow(frame.limit(7)).num_rows == 7
    assert Carrier(spark).rows(frame).num_rows == 30


def test_a_limit_reads_no_more_partitions_than_it_needs(spark):
    rows = spark.range(0, 30, 1, 3).selectExpr("IF(id >= 10, RAISE_ERROR('too far'), id) AS n")
    assert [row.n for row in collected_rows(rows, limit=3)] == [0, 1, 2]
    with pytest.raises(Exception, match="too far"):
        collected_rows(rows, limit=11)


@pytest.mark.parametrize("limit", [0, 1, 10, 29, 30, 31])
def test_rows_up_to_a_limit_are_counted(frame, limit, monkeypatch):
    from pyspark.serializers import CPickleSerializer

    assert [row.n for row in collected_rows(frame, limit=limit)] == list(range(min(limit, 30)))
    before = CPickleSerializer.load_stream
    monkeypatch.setattr(CPickleSerializer, "load_stream", lambda self, stream: iter(list(before(self, stream))[:-1]))
    if limit:
        with pytest.raises(ResultShortError, match=f"of {min(limit, 30)} rows of a result have arrived"):
            collected_rows(frame, limit=limit)


def test_rows_of_python_are_counted_too(spark, frame, monkeypatch):
    from pyspark.serializers import CPickleSerializer

    assert [row.n for row in collected_rows(frame)] == list(range(30))
    before = CPickleSerializer.load_stream
    monkeypatch.setattr(CPickleSerializer, "load_stream", lambda self, stream: iter(list(before(self, stream))[:-1]))
    with pytest.raises(ResultShortError, match="of 30 rows of a result have arrived"):
        collected_rows(frame)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 AS n WHERE false",
        "SELECT * FROM counted WHERE n > 99",
        "SELECT * FROM counted LIMIT 0",
        "SELECT n FROM counted ORDER BY n DESC LIMIT 3",
        "SELECT n FROM counted LIMIT 7 OFFSET 4",
        "SELECT a.n FROM counted AS a JOIN (SELECT n FROM counted WHERE false) AS b ON a.n = b.n",
        "SELECT n % 4 AS k, COUNT(*) AS c FROM counted GROUP BY n % 4",
        "SELECT n, n FROM counted UNION ALL SELECT n, n FROM counted",
        "SELECT * FROM VALUES (1), (2) AS v(n)",
    ],
)
def test_results_of_any_plan_are_counted(rows_of, frame, spark, sql):
    frame.createOrReplaceTempView("counted")
    asked = spark.sql(sql)
    assert rows_of(asked).num_rows == asked.count()


def test_a_number_that_does_not_come_is_an_error(frame):
    """Whoever listens to Spark may be too busy to tell."""
    with pytest.raises(ResultShortError, match="has not said"):
        CountedRows(frame).check(0, within_s=0.05)


def test_a_query_that_fails_is_told_by_its_own_error(rows_of, spark):
    from pyspark.errors import PySparkException

    from streamhouse.errors import EpochFailedError

    with pytest.raises((PySparkException, EpochFailedError), match="CAST_INVALID_INPUT"):
        rows_of(spark.sql("SELECT CAST(s AS INT) AS n FROM VALUES ('x') AS v(s)"))


def test_rows_of_tables_without_columns_in_common_keep_their_types(rows_of, spark):
    rows = pa.table({"n": pa.array([], pa.int64()), "s": pa.array([], pa.string())})
    assert rows_of(Carrier(spark).frame(rows)).schema.equals(rows.schema)
