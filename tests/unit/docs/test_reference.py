"""The generated pages of docs/reference/ are those of today's models and commands, and describe every key."""

import sys
from pathlib import Path

import pytest

from streamhouse.ingest.kinds import kinds, option_models

ROOT = Path(__file__).parents[3]
PAGES = ["flow.md", "action.md", "settings.md", "sources.md", "options.md", "sql.md", "types.md"]


@pytest.fixture(scope="module")
def reference():
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        import reference
    finally:
        sys.path.pop(0)
    return reference


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_what_the_script_writes(reference, name):
    written = (reference.REFERENCE / name).read_text(encoding="utf-8")
    assert written == reference.pages()[name], "run: .venv/bin/python scripts/reference.py"


def test_every_key_option_and_variable_is_described(reference):
    assert reference.undescribed() == []


def test_every_kind_of_source_has_its_options():
    assert sorted(option_models()) == sorted(kinds())


def test_a_key_without_a_description_is_found(reference, monkeypatch):
    monkeypatch.setattr(reference, "pages", lambda: {"flow.md": "| `owner` | string |  |  |"})
    assert reference.undescribed() == ["| `owner` | string |  |  |"]
