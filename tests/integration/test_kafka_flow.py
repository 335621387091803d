"""A flow over topics of a real broker, killed in the middle: every table equals the batch."""

import json
import os
import signal
from operator import itemgetter

import pytest
from confluent_kafka import OFFSET_END, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from streamhouse.ingest import topic_journal
from streamhouse.jobs.topic_journals import shorten_topics
from streamhouse.project.project import Project
from tests.flows import assert_equals_batch, drop_tables, with_stores
from tests.gate.levels import deep
from tests.kafka import broker, new_topic
from tests.kills import run
from tests.patience import PATIENCE_S

pytestmark = [
    pytest.mark.services,
    pytest.mark.spark,
    deep("a flow over Kafka that is killed; tests/contract/test_kafka.py has the source"),
]

FLOW, TOPIC, CHANGES = "orders", "shop.orders", "shop.customers"
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
      key: {{columns: {{region: string}}}}
      headers: {{trace: trace}}
      metadata: {{sent_at: timestamp, partition: partition, offset: offset}}
  customers:
    cdc:
      kafka: {{servers: "SERVERS", topic: {CHANGES}}}
      primary_key: [id]
      columns: {{id: bigint, name: string}}
steps:
  - {{use: keep, reads: {{rows: customers}}, writes: ods.kf_customers}}
  - {{use: keep, reads: {{rows: messages}}, writes: ods.kf_orders}}
  - {{use: spent, reads: {{orders: ods.kf_orders}}, writes: dws.kf_spent}}
tables:
  ods.kf_orders: {{tiers: {{hot: 7d}}}}
  ods.kf_customers: {{tiers: {{hot: 7d}}}}
""",
}


@pytest.fixture
def project(tmp_path, fluss, spark, monkeypatch):
    with broker(tmp_path / "kafka") as servers:
        new_topic(servers, TOPIC, 3)
        new_topic(servers, CHANGES)
        root = tmp_path / "project"
        for name, text in FILES.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text.replace("SERVERS", servers))
        monkeypatch.setenv("STREAMHOUSE_FLUSS", fluss)
        monkeypatch.setenv("STREAMHOUSE_COLD", spark.conf.get("spark.sql.catalog.cold.warehouse"))
        monkeypatch.setenv("STREAMHOUSE_SPARK_MASTER", "local[2]")
        found = Project.at(root)
        send(servers, range(1000))
        change(servers, "c", range(1000))
        yield found, servers
        drop_tables(found, FLOW, spark)


def send(servers, numbers):
    producer = Producer({"bootstrap.servers": servers})
    for i in numbers:
        value = f'{{"id": {i}, "customer": "c{i % 7}", "cents": {i % 50}}}'
        headers = [("trace", b"t%d" % i)]
        producer.produce(TOPIC, value, key=f'{{"region": "r{i % 4}"}}', headers=headers, partition=i % 3)
    assert producer.flush(30) == 0


def change(servers, op, numbers):
    """Events of customers; an update gives them another name."""
    producer = Producer({"bootstrap.servers": servers})
    for i in numbers:
        row = {"id": i, "name": f"{op}{i}"}
        event = {"op": op, "before": row, "after": None} if op == "d" else {"op": op, "after": row}
        producer.produce(CHANGES, json.dumps(event), key=json.dumps({"id": i}))
    assert producer.flush(30) == 0


def remove(servers, topic):
    """Let Kafka forget all messages of a topic."""
    admin = AdminClient({"bootstrap.servers": servers})
    (done,) = admin.delete_records([TopicPartition(topic, 0, OFFSET_END)]).values()
    done.result(PATIENCE_S)


def test_killed_and_run_again_it_equals_the_batch(project, spark):
    found, servers = project
    code, printed = run(found, FLOW, "between_writes:ods.kf_orders#2")
    assert code == -signal.SIGKILL, printed
    change(servers, "u", range(0, 1000, 3))
    change(servers, "d", range(0, 1000, 7))
    code, printed = run(found, FLOW, "between_writes:ods.kf_customers#2")
    assert code == -signal.SIGKILL, printed
    remove(servers, CHANGES)  # the epoch that is read again finds its messages in the journal alone
    send(servers, range(1000, 1500))
    code, printed = run(found, FLOW, environment=dict(os.environ))
    assert code == 0, printed
    assert_equals_batch(found, FLOW, spark)

    def rows(plan, stores):
        kept = {table.name: stores[table.tiers.target].read_state(table) for table in plan.tables.values()}
        orders = kept["ods.kf_orders"].select(["id", "region", "trace"]).to_pylist()
        customers = kept["ods.kf_customers"].to_pylist()
        return sorted(orders, key=itemgetter("id")), sorted(customers, key=itemgetter("id"))

    orders, customers = with_stores(found, FLOW, spark, rows)
    assert orders == [{"id": i, "region": f"r{i % 4}", "trace": f"t{i}"} for i in range(1500)]
    assert customers == [{"id": i, "name": f"{'c' if i % 3 else 'u'}{i}"} for i in range(1000) if i % 7]


def test_a_flow_whose_journal_became_shorter_goes_on_when_it_is_killed(project, spark):
    found, servers = project
    code, printed = run(found, FLOW, environment=dict(os.environ))
    assert code == 0, printed
    [folder] = (found.root / ".streamhouse" / "topics" / CHANGES).glob("[0-9]*")
    topic_journal._next_segment(folder, {"0": 1000})  # as 64 MiB of messages begin one
    change(servers, "u", range(0, 1000, 3))
    code, printed = run(found, FLOW, environment=dict(os.environ))
    assert code == 0, printed
    topic_journal._next_segment(folder, {"0": 1334})
    with found.state() as state:
        done = shorten_topics(found, state, [FLOW])
    assert done.failed == {}
    assert sorted(file.name for file in folder.glob("*.jsonl")) == ["00000002.base.jsonl", "00000003.jsonl"]
    assert len((folder / "00000002.base.jsonl").read_bytes().splitlines()) == 1 + 1000
    change(servers, "d", range(0, 1000, 7))
    code, printed = run(found, FLOW, "between_writes:ods.kf_customers#1")
    assert code == -signal.SIGKILL, printed
    remove(servers, CHANGES)
    code, printed = run(found, FLOW, environment=dict(os.environ))
    assert code == 0, printed
    assert_equals_batch(found, FLOW, spark)
    customers = with_stores(
        found,
        FLOW,
        spark,
        lambda plan, stores: next(
            stores[table.tiers.target].read_state(table).to_pylist()
            for table in plan.tables.values()
            if table.name == "ods.kf_customers"
        ),
    )
    expected = [{"id": i, "name": f"{'c' if i % 3 else 'u'}{i}"} for i in range(1000) if i % 7]
    assert sorted(customers, key=itemgetter("id")) == expected
