"""Two topics under load whose broker is killed and started again; what they have at the end is the truth."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

from tests.kafka import Broker, new_topic
from tests.patience import PATIENCE_S

SALES, CLIENTS = "shop.sales", "shop.clients"
_PARTITIONS = 2
SOURCES = f"""\
  sales:
    kafka:
      servers: "SERVERS"
      topic: {SALES}
      columns: {{number: bigint, cents: bigint}}
      metadata: {{part: partition, place: offset}}
  clients:
    cdc:
      kafka: {{servers: "SERVERS", topic: {CLIENTS}}}
      primary_key: [id]
      columns: {{id: bigint, name: string}}
"""
STEPS = """\
  - {use: keep, reads: {rows: sales}, writes: ods.sales}
  - {use: keep, reads: {rows: clients}, writes: ods.clients}
"""


class KilledTopics:
    """A broker with messages of sales, and change events of clients.

    Args:
        folder: Of the broker.
    """

    def __init__(self, folder: Path) -> None:
        self._broker = Broker(folder)
        self._broker.start()
        self._sent: set[int] = set()
        self.servers = self._broker.servers
        new_topic(self.servers, SALES, _PARTITIONS)
        new_topic(self.servers, CLIENTS, _PARTITIONS)

    def stop(self) -> None:
        self._broker.stop()

    def kill(self) -> None:
        """Kill the broker, and start it again with what it has acknowledged."""
        self._broker.kill()
        self._broker.start()

    def change(self, chance: random.Random, over: Event) -> None:
        """Send messages until it is over, and wait until the broker has all of them; some may be there twice."""
        from confluent_kafka import Producer

        producer = Producer(
            {
                "bootstrap.servers": self.servers,
                "acks": "all",
                "max.in.flight.requests.per.connection": 1,  # else a message that is sent again may pass another
                "message.timeout.ms": round(PATIENCE_S * 1000),
            }
        )
        number = 0
        while not over.wait(0.2):
            for _ in range(chance.randint(1, 10)):
                producer.produce(SALES, json.dumps({"number": number, "cents": chance.randint(0, 999)}))
                self._sent.add(number)
                number += 1
                client = chance.randint(1, 200)
                producer.produce(CLIENTS, json.dumps(_event(client, chance)), key=json.dumps({"id": client}))
            producer.poll(0)
        assert producer.flush(PATIENCE_S) == 0

    def sales(self) -> list[tuple[Any, ...]]:
        """Partition, offset, number, cents of each message, in this order.

        Raises:
            AssertionError: one lacks that the broker acknowledged.
        """
        found = []
        for part, place, value in self._messages(SALES):
            row = json.loads(value)
            found.append((part, place, row["number"], row["cents"]))
        assert {number for _, _, number, _ in found} == self._sent
        return sorted(found)

    def clients(self) -> list[tuple[Any, ...]]:
        """Id and name of each client that is there after all events, by id."""
        names: dict[int, str] = {}
        for _, _, value in self._messages(CLIENTS):  # those of a client are in one partition
            event = json.loads(value)
            if event["op"] == "d":
                names.pop(event["before"]["id"], None)
            else:
                names[event["after"]["id"]] = event["after"]["name"]
        return sorted(names.items())

    def _messages(self, topic: str) -> Iterator[tuple[int, int, bytes]]:
        """Partition, offset and value of all messages, partition by partition."""
        from confluent_kafka import Consumer, TopicPartition

        consumer = Consumer({"bootstrap.servers": self.servers, "group.id": "truth", "enable.auto.commit": False})
        try:
            for part in range(_PARTITIONS):
                _, end = consumer.get_watermark_offsets(TopicPartition(topic, part), timeout=PATIENCE_S)
                consumer.assign([TopicPartition(topic, part, 0)])
                for _ in range(end):
                    message = consumer.poll(PATIENCE_S)
                    assert message is not None
                    assert message.error() is None, message.error()
                    yield part, message.offset(), message.value()
        finally:
            consumer.close()


def _event(client: int, chance: random.Random) -> dict[str, Any]:
    row = {"id": client, "name": f"n{chance.randint(0, 10**6)}"}
    return {"op": "d", "before": row, "after": None} if chance.random() < 0.2 else {"op": "u", "after": row}
