"""What `upkeep` and `capture status` say of journals, and of databases in which there is no session."""

import json

import pytest

from streamhouse.capture.calls import CaptureStatus
from streamhouse.cli.init import write_project
from streamhouse.cli.main import main
from streamhouse.jobs.upkeep import UpkeepRound

JOURNAL = ".streamhouse/topics/shop.orders"


@pytest.fixture
def project(tmp_path, monkeypatch):
    write_project(tmp_path)
    monkeypatch.chdir(tmp_path)


def test_upkeep_says_what_became_shorter(project, monkeypatch, capsys):
    done = UpkeepRound(journals={JOURNAL: (128_000_000, 3_000)})
    monkeypatch.setattr("streamhouse.jobs.upkeep.keep_up", lambda *_, **__: done)
    assert main(["upkeep"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert f"journal {JOURNAL}: 128,000,000 → 3,000 bytes" in printed
    assert "nothing to keep" not in printed
    assert main(["upkeep", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["journals"] == {JOURNAL: {"before_bytes": 128_000_000, "after_bytes": 3_000}}


def test_capture_status_says_why_there_is_no_session(project, monkeypatch, capsys):
    away, remedy = "the server has no such database: FATAL", "see 'database'"
    status = CaptureStatus("shop", None, {}, 0, (), (), {}, away, remedy, ())
    monkeypatch.setattr("streamhouse.capture.calls.status", lambda *_: [status])
    assert main(["capture", "status"]) == 0
    assert f"shop: {away} ({remedy})" in " ".join(capsys.readouterr().out.split())
    assert main(["capture", "status", "--json"]) == 0
    [found] = json.loads(capsys.readouterr().out)["captures"]
    assert (found["away"], found["remedy"]) == (away, remedy)
