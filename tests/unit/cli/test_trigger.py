"""`streamhouse trigger` that goes on looking."""

import pytest

from streamhouse.cli.init import write_project
from streamhouse.cli.main import main
from streamhouse.project.desired import desired_plans
from streamhouse.project.project import Project
from streamhouse.runtime.lost_tables import SeenLosses


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.delenv("STREAMHOUSE_STATE", raising=False)
    monkeypatch.chdir(tmp_path)
    write_project(tmp_path)
    project = Project.at(tmp_path)
    with project.state() as state:
        state.save_plan(desired_plans(project)["orders"])
    return project


def test_losses_are_looked_for_less_often_the_longer_a_look_takes(project, monkeypatch):
    now, looks = [0.0], []

    def look(*_):
        looks.append(now[0])
        now[0] += 1.0
        return SeenLosses()

    def sleep(seconds):
        now[0] += seconds
        if now[0] > 60:
            raise KeyboardInterrupt

    monkeypatch.setattr("streamhouse.cli.trigger.seen_losses", look)
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    monkeypatch.setattr("time.sleep", sleep)
    assert main(["trigger", "--every", "5"]) == 130
    assert looks == [0.0, 21.0, 42.0]
