"""One name of a module, one value: a second assignment, as of a merge, would change what the code above it reads."""

import ast
from collections import Counter
from pathlib import Path

from tests.parsed import tree_of

PLUGINS = Path(__file__).parents[2] / "plugins"


def assigned_again(root: Path) -> dict[str, list[str]]:
    """Module → names that its top level assigns or defines more than once; decorated functions may be overloads."""
    found = {}
    for file in sorted(root.rglob("*.py")):
        names = Counter(name for node in tree_of(file.read_text(encoding="utf-8")).body for name in _names(node))
        if again := sorted(name for name, times in names.items() if times > 1):
            found[file.relative_to(root).as_posix()] = again
    return found


def _names(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [] if node.decorator_list else [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def test_no_module_names_two_things_alike():
    assert assigned_again(PLUGINS) == {}


def test_a_second_value_is_found(tmp_path):
    (tmp_path / "one.py").write_text("_SURE = 0.9\n\n\ndef f(): return _SURE\n\n\n_SURE: float = 0.8\n")
    (tmp_path / "two.py").write_text("_SURE = 0.9\n\n\ndef f():\n    _SURE = 1\n    return _SURE\n")
    assert assigned_again(tmp_path) == {"one.py": ["_SURE"]}
