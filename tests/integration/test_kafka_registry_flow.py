"""A flow over a topic with a schema registry follows a new version of its schema before a row with it is read."""

import io
from contextlib import ExitStack

import fastavro
import pytest
from confluent_kafka import Producer

from streamhouse.errors import StoreUnavailableError
from streamhouse.ingest import schema_registry
from streamhouse.jobs.run import Meter, carry
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.open import Open, plan_of
from streamhouse.runtime.stores import open_stores
from tests.gate.levels import deep
from tests.kafka import broker, new_topic
from tests.live import drop_tables, served
from tests.registry import framed, registry

pytestmark = [
    pytest.mark.services,
    pytest.mark.spark,
    deep("a schema that changes under a flow; tests/contract/test_kafka_registry.py has the source"),
]

FLOW, TOPIC = "sales", "shop.sales"
FIELDS = [{"name": "id", "type": "long"}, {"name": "cents", "type": "int"}]
TAX = {"name": "tax", "type": ["null", "int"], "default": None}
FILES = {
    "streamhouse.yaml": "connections:\n  schemas: {kind: schema_registry, url: 'REGISTRY'}\n",
    "actions/keep.sql": "/* ---\naction: keep\nstep: ingest\ninputs: {rows: {}}\n--- */\nSELECT * FROM rows\n",
    "flows/sales.yaml": f"""\
flow: {FLOW}
schema_change: evolve
sources:
  sales:
    kafka:
      servers: "SERVERS"
      topic: {TOPIC}
      format: avro
      registry: schemas
      columns: {{id: bigint, cents: bigint}}
      on_bad_rows: dead_letter
steps:
  - {{use: keep, reads: {{rows: sales}}, writes: ods.kr_sales}}
""",
}


def record(*fields):
    return {"type": "record", "name": "Sale", "fields": [*FIELDS, *fields]}


class World:
    """The flow, its topic, and the registry."""

    def __init__(self, open_, servers, schemas):
        self.open, self.state, self.schemas = open_, open_.state, schemas
        self.producer = Producer({"bootstrap.servers": servers})

    def send(self, schema, *rows):
        number = self.schemas.register(f"{TOPIC}-value", schema)
        for row in rows:
            stream = io.BytesIO()
            fastavro.schemaless_writer(stream, fastavro.parse_schema(schema), row)
            self.producer.produce(TOPIC, framed(number, stream.getvalue()))
        assert self.producer.flush(30) == 0

    def run(self):
        plan = plan_of(self.open.project, FLOW)
        return carry(self.open, plan, Meter(plan, lambda _: None, once=True), once=True, follow=True)

    def rows(self):
        return sorted(served(self.open, "ods.kr_sales", flow=FLOW).to_pylist(), key=lambda row: row["id"])

    def events(self):
        return [record.event.type.value for record in self.state.upstream.events(FLOW)]


@pytest.fixture
def world(tmp_path, fluss, spark, monkeypatch):
    with ExitStack() as stack:
        schemas = stack.enter_context(registry(tmp_path / "registry"))
        servers = stack.enter_context(broker(tmp_path / "kafka"))
        new_topic(servers, TOPIC)
        root = tmp_path / "project"
        for name, text in FILES.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text.replace("SERVERS", servers).replace("REGISTRY", schemas.url))
        project = Project(root, Settings(fluss=fluss, auto_apply="all", patience="1s", **connections(schemas)))
        stores = open_stores(project, spark, fluss)
        for store in stores.values():
            stack.callback(store.close)
        open_ = Open(project, spark, fluss, stores, stack.enter_context(project.state()))
        stack.callback(drop_tables, open_)
        yield World(open_, servers, schemas)


def connections(schemas):
    return {"connections": {"schemas": {"kind": "schema_registry", "url": schemas.url}}}


def test_a_new_version_is_followed_before_its_first_row(world, monkeypatch):
    world.send(record(), {"id": 1, "cents": 10})
    world.run()
    assert world.rows() == [{"id": 1, "cents": 10}]
    assert world.events() == []

    world.send(record(TAX), {"id": 2, "cents": 20, "tax": 2})
    world.send(record(), {"id": 3, "cents": 30})
    world.producer.produce(TOPIC, b"no frame")
    world.run()
    assert world.events() == ["unknown_field"]
    assert world.rows() == [
        {"id": 1, "cents": 10, "tax": None},
        {"id": 2, "cents": 20, "tax": 2},
        {"id": 3, "cents": 30, "tax": None},
    ]
    [letter] = served(world.open, f"ods.{FLOW}__dead_letters", flow=FLOW).to_pylist()
    assert (letter["raw"], letter["reason"]) == (b"no frame", "malformed")

    path = world.open.project.root / "streamhouse.yaml"
    there = path.read_text()
    path.write_text(there.replace(world.schemas.url, "http://127.0.0.1:9"))
    schema_registry._client.cache_clear()
    world.send(record(TAX), {"id": 4, "cents": 40, "tax": 4})
    with pytest.raises(StoreUnavailableError, match=r"the schema registry 'schemas' at .* does not answer"):
        world.run()
    assert len(world.rows()) == 3
    path.write_text(there)
    world.run()
    assert world.rows()[3:] == [{"id": 4, "cents": 40, "tax": 4}]
