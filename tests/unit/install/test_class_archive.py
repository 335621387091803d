"""Archives of classes are used where they are, and JVMs start without them where none can be made."""

from pathlib import Path

import pytest

from streamhouse.install.class_archive import Exercise, archives, key_of
from streamhouse.install.java import JavaInstallation

WRITES = "import os; from pathlib import Path; [Path(os.environ['TO'], f'{name}.jsa').touch() for name in ('a', 'b')]"
FIRST = ["preparing Moon's classes, once"]


def tried(folder, code=WRITES):
    said = []
    work = Exercise("Moon's classes", code, lambda to: {"TO": str(to)})
    return archives(folder, ["a", "b"], work, lambda stage: said.append(stage.text)), said


def test_the_first_makes_them_and_the_next_one_uses_them(tmp_path):
    (options, said), again = tried(tmp_path / "x"), tried(tmp_path / "x", "raise AssertionError")
    assert {name: first for name, (first, *_) in options.items()} == {
        name: f"-XX:SharedArchiveFile={tmp_path / 'x' / name}.jsa" for name in ("a", "b")
    }
    assert (said, again) == (FIRST, (options, []))
    assert sorted(one.name for one in (tmp_path / "x").iterdir()) == [".lock", "a.jsa", "b.jsa"]


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("raise ValueError('no moon')", "exit 1"),
        (f"{WRITES}; raise ValueError('no moon')", "exit 1"),
        ("print('no moon')", "no archive"),
        (WRITES.replace("'a', ", "") + "; print('no moon')", "no archive"),
    ],
    ids=["failed", "failed-at-the-end", "none", "one-of-two"],
)
def test_a_failure_is_written_down_and_not_tried_again(tmp_path, code, why):
    assert tried(tmp_path, code) == ({"a": [], "b": []}, FIRST)
    kept = (tmp_path / "classes.refused").read_text()
    assert kept.startswith(f"{why}\n")
    assert "no moon" in kept
    assert tried(tmp_path) == ({"a": [], "b": []}, [])
    assert list(tmp_path.glob("*.jsa")) == []


def test_where_nothing_can_be_written_there_are_none(tmp_path):
    (tmp_path / "file").touch()
    assert tried(tmp_path / "file" / "x") == ({"a": [], "b": []}, [])


def test_another_java_or_another_jar_has_another_key(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name / "lib").mkdir(parents=True)
        (tmp_path / name / "lib" / "modules").touch()
    one, two = (JavaInstallation(tmp_path / name, 17) for name in ("one", "two"))
    jar = tmp_path / "x.jar"
    keys = [key_of(one, (), [jar]), key_of(two, (), [jar]), key_of(one, ("more",), [jar]), key_of(one, (), [])]
    jar.touch()
    keys.append(key_of(one, (), [jar]))
    assert len(set(keys)) == len(keys)
    assert key_of(one, (), [Path(jar)]) == keys[-1]
