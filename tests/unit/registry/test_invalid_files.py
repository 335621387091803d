"""What a person reads when a file is wrong: every message stands in a golden file beside its cause."""

from pathlib import Path

import pytest

from streamhouse.errors import DefinitionError, StreamhouseError
from streamhouse.registry.problems import flat
from streamhouse.registry.read_action import read_action
from streamhouse.registry.read_flow import read_flow
from tests.golden import Golden
from tests.tables import each

FILES = sorted(f for f in (Path(__file__).parents[2] / "fixtures/invalid").iterdir() if f.suffix in (".yaml", ".sql"))


def refusal(file: Path) -> StreamhouseError:
    text = file.read_text(encoding="utf-8")
    read, folder = (read_action, "actions") if file.suffix == ".sql" else (read_flow, "flows")
    with pytest.raises(StreamhouseError) as refused:
        read(text, f"{folder}/{file.name}")
    return refused.value


@each("file", FILES, ids=lambda f: f.name)
def test_message(file: Path, golden: Golden) -> None:
    golden(f"{refusal(file)}\n", file.with_suffix(file.suffix + ".err.txt"))


@each("file", FILES, ids=lambda f: f.name)
def test_every_error_has_a_place_in_the_file_and_a_remedy(file: Path) -> None:
    lines = file.read_text(encoding="utf-8").split("\n")
    for error in flat([refusal(file)]):
        assert isinstance(error, DefinitionError)
        assert error.at is not None
        assert error.hint, f"no hint: {error}"
        assert 1 <= error.at.line <= len(lines)
        assert 1 <= error.at.column <= len(lines[error.at.line - 1]) + 1


def test_every_code_of_files_has_several_cases() -> None:
    codes = [error.code for file in FILES for error in flat([refusal(file)])]
    for code in ("SH101", "SH102", "SH103", "SH104", "SH203", "SH206", "SH207", "SH208"):
        assert codes.count(code) >= 2, f"{code}: {codes.count(code)}"


def test_every_message_belongs_to_a_file() -> None:
    messages = {f.name for f in FILES[0].parent.glob("*.err.txt")}
    assert messages == {f"{f.name}.err.txt" for f in FILES}
