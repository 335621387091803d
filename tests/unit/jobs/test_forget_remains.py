"""Proposals that have values of a person are found when the person is forgotten."""

import json
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from streamhouse.jobs import forget_remains
from streamhouse.model.forgetting import Forgetting, KeyPart
from streamhouse.model.plan import PlannedSource
from streamhouse.planner.proposal import FileEdit, Preview, Proposal, Status
from streamhouse.planner.proposals import Proposals
from streamhouse.project.project import Project

BASE = Proposal(id="a1b2c3d4e5f6", wish="sales per day", status=Status.PROPOSED)
EXAMPLE = "examples:\nhousehold_id: 4711\n"


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.delenv("STREAMHOUSE_STATE", raising=False)
    (tmp_path / "flows").mkdir()
    return Project.at(tmp_path)


def found(project):
    key = KeyPart(columns=("household_id",), values=("4711",))
    texts = forget_remains._Texts.of(Forgetting(tables={"ods.sales": (key,)}, sources={}))
    with project.state() as state:
        return list(forget_remains._in_proposals(SimpleNamespace(project=project, state=state), texts))


@pytest.mark.parametrize(
    ("changed", "is_found"),
    [
        ({"files": (FileEdit(path="actions/a.sql", after=EXAMPLE),)}, True),
        ({"preview": Preview(columns=("day", "household_id"), rows=(("2017", 4711),))}, True),
        ({"wish": "sales of household_id = 4711"}, True),
        ({"preview": Preview(columns=("day", "household_id"), rows=((4711, "2017"),))}, False),
        ({"files": (FileEdit(path="actions/a.sql", after=EXAMPLE.replace("4711", "47110")),)}, False),
    ],
)
def test_values_of_a_person_in_a_proposal(project, changed, is_found):
    Proposals(project).add(BASE.model_copy(update=changed))
    remains = found(project)
    assert bool(remains) is is_found
    if is_found:
        assert f"streamhouse proposals ID --remove, of {BASE.id}" in remains[0].remedy


def test_values_of_a_person_in_what_was_sent(project):
    part = {"content": json.dumps({"rows": [{"household_id": "4711"}]})}
    requests = json.dumps([{"messages": [{"parts": [part]}]}])
    with project.state() as state:
        state.proposals.send("feedfeedfeed", requests, datetime(2026, 3, 1, tzinfo=UTC))
    [one] = found(project)
    assert (one.where, one.what) == ("proposals, in the state store", "1 name it")
    Proposals(project).remove("feedfeedfeed")
    assert found(project) == []


def test_values_of_a_person_in_the_journal_of_a_topic(project):
    place = {"servers": "localhost:1", "topic": "shop.sales"}
    source = PlannedSource(name="sales", kind="cdc", options={"kafka": place}, columns=())
    key = KeyPart(columns=("household_id",), values=("4711",))
    texts = forget_remains._Texts.of(Forgetting(tables={"ods.sales": (key,)}, sources={}))
    segment = project.root / ".streamhouse" / "topics" / "shop.sales" / "7" / "00000001.jsonl"
    segment.parent.mkdir(parents=True)
    for household, expected in (("12", ["the source"]), ("4711", ["the source", "journal of the topic shop.sales"])):
        segment.write_text(
            f'{{"at":[0,1],"ms":1,"key":null,"value":{{"op":"c","after":{{"household_id":{household}}}}}}}\n'
        )
        remains = list(forget_remains._in_topic(SimpleNamespace(project=project), "the source", source, texts))
        assert [one.where for one in remains] == expected
    assert "1 events name it" in remains[1].what
    assert ".streamhouse/topics/shop.sales" in remains[1].remedy
