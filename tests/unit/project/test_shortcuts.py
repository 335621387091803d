"""What the last Spark of a project took is known without a Spark."""

import pytest

from streamhouse.project.shortcuts import TakenShortcuts, note_shortcuts, noted_shortcuts
from streamhouse.spark.shortcuts import Shortcut, Shortcuts

ALL = frozenset(Shortcut)


def test_it_is_kept_with_the_project(tmp_path):
    assert noted_shortcuts(tmp_path) is None
    refused = {Shortcut.LOG_FILES: "the logs have checksums"}
    taken = TakenShortcuts.of("4.1.4", Shortcuts(ALL - {Shortcut.LOG_FILES, Shortcut.CARRIER}, refused))
    note_shortcuts(tmp_path, taken)
    assert noted_shortcuts(tmp_path) == taken
    assert str(taken) == (
        "shortcuts of Spark 4.1.4: session_copy, standing_queries, driver_tasks, stream_source on; "
        "carrier off (not asked for, or what it goes through is off); log_files off (the logs have checksums)"
    )


def test_all_or_none(tmp_path):
    assert TakenShortcuts.of("4.1.4", Shortcuts()).off == {}
    assert str(TakenShortcuts.of("4.1.4", Shortcuts(frozenset()))).startswith(
        "shortcuts of Spark 4.1.4: none on; carrier"
    )


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"spark": 1}'])
def test_what_is_damaged_is_nothing(tmp_path, text):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "shortcuts.json").write_text(text)
    assert noted_shortcuts(tmp_path) is None


def test_where_nothing_can_be_written_nobody_minds(tmp_path):
    (tmp_path / "file").touch()
    note_shortcuts(tmp_path / "file", TakenShortcuts.of("4.1.4", Shortcuts()))
