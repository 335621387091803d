"""What `streamhouse forget` refuses before it starts anything, and how its report ends."""

import pytest

from streamhouse.cli import forget as module
from streamhouse.cli.main import main
from streamhouse.jobs.forget import Forgotten, ForgottenTable
from streamhouse.jobs.forget_remains import Remains
from streamhouse.jobs.forget_search import TierRows
from streamhouse.model.types import Tier
from tests.shop_project import make_shop

FOUND = ForgottenTable(
    "dwd.sales",
    "shop",
    "copied",
    ("id",),
    ("as named",),
    (TierRows("dwd.sales", Tier.HOT, 2, 5), TierRows("dwd.sales", Tier.WARM, 2, 1, 4)),
    (TierRows("dwd.sales__v2", Tier.HOT, 0, 0), TierRows("dwd.sales__v2", Tier.WARM, 0, 0, 0)),
)


def forget(root, *words):
    return main(["forget", "dwd.sales", *words, "--project", str(root)])


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--key", "id"], "'id' is not COLUMN=VALUE"),
        (["--key", "id="], "'id=' is not COLUMN=VALUE"),
        (["--key", "id=1", "--key", "id=2", "--key", "note=x"], "there can be one person only"),
        (["--key", "id=1", "--also", "sales.id"], "'sales.id' is not TABLE.COLUMN"),
        (["--key", "id=1"], "add --yes, or look first with --dry-run"),
    ],
)
def test_wrong_words_are_a_usage_error(tmp_path, capsys, words, text):
    assert forget(make_shop(tmp_path), *words) == 2
    assert text in " ".join(capsys.readouterr().err.replace("│", " ").split())


def test_a_table_of_no_flow_that_ran_is_unknown(tmp_path, capsys):
    assert forget(make_shop(tmp_path), "--key", "id=1", "--yes") == 3
    assert "unknown table 'dwd.sales'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("remains", "code", "last"),
    [
        ((), 0, "proof: no tier, older snapshot, change log, file or source has the key any more"),
        ((Remains("source sales of shop", "3 rows", "delete them"),), 13, "still there: source sales of shop: 3 rows"),
    ],
)
def test_the_report_has_each_tier_and_ends_with_what_is_left(tmp_path, capsys, monkeypatch, remains, code, last):
    done = Forgotten((FOUND,), ("dwd.sales (hot, warm)",), remains)
    monkeypatch.setattr("streamhouse.jobs.forget.forget", lambda *_, **__: done)
    assert forget(make_shop(tmp_path), "--key", "id=1", "--key", "id=2", "--yes") == code
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "2 rows were removed"
    assert [line.split()[:7] for line in lines[2:4]] == [
        ["dwd.sales", "id", "hot", "2", "5", "0", "made"],
        ["dwd.sales", "id", "warm", "2", "1", "4", "0"],
    ]
    assert lines[-1].startswith(last)


def test_what_was_not_looked_at_is_no_proof(tmp_path, capsys, monkeypatch):
    done = Forgotten((FOUND,), (), (), unchecked=("the warm tier is no folder",))
    monkeypatch.setattr("streamhouse.jobs.forget.forget", lambda *_, **__: done)
    assert forget(make_shop(tmp_path), "--key", "id=1", "--yes") == 0
    *_, unchecked, last = capsys.readouterr().out.splitlines()
    assert unchecked == "not looked at: the warm tier is no folder"
    assert last.startswith("of all that was looked at, no tier")


def test_the_columns_of_a_key_are_read_in_their_order():
    assert module._keys(("b=1", "a=x=y")) == {"b": ("1",), "a": ("x=y",)}
