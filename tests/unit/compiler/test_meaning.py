"""Meanings are checked against the tables that they are said of; what is wrong with them stops no flow."""

from pathlib import Path

import pytest

from streamhouse.cli.main import main
from streamhouse.compiler.measures import measure_type
from streamhouse.model.table import Column
from streamhouse.project.check import Checked, check_project
from streamhouse.project.project import Project
from tests.golden import Golden

FIXTURE = Path(__file__).parents[2] / "fixtures/meaning"
WORDS = FIXTURE.with_name("meaning_words")


@pytest.fixture
def checked() -> Checked:
    return check_project(Project.at(FIXTURE))


def test_messages(checked: Checked, golden: Golden) -> None:
    golden("".join(f"{found}\n" for found in (*checked.meaning, *checked.notices)), FIXTURE / "messages.txt")


def test_every_message_has_a_place_and_a_remedy(checked: Checked) -> None:
    for error in checked.meaning:
        assert error.at is not None
        assert error.hint or error.code in {"SH104", "SH210"}, error
        lines = (FIXTURE / error.at.file).read_text().split("\n")
        assert lines[error.at.line - 1][error.at.column - 1 :].strip()


def test_words_are_not_blank_and_not_there_twice_and_levels_go_from_coarse_to_fine(golden: Golden) -> None:
    found = check_project(Project.at(WORDS))
    assert found.errors == ()
    golden("".join(f"{one}\n" for one in (*found.meaning, *found.notices)), WORDS / "messages.txt")
    for error in found.meaning:
        assert error.at is not None
        assert error.hint, error
        assert error.at.line > 1, error


def test_a_wrong_meaning_stops_no_flow(checked: Checked) -> None:
    assert checked.errors == ()
    assert list(checked.plans) == ["bikes"]


def test_what_fits_one_table_of_an_action_is_right(checked: Checked) -> None:
    assert not any("'note'" in str(error) for error in checked.meaning)


def test_validate_tells_and_fails(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(FIXTURE)
    assert main(["validate"]) == 3
    assert "flows/bikes.yaml:13:15: SH202 ods.stations has no column 'lable'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("COUNT(*)", "bigint"),
        ("SUM(cents) / 100", "double"),
        ("SUM(cents)", "bigint"),
        ("COUNT(DISTINCT name)", "bigint"),
        ("SUM(cents) FILTER (WHERE name = 'a') / 100", "double"),
        ("MAX(name)", "string"),
        ("ROUND(SUM(cents) * 100.0 / COUNT(*), 2)", "decimal(27,2)"),
    ],
)
def test_types_of_measures(sql: str, kind: str) -> None:
    assert measure_type(sql, (Column(name="cents", type="bigint"), Column(name="name", type="string"))) == kind
