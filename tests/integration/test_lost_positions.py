"""A topic loses messages before its flow reads them: a person says whether to go on behind them."""

from contextlib import ExitStack

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from streamhouse.errors import BlockedError, ChangeFailedError
from streamhouse.jobs.run import Meter, carry
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.open import Open, plan_of
from streamhouse.runtime.stores import open_stores
from streamhouse.state.upstream import EventStatus
from tests.gate.levels import deep
from tests.kafka import broker
from tests.live import drop_tables, served
from tests.patience import PATIENCE_S, until

pytestmark = [
    pytest.mark.services,
    pytest.mark.spark,
    deep("topics that lose rows or are made again", stays=("test_a_person_lets_the_flow_go_on_behind_what_is_gone",)),
]

FLOW, TOPIC = "letters", "letters"
FILES = {
    "actions/keep.sql": "/* ---\naction: keep\nstep: ingest\ninputs: {rows: {}}\n--- */\nSELECT * FROM rows\n",
    "actions/sums.sql": "/* ---\naction: sums\nstep: aggregate\ninputs: {rows: {}}\n--- */\n"
    "SELECT part, COUNT(*) AS letters FROM rows GROUP BY part\n",
    "flows/letters.yaml": f"""\
flow: {FLOW}
schema_change: evolve
sources:
  messages: {{kafka: {{servers: "SERVERS", topic: {TOPIC}, columns: {{id: bigint}}, metadata: {{part: partition}}}}}}
steps:
  - {{use: keep, reads: {{rows: messages}}, writes: ods.lp_letters}}
  - {{use: sums, reads: {{rows: ods.lp_letters}}, writes: dws.lp_sums}}
""",
}


class World:
    """The flow, and the topic that it reads."""

    def __init__(self, open_, servers):
        self.open, self.state, self.servers = open_, open_.state, servers
        self.admin = AdminClient({"bootstrap.servers": servers})
        self.sent = {0: 0, 1: 0}

    def create(self):
        self.admin.create_topics([NewTopic(TOPIC, 2, 1)])[TOPIC].result(PATIENCE_S)
        self.told(TOPIC, there=True)

    def delete(self):
        """Once this returns, no message goes to the topic that ended."""
        self.admin.delete_topics([TOPIC])[TOPIC].result(PATIENCE_S)
        self.told(TOPIC, there=False)
        self.sent = dict.fromkeys(self.sent, 0)

    def told(self, topic, *, there):
        """Wait until the broker has heard of what its controller did."""
        until(lambda: (topic in self.admin.list_topics(timeout=PATIENCE_S).topics) is there)

    def send(self, rows):
        """So many more messages in each of the two partitions; those of the second have odd ids."""
        producer = Producer({"bootstrap.servers": self.servers})
        for part in self.sent:
            for i in range(self.sent[part], self.sent[part] + rows):
                producer.produce(TOPIC, f'{{"id": {2 * i + part}}}', partition=part)
            self.sent[part] += rows
        assert producer.flush(PATIENCE_S) == 0

    def forget(self, part, before):
        """Remove the oldest messages of a partition."""
        (done,) = self.admin.delete_records([TopicPartition(TOPIC, part, before)]).values()
        done.result(PATIENCE_S)

    def run(self):
        plan = plan_of(self.open.project, FLOW)
        return carry(self.open, plan, Meter(plan, lambda _: None, once=True), once=True, follow=True)

    def ids(self):
        return sorted(served(self.open, "ods.lp_letters", flow=FLOW)["id"].to_pylist())

    def events(self):
        return [(r.event.type.value, r.status) for r in self.state.upstream.events(FLOW)]

    def losses(self):
        return [event.text for event in self.state.events(FLOW) if event.kind == "loss"]

    def decide(self, *, grant):
        [question] = self.state.approvals.list(FLOW)
        self.state.approvals.decide(question.id, grant=grant, by="ann", reason="so be it")
        return question


@pytest.fixture
def world(tmp_path, fluss, spark):
    with broker(tmp_path / "kafka") as servers, ExitStack() as stack:
        root = tmp_path / "project"
        for name, text in FILES.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text.replace("SERVERS", servers))
        project = Project(root, Settings(fluss=fluss, auto_apply="all"))
        stores = open_stores(project, spark, fluss)
        for store in stores.values():
            stack.callback(store.close)
        open_ = Open(project, spark, fluss, stores, stack.enter_context(project.state()))
        stack.callback(drop_tables, open_)
        made = World(open_, servers)
        made.create()
        made.send(10)
        made.run()
        assert made.ids() == list(range(20))
        yield made


def test_a_person_lets_the_flow_go_on_behind_what_is_gone(world):
    world.send(20)
    world.forget(0, 15)
    with pytest.raises(BlockedError):
        world.run()
    assert world.events() == [("positions_lost", EventStatus.WAITING)]
    assert world.ids() == list(range(20)), "nothing is read meanwhile"
    world.forget(0, 17)  # it goes on
    with pytest.raises(BlockedError):
        world.run()
    question = world.decide(grant=True)
    assert "go on behind the rows of letters:messages that are gone" in question.asks
    assert "5 of 0, from 10 to 15" in question.evidence
    assert "goes on behind rows that are gone: 0: 10 to 15" in question.evidence
    assert world.losses() == []
    world.run()
    gone = {2 * i for i in range(10, 17)}
    assert world.ids() == sorted(set(range(60)) - gone)
    assert world.events() == [("positions_lost", EventStatus.APPLIED)]
    assert world.losses() == ["up to 7 rows of letters:messages are gone and were not read: 0: 10 to 17"]
    # It asks nothing any more, compiles to the same plan, and is asked again when more is lost.
    assert plan_of(world.open.project, FLOW) == world.state.plan(FLOW)[1]
    world.send(5)
    world.run()
    assert world.ids() == sorted(set(range(70)) - gone)
    world.send(5)
    world.forget(1, 38)
    with pytest.raises(BlockedError):
        world.run()
    world.decide(grant=True)
    world.run()
    gone |= {2 * i + 1 for i in range(35, 38)}
    assert world.ids() == sorted(set(range(80)) - gone)
    assert len(world.losses()) == 2
    sums = {row["part"]: row["letters"] for row in served(world.open, "dws.lp_sums", flow=FLOW).to_pylist()}
    assert sums == {0: 33, 1: 37}


def test_what_was_read_may_go_and_a_refusal_goes_on_waiting(world):
    world.forget(0, 10)
    world.forget(1, 4)
    world.send(1)
    world.run()
    assert (world.ids(), world.events()) == (list(range(22)), [])
    world.send(5)
    world.forget(0, 12)
    with pytest.raises(BlockedError):
        world.run()
    world.decide(grant=False)
    with pytest.raises(ChangeFailedError):
        world.run()
    assert world.events() == [("positions_lost", EventStatus.REFUSED)]
    assert world.ids() == list(range(22))


def test_a_topic_that_was_made_anew_is_not_taken_for_the_one_there_was(world):
    """Its offsets begin again: read on from where the flow was, its first messages would be passed over in silence."""
    world.delete()
    world.create()
    world.send(5)  # fewer than were read of the first one: no loss of the new one
    with pytest.raises(BlockedError):
        world.run()
    assert world.events() == [("recreate_table", EventStatus.WAITING)]
    world.send(20)
    assert "if the flow's file names it again" in world.decide(grant=True).evidence
    with pytest.raises(ChangeFailedError):
        world.run()
    assert world.events() == [("recreate_table", EventStatus.FAILED)]
    assert world.ids() == list(range(20)), "nothing is read"
    flow = world.open.project.root / "flows" / "letters.yaml"
    flow.write_text(flow.read_text().replace("messages", "anew"))
    world.run()
    assert world.events() == [("recreate_table", EventStatus.OUTDATED)]
    assert world.ids() == list(range(50)), "it is read from its beginning, into a new version"
    assert world.state.versions()["ods.lp_letters"] == 2
    sums = {row["part"]: row["letters"] for row in served(world.open, "dws.lp_sums", flow=FLOW).to_pylist()}
    assert sums == {0: 25, 1: 25}
