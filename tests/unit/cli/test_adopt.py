"""A project knows its own place: what was copied is refused until it is adopted, what was moved goes on."""

import json
import shutil
from datetime import UTC, datetime, timedelta

import pytest

from streamhouse.cli.main import main
from streamhouse.project.identity import recorded
from streamhouse.project.project import Project
from streamhouse.runtime.owner import is_alive, this_owner
from streamhouse.state.flow_state import FlowState, see
from streamhouse.state.runners import WantedState


@pytest.fixture
def shop(tmp_path, monkeypatch, capsys):
    for name in ("STREAMHOUSE_STATE", "STREAMHOUSE_FLUSS"):
        monkeypatch.delenv(name, raising=False)
    root = tmp_path / "shop"
    assert main(["init", str(root)]) == 0
    with Project.at(root).state() as state:
        state.append_event("orders", "runner", "something happened")
    assert main(["status", "--project", str(root)]) == 0
    capsys.readouterr()
    return root


def status(root):
    return main(["status", "--json", "--project", str(root)])


def test_a_project_that_keeps_nothing_is_not_marked(tmp_path):
    assert main(["init", str(tmp_path / "new")]) == 0
    assert main(["validate", "--project", str(tmp_path / "new")]) == 0
    assert recorded(tmp_path / "new") is None


def test_a_copy_is_refused_with_its_remedy_until_it_is_adopted(shop, capsys):
    copy = shop.with_name("copy")
    shutil.copytree(shop, copy)
    assert status(copy) == 4
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["code"] == "SH309"
    assert f"streamhouse adopt --project {copy}" in error["hint"]
    assert main(["adopt", "--json", "--project", str(copy)]) == 0
    assert json.loads(capsys.readouterr().out)["adopted"] is True
    assert status(copy) == status(shop) == 0
    assert recorded(copy).id != recorded(shop).id


def test_a_copy_holds_no_flow_of_a_process_of_the_original(shop, capsys):
    now = datetime.now(UTC)
    with Project.at(shop).state() as state:
        state.acquire("orders", this_owner(), timedelta(hours=1), now, alive=is_alive)
        state.runners.ask("orders", WantedState.RUNNING, "test")
    copy = shop.with_name("copy")
    shutil.copytree(shop, copy)
    assert main(["adopt", "--project", str(copy)]) == 0
    with Project.at(copy).state() as state:
        assert see(state, "orders", alive=is_alive).state is FlowState.STOPPED
        assert state.runners.all(alive=is_alive) == []
    with Project.at(shop).state() as state:
        assert see(state, "orders", alive=is_alive).state is not FlowState.STOPPED


def test_a_copy_that_would_share_stores_is_not_adopted_by_itself(shop, capsys):
    (shop / "streamhouse.yaml").write_text("fluss: other:9123\n")
    copy = shop.with_name("copy")
    shutil.copytree(shop, copy)
    assert main(["adopt", "--project", str(copy)]) == 4
    assert f"the copy would write to the same Fluss as {shop}" in capsys.readouterr().err
    assert main(["adopt", "--shared", "--project", str(copy)]) == 0


def test_a_project_that_was_moved_goes_on_as_the_same(shop, capsys):
    before = recorded(shop)
    moved = shop.rename(shop.with_name("moved"))
    assert main(["status", "--project", str(moved)]) == 0
    assert f"this project was moved from {shop}" in capsys.readouterr().err
    assert (recorded(moved).id, recorded(moved).root) == (before.id, moved)
    assert main(["adopt", "--project", str(moved)]) == 0
    assert "nothing to do" in capsys.readouterr().out


def test_the_original_may_come_back_to_where_a_moved_one_was(shop):
    shutil.copytree(shop, shop.with_name("kept"))
    shop.rename(shop.with_name("moved"))
    assert status(shop.with_name("moved")) == 0
    shop.with_name("kept").rename(shop)  # a backup that is put back
    assert status(shop) == 0
    assert status(shop.with_name("moved")) == 0


def test_state_of_an_earlier_release_tells_where_it_was(shop, capsys):
    logs = shop / ".streamhouse" / "logs"
    logs.mkdir(exist_ok=True)
    (logs / "log4j2.properties").write_text(f"appender.file.fileName = {shop}/.streamhouse/logs/spark.log\n")
    (shop / ".streamhouse" / "place.json").unlink()
    copy = shop.with_name("copy")
    shutil.copytree(shop, copy)
    assert status(copy) == 4
    assert status(shop) == 0
    assert recorded(shop).id


@pytest.mark.parametrize("text", ["", "[]", "null", "5", '"x"', "{}", '{"id": [], "root": 5}', "\x00", "[" * 100_000])
def test_a_damaged_record_of_the_place_is_as_none(shop, capsys, text):
    file = shop / ".streamhouse" / "place.json"
    file.write_text(text)
    assert recorded(shop) is None
    assert status(shop) in (0, 4)
    json.loads(capsys.readouterr().out)
