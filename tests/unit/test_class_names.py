"""One name, one class: who reads a name anywhere knows which class is meant, and a search finds one."""

import ast
from collections import defaultdict
from pathlib import Path

import pytest

from tests.parsed import nodes_of

PLUGINS = Path(__file__).parents[2] / "plugins"

REQUIRED = frozenset({"Java"})  # py4j looks for a class of this name within each class that it hands to the JVM


def shared_names(root: Path) -> dict[str, list[str]]:
    """Name → modules, of classes that share a name: public and private, also those within classes and functions."""
    found = defaultdict(list)
    for file in sorted(root.rglob("*.py")):
        for node in nodes_of(file.read_text(encoding="utf-8")):
            if isinstance(node, ast.ClassDef) and node.name not in REQUIRED:
                found[node.name].append(file.relative_to(root).as_posix())
    return {name: modules for name, modules in found.items() if len(modules) > 1}


@pytest.fixture(scope="module")
def shared():
    return shared_names(PLUGINS)


def test_no_two_classes_share_a_name(shared):
    assert shared == {}


def test_a_second_class_of_a_name_is_found(tmp_path):
    (tmp_path / "one.py").write_text("class Cut:\n    class Java: ...\n\n\nclass _Own: ...\n")
    (tmp_path / "two.py").write_text("class Cut: ...\n\n\ndef own():\n    class _Own: ...\n\n\nclass Java: ...\n")
    assert shared_names(tmp_path) == {"Cut": ["one.py", "two.py"], "_Own": ["one.py", "two.py"]}
