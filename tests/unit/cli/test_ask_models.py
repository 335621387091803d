"""`streamhouse ask` with a language model: what it took, what was sent, and that its words command no terminal."""

import json
import re

import pytest

from streamhouse.cli.main import main
from streamhouse.cli.output import plain
from streamhouse.planner.proposals import Proposals
from streamhouse.project.project import Project
from tests.scripted_models import COUNT, UNKNOWN, Script, write_shop

pytest.importorskip("pydantic_ai")
WISH = "blorps per quux"


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("pydantic_ai.models.ALLOW_MODEL_REQUESTS", False)
    monkeypatch.delenv("STREAMHOUSE_STATE", raising=False)
    write_shop(tmp_path)

    def answered(*arguments, script=()):
        if script:
            monkeypatch.setattr("streamhouse.planner.models.connect.open_model", lambda *_: Script(*script).model)
        code = main(["ask", "--project", str(tmp_path), *arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return answered


def test_what_it_took_is_shown(run):
    code, out, err = run(WISH, script=[UNKNOWN, COUNT])
    assert code == 0
    assert re.search(r"asked openai:scripted: 2 tries, 200 tokens in, 20 out, \d+\.\d", out)
    assert "price unknown" in out
    assert "openai:scripted read the wish" in out
    assert "asking openai:scripted" in err


def test_that_the_model_is_away_is_said_on_standard_error(run, monkeypatch):
    for name in ("STREAMHOUSE_MODEL_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    code, out, err = run(WISH)
    assert code == 4
    assert "the wish was read offline" in out
    assert "'openai:scripted' cannot be asked" in err


def test_words_of_a_model_command_no_terminal(run):
    refusal = "\x1b]0;owned\x07\x1b[2J\u202eno \x9b31m"
    questions = [{"text": "which\x1b[2J?", "phrase": "x", "choices": ["a\x1b"]}]
    for answer in ({"refusal": refusal}, {"questions": questions}):
        for options in ((), ("--model", "on"), ("--model", "on", "--json")):
            _, out, err = run(WISH, *options, script=[{"understood": answer}])
            assert not set("\x1b\x07\x9b\u202e") & set(out + err)


def test_output_shows_no_control_characters():
    assert plain("a\x1b[2Jb\x00\x9b\u202ec\td\ne é 漢") == "a�[2Jb���c\td\ne é 漢"


def test_what_was_sent_can_be_shown(run):
    _, out, _ = run(WISH, "--show-sent", script=[UNKNOWN, COUNT])
    shown = out[out.index("sent for proposal") :]
    assert shown.count("You read one wish for data") == 1
    assert shown.count(f'"wish": "{WISH}"') == 1
    assert "there is no table 'ods.nothing'" in shown
    code, later, _ = run("--show-sent")
    assert code == 0
    assert later == out[out.index("\nsent for proposal") :]
    proposal = out.split("sent for proposal ")[1].split()[0]
    document = json.loads(run(proposal, "--show-sent", "--json")[1])
    assert document["proposal"] == proposal
    assert len(document["sent"][0]["requests"]) == 2


def test_what_was_sent_can_be_shown_though_it_was_interrupted(run, monkeypatch):
    def interrupt():
        raise KeyboardInterrupt

    script = Script(COUNT, before=interrupt)
    monkeypatch.setattr("streamhouse.planner.models.connect.open_model", lambda *_: script.model)
    assert run(WISH)[0] == 130
    code, out, _ = run("--show-sent")
    assert code == 0
    assert out.startswith("\nsent for a wish that has no proposal at ")
    assert f'"wish": "{WISH}"' in out
    document = json.loads(run("--show-sent", "--json")[1])
    assert document["proposal"] is None
    assert len(document["sent"][0]["requests"]) == 1


def test_when_nothing_was_sent_it_says_so(run):
    assert run("--show-sent") == (0, "", "nothing was sent to a model\n")


def test_of_a_proposal_for_which_nothing_was_sent_it_says_so_and_reads_no_wish(run, tmp_path):
    _, out, _ = run("number of sales per store id", "--model", "off", "--json")
    proposal = json.loads(out)["id"]
    before = Proposals(Project.at(tmp_path)).all()
    assert run(proposal, "--show-sent") == (0, "", f"nothing was sent to a model for proposal {proposal}\n")
    assert json.loads(run(proposal, "--show-sent", "--json")[1]) == {"proposal": proposal, "sent": []}
    code, _, err = run("0123456789ab", "--show-sent")
    assert code == 4
    assert "SH706 unknown proposal '0123456789ab'" in err
    assert Proposals(Project.at(tmp_path)).all() == before


def test_a_name_that_is_no_model_is_a_wrong_use(run):
    code, _, err = run(WISH, "--model", "gpt")
    assert code == 2
    assert "write provider:name" in err
