"""`streamhouse autopilot` over a project whose epochs are all full."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from streamhouse.cli.main import main
from streamhouse.project.project import Project
from streamhouse.runtime.owner import this_owner
from streamhouse.state.records import EpochRecord
from tests.shop import FLOW, made_world


@pytest.fixture
def world(tmp_path, monkeypatch):
    monkeypatch.delenv("STREAMHOUSE_STATE", raising=False)
    monkeypatch.chdir(tmp_path)
    with made_world(tmp_path, "off") as made:
        yield made


@pytest.fixture
def full(world):
    """The same after twelve epochs that read as many rows as they may."""
    world.flow("max_rows_per_epoch: 20\n")
    world.run()
    now = datetime.now(UTC)
    lease = world.state.acquire("shop", this_owner(), timedelta(hours=1), now)
    for number in range(12):
        at = round((now - timedelta(seconds=20 - number)).timestamp() * 1000)
        world.state.begin_epoch(lease, "main", number, at, now)
        start, end = ({"rows": {"a": n * 20}} for n in (number, number + 1))
        world.state.finish_epoch(
            lease,
            EpochRecord("shop", "main", number, at, at, at + 500, start, end, layer_visible_ms={"dws": at + 100}),
        )
    return world


def printed(capsys, *arguments):
    code = main(["autopilot", *arguments])
    return code, capsys.readouterr().out


def document(capsys, *arguments):
    code, text = printed(capsys, *arguments, "--json")
    return code, json.loads(text)


def test_where_no_flow_ever_ran(tmp_path, monkeypatch, capsys):
    (tmp_path / "flows").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("STREAMHOUSE_STATE", raising=False)
    assert printed(capsys, "suggest") == (0, "no flow ever ran, so there is nothing to look at\n")
    assert printed(capsys, "log") == (0, "no decisions yet; to look now: streamhouse autopilot suggest\n")
    assert document(capsys, "auto", "--once") == (
        0,
        {"mode": "auto", "flows": [], "proposals": [], "decisions": [], "unseen": {}, "failed": {}}
        | {"lost": [], "not_looked_at": {}},
    )
    assert not (tmp_path / ".streamhouse" / "state.db").exists()


@pytest.mark.parametrize("command", ["suggest", "auto", "log"])
def test_a_flow_that_is_not_there(world, capsys, command):
    code, text = printed(capsys, command, "shp", *(["--once"] if command == "auto" else []), "--json")
    assert code == 3
    assert json.loads(text)["error"]["hint"] == "did you mean 'shop'?"


def test_a_proposal_has_its_evidence(full, capsys):
    code, text = printed(capsys, "suggest", "shop")
    assert code == 0
    told = " ".join(text.split())
    assert "shop: 12 of 12 epochs read as many rows as they may (20), so rows wait" in told
    for part in (
        "compared full_epochs 12, epochs 12, max_rows_per_epoch 20, rows_per_second 40",
        "remedy let an epoch read 200 rows",
        "edit max_rows_per_epoch: 200",
        "outcome swap",
        "effect more rows are read in a second of work, measured for 10m",
        "auto would apply it now",
    ):
        assert part in told
    _, found = document(capsys, "suggest", "shop")
    one = next(one for one in found["proposals"] if one["kind"] == "small_epochs")
    assert (one["edits"], one["outcome"], one["before"]) == ({"max_rows_per_epoch": 200}, "swap", 40.0)
    assert full.state.autopilot.log() == [], "nothing is recorded"


def test_a_schedule_does_what_the_settings_say(full, capsys):
    assert document(capsys, "round")[1]["mode"] == "off"
    assert full.state.autopilot.log() == []
    (full.project.root / "streamhouse.yaml").write_text("autopilot: {mode: suggest}\n")
    _, found = document(capsys, "round")
    assert {(one["state"], one["reason"]) for one in found["decisions"]} >= {("suggested", "the mode is suggest")}
    _, told = document(capsys, "log", "shop")
    (small,) = [one for one in told["decisions"] if one["kind"] == "small_epochs"]
    assert (small["remedy"], small["numbers"]["epochs"]) == ("let an epoch read 200 rows", 12)
    assert "old_text" not in small
    assert main(["status", "shop"]) == 0
    assert "shop: the autopilot suggested: " in capsys.readouterr().out
    assert main(["status", "--json"]) == 0
    flows = {one["flow"]: one for one in json.loads(capsys.readouterr().out)["flows"]}
    assert "let an epoch read 200 rows" in [one["remedy"] for one in flows["shop"]["proposals"]]
    assert (full.project.root / "flows" / "shop.yaml").read_text() == FLOW + "max_rows_per_epoch: 20\n"


def test_limits_hold_for_the_command_too(full, capsys):
    (full.project.root / "streamhouse.yaml").write_text("autopilot: {changes_per_day: 0}\n")
    _, found = document(capsys, "auto", "--once")
    (small,) = [one for one in found["proposals"] if one["kind"] == "small_epochs"]
    assert small["why_not"] == "0 changes were applied in 24 hours, and no more than 0 may be"


def test_off_writes_the_mode_and_ends_a_loop(full, capsys):
    (full.project.root / "streamhouse.yaml").write_text("# mine\nautopilot:\n  mode: auto  # for now\n")
    assert printed(capsys, "off") == (0, "the autopilot is off\n")
    text = (full.project.root / "streamhouse.yaml").read_text()
    assert text == "# mine\nautopilot:\n  mode: off  # for now\n"
    assert Project.at(full.project.root).settings.autopilot.mode == "off"
    assert document(capsys, "off")[1] == {"mode": "off", "not_measured": []}


def test_a_time_that_is_none(world, capsys):
    assert main(["autopilot", "auto", "--every", "never"]) == 2


def test_suggest_says_that_it_suggests(full, capsys):
    _, found = document(capsys, "suggest")
    assert found["mode"] == "suggest"
    assert found["proposals"][0]["why_not"] is None, "the mode auto would apply it"
