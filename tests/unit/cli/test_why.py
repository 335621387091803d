"""`streamhouse why` names the hop that takes the time, on the path of the table alone."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from streamhouse.cli.init import write_project
from streamhouse.cli.main import main
from streamhouse.project.desired import desired_plans
from streamhouse.project.project import Project
from streamhouse.state.records import EpochRecord, Owner

NOW = datetime.now(UTC)


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.delenv("STREAMHOUSE_STATE", raising=False)
    write_project(tmp_path, "cdc")
    return Project.at(tmp_path)


def ran(project, **visible_ms):
    with project.state() as state:
        state.save_plan(desired_plans(project)["customers"])
        lease = state.acquire("customers", Owner("here", 1, NOW), timedelta(minutes=5), NOW)
        at = int(NOW.timestamp() * 1000)
        state.begin_epoch(lease, "main", 0, at, NOW)
        layers = {layer: at + ms for layer, ms in visible_ms.items()}
        state.finish_epoch(
            lease, EpochRecord("customers", "main", 0, at, at + 5, max(layers.values()), layer_visible_ms=layers)
        )


def asked(capsys, project, *words, code=0):
    assert main(["why", *words, "--project", str(project.root)]) == code
    return capsys.readouterr()


def test_the_slowest_hop_on_the_path_of_a_table(project, capsys):
    ran(project, ods=100, dwd=900, dws=4000)
    shown = asked(capsys, project, "dws.orders_by_city").out.splitlines()
    assert shown[0].startswith("dws.orders_by_city (flow customers): ")
    assert [line.split()[:2] for line in shown if "slowest" in line] == [["dwd", "dws"]]
    assert any("dws was 4000 ms behind the source" in line for line in shown)
    above = asked(capsys, project, "dwd.orders").out
    assert [line.split()[:2] for line in above.splitlines() if "slowest" in line] == [["ods", "dwd"]]
    assert "dws.orders_by_city" not in above
    [flow] = json.loads(asked(capsys, project, "dwd.orders", "--json").out)["flows"]
    assert [(hop["before"], hop["layer"], hop["p50_ms"]) for hop in flow["hops"]] == [
        ("source", "ods", 100),
        ("ods", "dwd", 800),
    ]


def test_before_the_first_epoch_and_without_a_flow(project, tmp_path_factory, capsys):
    assert "no epoch has ended yet" in asked(capsys, project).out
    empty = tmp_path_factory.mktemp("empty")
    write_project(empty, "empty")
    assert asked(capsys, Project.at(empty)).out == "there is no flow yet\n"


@pytest.mark.parametrize(
    ("name", "text"), [("dwd.order", "did you mean 'dwd.orders'"), ("customer", "unknown flow 'customer'")]
)
def test_an_unknown_name(project, capsys, name, text):
    assert text in asked(capsys, project, name, code=3).err
