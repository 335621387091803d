"""Which shortcuts a session takes: those that are asked for, and of these those that a probe found right."""

import pytest

from streamhouse.project.settings import SparkSettings
from streamhouse.spark import probe
from streamhouse.spark.session_copy import once_for_each
from streamhouse.spark.shortcuts import NEEDS, Shortcut, Shortcuts, use_shortcuts, without_unmet

ALL = frozenset(Shortcut)


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("auto", ALL),
        ("off", set()),
        (False, set()),  # a plain `off` in YAML
        ([], set()),
        (["carrier", "log_files"], {Shortcut.CARRIER, Shortcut.LOG_FILES}),
    ],
)
def test_what_the_settings_ask_for(written, asked):
    assert SparkSettings.model_validate({"shortcuts": written}).requested_shortcuts == asked


def test_auto_is_the_default():
    assert SparkSettings().requested_shortcuts == ALL


@pytest.mark.parametrize("written", ["on", ["fast"], [Shortcut.DRIVER_TASKS, Shortcut.CARRIER], ["standing_queries"]])
def test_what_is_no_shortcut_or_goes_through_one_that_is_off_is_refused(written):
    with pytest.raises(ValueError, match=r"shortcuts|goes through"):
        SparkSettings.model_validate({"shortcuts": written})


def test_without_what_a_shortcut_goes_through_it_is_off_too():
    assert without_unmet(ALL) == ALL
    assert without_unmet(ALL - {Shortcut.CARRIER}) == ALL - {Shortcut.CARRIER, *NEEDS}
    assert without_unmet(ALL - {Shortcut.STANDING_QUERIES}) == ALL - {*NEEDS}


class Context: ...


class Session:
    def __init__(self):
        self.sparkContext = Context()


def test_what_is_made_once_for_a_session_is_made_again_with_other_shortcuts():
    made = once_for_each(lambda session: object())
    session = Session()
    first = made(session)
    assert made(session) is first
    use_shortcuts(session, Shortcuts(ALL - {Shortcut.DRIVER_TASKS}))
    second = made(session)
    assert second is not first
    assert made(session) is second
    assert made(Session()) is not second


class Probes:
    """In place of those that ask Spark: notes which ran, and fails where told to."""

    def __init__(self, monkeypatch):
        self.ran, self.failing = [], set()
        monkeypatch.setattr(probe, "_PROBES", {one: self.of(one) for one in Shortcut})

    def of(self, shortcut):
        def run(_spark):
            self.ran.append(shortcut)
            if shortcut in self.failing:
                raise LookupError("no such class")

        return run


@pytest.fixture
def probes(monkeypatch):
    return Probes(monkeypatch)


def test_what_is_right_is_tried_once_for_one_spark(probes, tmp_path):
    said = []
    assert probe.tried(None, ALL, tmp_path / "spark", said.append).on == ALL
    assert probes.ran == list(Shortcut)
    assert said == ["trying faster ways through Spark, once"]
    assert probe.tried(None, ALL, tmp_path / "spark", said.append).on == ALL
    assert (len(probes.ran), len(said)) == (len(Shortcut), 1)
    probe.tried(None, ALL, tmp_path / "other")
    assert len(probes.ran) == 2 * len(Shortcut)


def test_one_that_fails_is_off_with_its_reason_and_tried_again_at_the_next_start(probes, tmp_path):
    probes.failing = {Shortcut.STANDING_QUERIES}
    found = probe.tried(None, ALL, tmp_path)
    assert found.on == ALL - {Shortcut.STANDING_QUERIES, Shortcut.DRIVER_TASKS}
    assert found.refused == {Shortcut.STANDING_QUERIES: "no such class"}
    probes.failing, probes.ran = set(), []
    assert probe.tried(None, ALL, tmp_path).on == ALL
    assert probes.ran == [Shortcut.STANDING_QUERIES]


def test_what_is_not_asked_for_is_not_tried(probes, tmp_path):
    assert probe.tried(None, frozenset(), tmp_path).on == set()
    assert probe.tried(None, frozenset({Shortcut.CARRIER}), tmp_path).on == {Shortcut.CARRIER}
    assert probes.ran == [Shortcut.CARRIER]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"x": 1}', "null"])
def test_a_memory_that_is_damaged_is_forgotten(probes, tmp_path, text):
    (tmp_path / "shortcuts.json").write_text(text)
    assert probe.tried(None, ALL, tmp_path).on == ALL
    assert probes.ran == list(Shortcut)


def test_where_nothing_can_be_remembered_they_are_tried_each_time(probes, tmp_path):
    (tmp_path / "file").touch()
    for _ in range(2):
        assert probe.tried(None, ALL, tmp_path / "file" / "spark").on == ALL
    assert len(probes.ran) == 2 * len(Shortcut)
