"""A flow over a Kafka topic of a real broker, killed in the middle: every table equals the batch."""

import os
import signal

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from streamhouse.project.project import Project
from tests.flows import assert_equals_batch, drop_tables, with_stores
from tests.gate.levels import deep
from tests.kafka import broker
from tests.kills import run
from tests.patience import PATIENCE_S

pytestmark = [
    pytest.mark.services,
    pytest.mark.spark,
    deep("a flow over Kafka that is killed; tests/contract/test_kafka.py has the source"),
]

FLOW, TOPIC = "orders", "shop.orders"
FILES = {
    "actions/keep.sql": "/* ---\naction: keep\nstep: ingest\ninputs: {rows: {}}\n--- */\nSELECT * FROM rows\n",
    "actions/spent.sql": "/* ---\naction: spent\nstep: aggregate\ninputs: {orders: {}}\n--- */\n"
    "SELECT customer, SUM(cents) AS cents, COUNT(*) AS orders FROM orders GROUP BY customer\n",
    "flows/orders.yaml": f"""\
flow: {FLOW}
freshness: 100ms
max_rows_per_epoch: 200
local_epoch_rows: 150
sources:
  messages:
    kafka:
      servers: "SERVERS"
      topic: {TOPIC}
      columns: {{id: bigint, customer: string, cents: bigint}}
      metadata: {{sent_at: timestamp, partition: partition, offset: offset}}
steps:
  - {{use: keep, reads: {{rows: messages}}, writes: ods.kf_orders}}
  - {{use: spent, reads: {{orders: ods.kf_orders}}, writes: dws.kf_spent}}
tables:
  ods.kf_orders: {{tiers: {{hot: 7d}}}}
""",
}


@pytest.fixture
def project(tmp_path, fluss, spark, monkeypatch):
    with broker(tmp_path / "kafka") as servers:
        admin = AdminClient({"bootstrap.servers": servers})
        admin.create_topics([NewTopic(TOPIC, 3, 1)])[TOPIC].result(PATIENCE_S)
        root = tmp_path / "project"
        for name, text in FILES.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text.replace("SERVERS", servers))
        monkeypatch.setenv("STREAMHOUSE_FLUSS", fluss)
        monkeypatch.setenv("STREAMHOUSE_COLD", spark.conf.get("spark.sql.catalog.cold.warehouse"))
        monkeypatch.setenv("STREAMHOUSE_SPARK_MASTER", "local[2]")
        found = Project.at(root)
        send(servers, range(1000))
        yield found, servers
        drop_tables(found, FLOW, spark)


def send(servers, numbers):
    producer = Producer({"bootstrap.servers": servers})
    for i in numbers:
        producer.produce(TOPIC, f'{{"id": {i}, "customer": "c{i % 7}", "cents": {i % 50}}}', partition=i % 3)
    assert producer.flush(30) == 0


def test_killed_and_run_again_it_equals_the_batch(project, spark):
    found, servers = project
    code, printed = run(found, FLOW, "between_writes:ods.kf_orders#2")
    assert code == -signal.SIGKILL, printed
    send(servers, range(1000, 1500))
    code, printed = run(found, FLOW, environment=dict(os.environ))
    assert code == 0, printed
    assert_equals_batch(found, FLOW, spark)

    def ids(plan, stores):
        (kept,) = (table for table in plan.tables.values() if table.name == "ods.kf_orders")
        return sorted(stores[kept.tiers.target].read_state(kept)["id"].to_pylist())

    assert with_stores(found, FLOW, spark, ids) == list(range(1500))
