"""How fast messages of each format become rows, beside a bare consumer that only takes them from the broker.

    python benchmarks/topics.py [--quick]

A real broker, a real schema registry, 200,000 messages of six fields in one partition. Each figure is the best of
three, in messages per second of processor time of this process; the broker has its own. `ours` includes the consumer.
"""

import argparse
import io
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fastavro
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from streamhouse.ingest.kafka import Kafka, open_kafka
from streamhouse.ingest.protobuf_schema import protobuf_file
from streamhouse.ingest.schema_registry import registry_client

if TYPE_CHECKING:
    from tests.registry import Registry

_MIDNIGHT_S = 1_772_323_200
_COLUMNS = {
    "id": "bigint",
    "shop": "string",
    "amount": "decimal(12,2)",
    "at": "timestamp",
    "items": "int",
    "price": "double",
}
_AVRO = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "shop", "type": ["null", "string"]},
        {"name": "amount", "type": {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "items", "type": "int"},
        {"name": "price", "type": "double"},
    ],
}
_JSON = {"type": "object", "properties": {"id": {"type": "integer"}}}
_PROTOBUF = """
syntax = "proto3";
import "google/protobuf/timestamp.proto";
message Order {
  int64 id = 1;
  optional string shop = 2;
  string amount = 3;
  google.protobuf.Timestamp at = 4;
  int32 items = 5;
  double price = 6;
}
"""


def main() -> None:
    """Send the messages, and time both ways over each topic."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from tests.kafka import broker
    from tests.registry import registry

    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="a short run, only to see that it works")
    count = 5_000 if parser.parse_args().quick else 200_000
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        schemas = stack.enter_context(registry(folder / "registry"))
        servers = stack.enter_context(broker(folder / "broker"))
        place = f"{{kind: schema_registry, url: '{schemas.url}'}}"
        (folder / "streamhouse.yaml").write_text(f"connections: {{schemas: {place}}}\n")
        figures = {form: _figures(servers, folder, schemas, form, count) for form in _FORMATS}
    print(json.dumps(figures, indent=2))


def _figures(servers: str, root: Path, schemas: "Registry", form: str, count: int) -> dict[str, float]:
    topic = f"orders-{form}"
    admin = AdminClient({"bootstrap.servers": servers})
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(60)
    _send(servers, topic, _FORMATS[form](schemas, root, topic, count))
    columns = {**_COLUMNS, "amount": "string"} if form == "protobuf" else _COLUMNS  # it has no decimals
    options: dict[str, Any] = {"servers": servers, "topic": topic, "columns": columns, "format": form}
    source = open_kafka(options if form == "json" else {**options, "registry": "schemas"}, root)
    bare = max(_rate(lambda: _consume(servers, topic, count), count) for _ in range(3))
    ours = max(_rate(lambda: _read(source, count), count) for _ in range(3))
    return {"bare consumer": round(bare), "ours": round(ours), "ratio": round(ours / bare, 2)}


def _rate(work: Callable[[], None], count: int) -> float:
    began = time.process_time()
    work()
    return count / (time.process_time() - began)


def _read(source: Kafka, count: int) -> None:
    rows = source.read({}, source.available())
    if rows.num_rows != count:
        raise SystemExit(f"{rows.num_rows} rows of {count} messages")


def _consume(servers: str, topic: str, count: int) -> None:
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "bare", "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, 0, 0)])
    taken = 0
    while taken < count:
        taken += len(consumer.consume(10_000, 0.5))
    consumer.close()


def _send(servers: str, topic: str, values: Iterator[bytes]) -> None:
    producer = Producer({"bootstrap.servers": servers, "queue.buffering.max.messages": 1_000_000})
    for value in values:
        producer.produce(topic, value)
    if producer.flush(120):
        raise SystemExit("the broker does not take the messages")


def _framed(number: int, body: bytes) -> bytes:
    return b"\0" + number.to_bytes(4, "big") + body


def _rows(count: int) -> Iterator[dict[str, Any]]:
    for i in range(count):
        amount = Decimal(i % 1000) / 4
        yield {"id": i, "shop": f"s{i % 7}" if i % 5 else None, "amount": amount, "items": i % 9, "price": i / 3}


def _json(_schemas: "Registry", _root: Path, _topic: str, count: int) -> Iterator[bytes]:
    for row in _rows(count):
        yield json.dumps({**row, "amount": str(row["amount"]), "at": "2026-03-01T00:00:00Z"}).encode()


def _json_schema(schemas: "Registry", root: Path, topic: str, count: int) -> Iterator[bytes]:
    number = schemas.register(f"{topic}-value", _JSON, "JSON")
    for value in _json(schemas, root, topic, count):
        yield _framed(number, value)


def _avro(schemas: "Registry", _root: Path, topic: str, count: int) -> Iterator[bytes]:
    number = schemas.register(f"{topic}-value", _AVRO)
    schema = fastavro.parse_schema(json.loads(json.dumps(_AVRO)))
    for row in _rows(count):
        stream = io.BytesIO()
        fastavro.schemaless_writer(stream, schema, {**row, "at": _MIDNIGHT_S * 1000})
        yield _framed(number, stream.getvalue())


def _protobuf(schemas: "Registry", root: Path, topic: str, count: int) -> Iterator[bytes]:
    from google.protobuf.message_factory import GetMessageClass

    number = schemas.register(f"{topic}-value", _PROTOBUF, "PROTOBUF")
    kind = GetMessageClass(protobuf_file(registry_client("schemas", root).schema(number)).message((0,)))
    for row in _rows(count):
        message = kind(**{**row, "amount": str(row["amount"]), "at": {"seconds": _MIDNIGHT_S}})
        yield _framed(number, b"\0" + message.SerializeToString())


_FORMATS: dict[str, Callable[["Registry", Path, str, int], Iterator[bytes]]] = {
    "json": _json,
    "json_schema": _json_schema,
    "avro": _avro,
    "protobuf": _protobuf,
}

if __name__ == "__main__":
    main()
