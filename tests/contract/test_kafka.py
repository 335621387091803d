"""The source `kafka` against a real broker."""

import json
import time
from contextlib import contextmanager
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from streamhouse.errors import RowsLostError, SourceError, StoreUnavailableError
from streamhouse.ingest import kafka_topic
from streamhouse.ingest.cdc import open_cdc
from streamhouse.ingest.kafka import open_kafka
from tests.gate.levels import deep
from tests.kafka import broker, new_topic
from tests.patience import PATIENCE_S, until

pytestmark = [deep("waits until a broker is given up", only=("test_a_broker_that_is_away",)), pytest.mark.services]

COLUMNS = {"id": "bigint", "shop": "string", "cents": "decimal(12,2)", "at": "timestamp", "tags": "array<string>"}


@pytest.fixture(scope="module")
def servers(tmp_path_factory):
    with broker(tmp_path_factory.mktemp("kafka") / "broker") as address:
        yield address


@pytest.fixture
def topic(servers):
    return create(servers)


def create(servers, partitions=2, **config):
    name = f"orders-{uuid4().hex[:8]}"
    new_topic(servers, name, partitions, **config)
    return name


def send(servers, topic, values, *, partition=0, key=None, transaction=None, **more):
    settings = {"bootstrap.servers": servers, **({"transactional.id": topic} if transaction else {})}
    producer = Producer(settings)
    if transaction:
        producer.init_transactions(30)
        producer.begin_transaction()
    for value in values:
        data = value if isinstance(value, bytes) or value is None else json.dumps(value).encode()
        producer.produce(topic, data, key=key, partition=partition, **more)
    producer.flush(30)
    if transaction:
        getattr(producer, f"{transaction}_transaction")(30)


@contextmanager
def transaction_of(servers, topic):
    """A producer with an open transaction, which the end of the block commits."""
    producer = Producer({"bootstrap.servers": servers, "transactional.id": f"open-{topic}"})
    producer.init_transactions(30)
    producer.begin_transaction()
    yield producer
    producer.commit_transaction(30)


def source(servers, topic, **options):
    return open_kafka({"servers": servers, "topic": topic, "columns": COLUMNS, **options})


def ids(table):
    return table["id"].to_pylist()


def test_rows_of_every_type_and_metadata(servers, topic):
    before = time.time()
    row = {"id": 1, "shop": "ä", "cents": "1.50", "at": "2026-03-01T12:00:00Z", "tags": ["x", "y"], "other": 1}
    send(servers, topic, [row, {"id": 2}, None, b'{"id":\n 3}'], key=b"k")
    found = source(servers, topic, metadata={"k": "key", "p": "partition", "o": "offset", "sent": "timestamp"})
    assert [c.name for c in found.columns()] == [*COLUMNS, "k", "p", "o", "sent"]
    end = found.available()
    assert end == {"0": 4, "1": 0}
    table = found.read({}, end)
    assert ids(table) == [1, 2, 3]
    first = table.to_pylist()[0]
    assert str(first["cents"]) == "1.50"
    assert first["at"] == datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert first["tags"] == ["x", "y"]
    assert (first["k"], first["p"], table["o"].to_pylist()) == ("k", 0, [0, 1, 3])
    sent_ms = round(first["sent"].timestamp() * 1000)
    assert int(before * 1000) <= sent_ms <= time.time() * 1000
    assert found.read({}, end, ("o",)).to_pydict() == {"o": [0, 1, 3]}


def test_fields_of_keys_and_headers_are_columns(servers, topic):
    headers = [("trace", b"a"), ("trace", b"b"), ("empty", None)]
    send(servers, topic, [{"id": 1}], key=b'{"region": "north", "n": 7}', headers=headers)
    send(servers, topic, [{"id": 2}])
    more = {"trace": "trace", "empty": "empty"}
    found = source(
        servers,
        topic,
        key={"columns": {"region": "string", "n": "int"}},
        headers=more,
        metadata={"raw": "key_bytes", "all": "headers"},
    )
    assert [c.name for c in found.columns()] == [*COLUMNS, "region", "n", *more, "raw", "all"]
    table = found.read({}, found.available(), ("id", "region", "n", *more, "raw", "all"))
    first, second = table.to_pylist()
    assert first == {
        "id": 1,
        "region": "north",
        "n": 7,
        "trace": "b",
        "empty": None,
        "raw": b'{"region": "north", "n": 7}',
        "all": [{"name": name, "value": value} for name, value in headers],
    }
    assert second == {"id": 2, **dict.fromkeys(["region", "n", "trace", "empty", "raw"]), "all": []}


def test_a_flow_begins_where_it_is_told(servers, topic):
    """The same range is the same rows, whatever comes later."""
    begin_ms = round(time.time() * 1000) - 60_000  # retention removes messages that are much older
    for number in range(6):
        send(servers, topic, [{"id": number}], timestamp=begin_ms + 1_000 * number)
    moment = datetime.fromtimestamp((begin_ms + 2_500) / 1000, UTC).isoformat()
    since = source(servers, topic, start=moment)
    position = since.advance({}, 2)
    assert ids(since.read({}, position)) == [3, 4]
    assert since.rows_between({}, position) == 2
    end = since.available()
    send(servers, topic, [{"id": 9}], timestamp=begin_ms)  # older, and behind what is read
    assert ids(since.read(position, since.available())) == [5, 9]
    assert ids(since.read({}, end)) == [3, 4, 5]
    later = source(servers, topic, start="2999-01-01T00:00:00+01:00")
    assert later.advance({}, 10) == {}
    numbered = source(servers, topic, start={"offsets": {0: 5}})
    assert ids(numbered.read({}, numbered.advance({}, 10))) == [5, 9]


def test_bounded_ranges_drain_every_partition_once(servers, topic):
    send(servers, topic, [{"id": i} for i in range(1000)])
    send(servers, topic, [{"id": i} for i in range(1000, 1030)], partition=1)
    found, position, read = source(servers, topic), {}, []
    while (end := found.advance(position, 300)) != position:
        rows = ids(found.read(position, end))
        assert len(rows) == found.rows_between(position, end) <= 300
        assert rows == ids(source(servers, topic).read(position, end)), "the same at each call"
        read += rows
        position = end
    assert sorted(read) == list(range(1030))
    assert position == found.available()
    assert found.read(position, position).num_rows == 0


def test_only_what_was_committed_is_read(servers, topic):
    send(servers, topic, [{"id": 1}], transaction="commit")
    send(servers, topic, [{"id": 2}], transaction="abort")
    found = source(servers, topic)
    assert ids(found.read({}, found.available())) == [1]


def test_an_open_transaction_ends_what_is_there(servers, topic):
    """An epoch that ended behind it would be read again with other rows, once the transaction is over."""
    send(servers, topic, [{"id": 1}])
    found = source(servers, topic)
    with transaction_of(servers, topic) as producer:
        producer.produce(topic, b'{"id": 2}', partition=0)
        producer.flush(30)
        send(servers, topic, [{"id": 3}])
        end = found.available()
        assert end == {"0": 1, "1": 0}
        assert ids(found.read({}, end)) == [1]
    # The broker writes its mark behind a transaction after it answered.
    until(lambda: found.available() == {"0": 4, "1": 0}, what="the end of the transaction", saw=found.available)
    assert ids(found.read(end, found.available())) == [2, 3]


def test_partitions_may_be_added(servers):
    from confluent_kafka.admin import NewPartitions

    topic = create(servers, 1)
    send(servers, topic, [{"id": 1}])
    found = source(servers, topic)
    position = found.available()
    admin = AdminClient({"bootstrap.servers": servers})
    admin.create_partitions([NewPartitions(topic, 2)])[topic].result(PATIENCE_S)
    send(servers, topic, [{"id": 2}], partition=1)
    end = found.advance(position, 10)
    assert end == {"0": 1, "1": 1}
    assert ids(found.read(position, end)) == [2]


@pytest.mark.parametrize("bad", [b"{", b"[1]", b'"x"', b'{"id": "x"}', b'{"cents": true}'])
def test_a_message_that_is_malformed_is_named(servers, topic, bad):
    send(servers, topic, [{"id": 1}, bad, {"id": 2}])
    found = source(servers, topic)
    with pytest.raises(SourceError, match=f"the message at partition 0, offset 1 of {topic} is malformed"):
        found.read({}, found.available())


def test_rows_that_retention_removed_are_lost_and_told(servers, topic):
    from confluent_kafka import TopicPartition

    send(servers, topic, [{"id": i} for i in range(10)])
    found = source(servers, topic)
    end = found.available()
    admin = AdminClient({"bootstrap.servers": servers})
    (deleted,) = admin.delete_records([TopicPartition(topic, 0, 6)]).values()
    deleted.result(PATIENCE_S)
    with pytest.raises(RowsLostError, match="begins at 6; 3 was to be read"):
        found.read({"0": 3}, end)
    assert ids(found.read({}, end)) == [6, 7, 8, 9]
    assert found.rows_between({}, end) == 4


def test_a_compacted_topic_is_a_table_whose_changes_can_be_read_again(servers, tmp_path):
    from confluent_kafka import TopicPartition

    topic = create(servers, 1, **{"cleanup.policy": "compact,delete"})
    place = {"servers": servers, "topic": topic, "messages": "rows"}
    options = {"kafka": place, "primary_key": ["id"], "columns": {"id": "bigint", "shop": "string"}}
    for number, shop in enumerate("ab"):
        send(servers, topic, [{"shop": shop}], key=str(number).encode())
    found = open_cdc(options, tmp_path)
    before, identity = found.available(), found.identity()
    admin = AdminClient({"bootstrap.servers": servers})
    (deleted,) = admin.delete_records([TopicPartition(topic, 0, 2)]).values()
    deleted.result(PATIENCE_S)
    send(servers, topic, [{"shop": "A"}], key=b"0", transaction="abort")
    send(servers, topic, [None], key=b"1")
    again = open_cdc(options, tmp_path)
    end = again.available()
    assert again.state(before).to_pylist() == [{"id": 0, "shop": "a"}, {"id": 1, "shop": "b"}]
    assert again.changes(before, end).deletes.to_pylist() == [{"id": 1}]
    assert again.state(end).to_pylist() == [{"id": 0, "shop": "a"}]
    assert again.available() == end
    assert again.identity() == identity


def test_a_topic_that_is_absent_or_compacted_is_refused(servers):
    with pytest.raises(SourceError, match="no topic 'nowhere'"):
        source(servers, "nowhere").available()
    with pytest.raises(SourceError, match=r"compacts .*\n.*cdc: \{kafka:"):
        source(servers, create(servers, **{"cleanup.policy": "compact"})).available()


def test_a_secret_comes_from_the_environment(servers, topic, monkeypatch):
    given = source(servers, topic, secrets={"sasl.password": "STREAMHOUSE_SECRET_OF_A_TEST"})
    with pytest.raises(SourceError, match="STREAMHOUSE_SECRET_OF_A_TEST is not set"):
        given.available()


def test_a_broker_that_is_away(tmp_path, monkeypatch):
    monkeypatch.setattr(kafka_topic, "TIMEOUT_S", 3.0)
    with broker(tmp_path / "broker") as address:
        topic = create(address)
        send(address, topic, [{"id": 1}])
        found = source(address, topic)
        end = found.available()
        assert ids(found.read({}, end)) == [1]
    with pytest.raises(StoreUnavailableError) as raised:
        found.available()
    assert raised.value.retryable


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"servers": "x"}, "servers"),
        ({"columns": {}}, "columns"),
        ({"columns": {"a": "nothing"}}, "column 'a'"),
        ({"metadata": {"id": "key"}}, "both a column and metadata"),
        ({"topics": "x"}, "unknown option 'topics'"),
        ({"headers": {"id": "x"}}, "'id' is both a column and a header"),
        ({"key": {"columns": {"k": "int"}}, "headers": {"k": "x"}}, "'k' is both a column of the key and a header"),
        ({"key": {"format": "avro", "columns": {"k": "int"}}}, "format avro of the key needs 'registry'"),
        ({"key": {"subject": "s", "columns": {"k": "int"}}}, "'subject' is for keys with a schema"),
        ({"start": "latest"}, "'latest' would be another place each time"),
        ({"start": "2026-03-01T00:00:00"}, "is no time with its zone"),
        ({"start": {"offsets": {0: -1}}}, "option 'start' of kafka: write earliest, a time with its zone"),
    ],
)
def test_options_that_are_wrong(options, text):
    with pytest.raises(SourceError, match=text):
        open_kafka({"servers": "a:1", "topic": "t", "columns": COLUMNS, **options})
