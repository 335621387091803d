"""Upkeep shortens the journal of a topic: only what every flow and every environment has read."""

import os
from dataclasses import replace

import pytest

from streamhouse.ingest import topic_journal
from streamhouse.ingest.kinds import open_source
from streamhouse.jobs.topic_journals import ShortenedTopics, shorten_topics
from streamhouse.model.outcome import Outcome
from streamhouse.project.project import Project
from streamhouse.runtime.open import plan_of
from streamhouse.state.changes import Wish
from streamhouse.state.records import EpochRecord
from tests.unit.ingest.test_topic_journal import Topic

FLOW = """\
flow: {name}
sources:
  rows:
    cdc:
      kafka: {{servers: "{servers}", topic: shop.customers}}
      primary_key: [{key}]
      columns: {{id: bigint, name: string}}{more}
steps:
  - {{use: ingest_{name}, reads: {{rows: rows}}, writes: ods.{name}}}
"""
ACTION = """\
/* ---
action: ingest_{name}
step: ingest
inputs: {{rows: {{id: bigint, name: string}}}}
output: {{primary_key: [{key}]}}
--- */
SELECT id, name FROM rows
"""


class Shop:
    """A project whose flows read a topic in memory."""

    def __init__(self, root):
        (root / "flows").mkdir()
        self.project, self.topic = Project.at(root), Topic()

    def reads(self, flow, key="id", servers="localhost:1", more=""):
        """A flow that was applied."""
        for folder, text in (("flows", FLOW), ("actions", ACTION)):
            (self.project.root / folder).mkdir(exist_ok=True)
            file = self.project.root / folder / f"{flow}.{'yaml' if folder == 'flows' else 'sql'}"
            file.write_text(text.format(name=flow, key=key, servers=servers, more=more))
        plan = plan_of(self.project, flow)
        with self.project.state() as state:
            state.save_plan(plan)
        return plan

    def source(self, flow):
        with self.project.state() as state:
            _, plan = state.plan(flow)
        source = open_source(plan.sources[0], self.project.root)
        source._topic = self.topic
        source._clock = iter(range(10**9)).__next__
        return source

    def write(self, flow, *names):
        source = self.source(flow)
        for name in names:
            self.topic.send("c", {"id": 1, "name": name})
            source.available()
        return source.available()

    def is_at(self, flow, position, sources=("rows",)):
        """Its last epoch ends there."""
        with self.project.state() as state:
            _, plan = state.plan(flow)
            names = [segment.name for segment in plan.segments]
            ends = dict.fromkeys(sources, position)
            state.begin_at([EpochRecord(flow, name, 0, 1, 1, 1, end=ends) for name in names])

    def shorten(self, *flows):
        with self.project.state() as state:
            return shorten_topics(self.project, state, flows)

    def files(self):
        return sorted(file.name for file in self.project.root.rglob("topics/shop.customers/*/*.jsonl"))


@pytest.fixture
def shop(tmp_path, monkeypatch):
    monkeypatch.setattr(topic_journal, "SEGMENT_BYTES", 100)
    found = Shop(tmp_path)
    found.reads("a")
    return found


SHORT = ["00000003.base.jsonl", "00000004.jsonl"]
WHOLE = [f"0000000{number}.jsonl" for number in range(1, 5)]


def test_a_journal_that_its_only_flow_has_read_becomes_short(shop, tmp_path):
    at = shop.write("a", "x", "y", "z")
    assert shop.shorten("a") == ShortenedTopics()
    assert shop.files() == WHOLE, "the flow was applied, and has not run"
    shop.is_at("a", at)
    [(folder, (before, after))] = shop.shorten("a").shortened.items()
    assert folder == ".streamhouse/topics/shop.customers"
    assert after == sum(file.stat().st_size for file in tmp_path.rglob("topics/*/*/*.jsonl")) != before
    assert shop.files() == SHORT
    assert shop.source("a").state(at).to_pylist() == [{"id": 1, "name": "z"}]
    assert shop.shorten("a") == ShortenedTopics()
    assert shop.files() == SHORT


def test_what_another_flow_or_a_change_has_yet_to_read_stays(shop):
    at = shop.write("a", "x", "y", "z")
    shop.is_at("a", at)
    plan = shop.reads("b")
    shop.shorten("a")
    assert shop.files() == WHOLE, "the other flow was applied, and has not run"
    shop.is_at("b", {next(iter(at)): 2})
    shop.shorten("a")
    assert shop.files() == ["00000001.base.jsonl", *WHOLE[1:]]
    at = shop.write("a", *"pqrstu")  # as large as the base
    shop.is_at("a", at)
    shop.is_at("b", at)
    with shop.project.state() as state:
        change = state.ask_change(Wish(plan, Outcome.REBUILD, frozenset({"ods.b"})), "ann")
    shop.shorten("a", "b")
    assert shop.files()[:2] == ["00000001.base.jsonl", "00000002.jsonl"], "its tables are filled from the beginning"
    with shop.project.state() as state:
        state.begin_at([EpochRecord(change.candidate, "main", 0, 1, 1, 1, end={"rows": at})])
    shop.shorten("a", "b")
    assert len(shop.files()) == 2


def test_what_an_environment_has_yet_to_read_stays(shop):
    at = shop.write("a", "x", "y", "z")
    shop.is_at("a", at)
    with shop.project.state() as state:
        _, plan = state.plan("a")
        wish = Wish(plan, Outcome.REBUILD, frozenset({"ods.a"}))
        change = state.ask_change(replace(wish, environment="dev"), "ann")
    shop.shorten("a")
    assert shop.files() == WHOLE
    with shop.project.state() as state:
        state.begin_at([EpochRecord(change.candidate, "main", 0, 1, 1, 1, end={"rows": at})])
    shop.shorten("a")
    assert shop.files() == SHORT


def test_dead_letters_are_read_by_a_source_of_their_own(shop):
    shop.reads("a", more="\n      on_bad_rows: dead_letter")
    at = shop.write("a", "x", "y", "z")
    shop.is_at("a", at)
    shop.shorten("a")
    assert shop.files() == WHOLE
    shop.is_at("a", at, ("rows", "rows__dead_letters"))
    shop.shorten("a")
    assert shop.files() == SHORT


def test_a_topic_of_the_same_name_in_another_cluster_has_readers_of_its_own(shop):
    at = shop.write("a", "x", "y", "z")
    shop.is_at("a", at)
    shop.reads("b", servers="elsewhere:1")
    shop.shorten("a")
    assert shop.files() == WHOLE, "it may be the same cluster under another name"
    here, shop.topic = shop.topic, Topic()
    shop.topic.id = "another"
    other = shop.write("b", "v", "w")
    shop.is_at("b", other)
    shop.topic = here
    shop.shorten("a")
    assert len(shop.files()) == len(SHORT) + 3
    shop.shorten("b")
    assert len(shop.files()) == len(SHORT) + 2
    assert shop.source("a").state(at).to_pylist() == [{"id": 1, "name": "z"}]


def test_a_source_that_this_version_does_not_know_needs_all(shop):
    at = shop.write("a", "x", "y", "z")
    shop.is_at("a", at)
    plan = shop.reads("b")
    shop.is_at("b", at)
    odd = plan.sources[0].model_copy(update={"options": {**plan.sources[0].options, "later": 1}})
    with shop.project.state() as state:
        state.save_plan(plan.model_copy(update={"sources": (odd,)}))
    done = shop.shorten("a")
    [error] = done.failed.values()
    assert list(done.flows.values()) == [("a",)]
    assert "unknown option 'later'" in error.message
    assert shop.files() == WHOLE


def test_a_disk_that_is_full_is_told(shop, monkeypatch):
    shop.is_at("a", shop.write("a", "x", "y", "z"))

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    [(folder, error)] = shop.shorten("a").failed.items()
    assert folder == ".streamhouse/topics/shop.customers"
    assert "No space left on device" in error.message
    assert shop.files() == WHOLE


def test_a_flow_that_begins_later_has_the_rows_of_the_base(shop):
    shop.is_at("a", shop.write("a", "x", "y", "z"))
    shop.shorten("a")
    shop.reads("b")
    source = shop.source("b")
    end = source.advance({}, 1)
    assert source.changes({}, end).upserts.to_pylist() == [{"id": 1, "name": "z"}]
