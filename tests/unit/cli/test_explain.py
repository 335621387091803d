"""`streamhouse explain`: a code in any spelling, all of them, and one that does not exist."""

import json

import pytest

from streamhouse.cli.main import main
from streamhouse.errors.explanation import explanations


def printed(capsys, *arguments):
    code = main(["explain", *arguments])
    out = capsys.readouterr()
    return code, out.out, out.err


@pytest.mark.parametrize("code", ["SH404", "sh404", "404"])
def test_a_code(code, capsys):
    status, out, _ = printed(capsys, code)
    assert status == 0
    assert out.startswith("SH404  ")
    assert "\nCause\n  " in out
    assert "\n  SH404 bucket 3: offsets 120..180 are in no tier\n    hint: raise" in out
    assert "\nRemedy\n  " in out


def test_a_code_as_json(capsys):
    status, out, _ = printed(capsys, "404", "--json")
    told = json.loads(out)
    assert (status, told["code"], told["exit_code"], told["retryable"]) == (0, "SH404", 5, False)
    assert all(told[key] for key in ("summary", "cause", "example", "remedy"))


def test_all_codes(capsys):
    status, out, _ = printed(capsys)
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()[1:]] == list(explanations())
    listed = json.loads(printed(capsys, "--json")[1])["codes"]
    assert [one["code"] for one in listed] == list(explanations())


def test_an_unknown_code_names_the_nearest(capsys):
    status, _, err = printed(capsys, "SH44")
    assert status == 2
    assert "unknown error code 'SH44'; did you mean SH404?" in err
    status, out, _ = printed(capsys, "nonsense", "--json")
    assert status == 2
    assert json.loads(out)["error"]["message"].startswith("unknown error code 'nonsense'; list all codes")
