"""Functions and modules of the product are small: a reader sees each as a whole.

A function's lines are counted from `def` to its last one, without its docstring. One of more than `LINES` is long;
some may be, such as a list of what a command takes. No module has more than `MODULE_LINES`.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.parsed import nodes_of

PLUGINS = Path(__file__).parents[2] / "plugins"
SOURCES = sorted(PLUGINS.rglob("*.py"))
LINES = 20
MODULE_LINES = 500
SHORT = 0.94
"""Share of functions that must be short, at least."""


def lengths(text: str) -> Iterator[tuple[int, str]]:
    """Lines and name of each function of a module, also of those within others."""
    for node in nodes_of(text):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield (node.end_lineno or node.lineno) - node.lineno + 1 - documented(node), node.name


def documented(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a docstring."""
    first = node.body[0]
    is_text = (
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    )
    return (first.end_lineno or first.lineno) - first.lineno + 1 if is_text else 0


def test_most_functions_are_short() -> None:
    found = [(lines, name, file) for file in SOURCES for lines, name in lengths(file.read_text())]
    long = sorted((one for one in found if one[0] > LINES), reverse=True)
    share = 1 - len(long) / len(found)
    longest = "\n".join(f"{lines:4} {file.relative_to(PLUGINS)}: {name}" for lines, name, file in long[:40])
    assert share >= SHORT, f"{len(long)} of {len(found)} functions have more than {LINES} lines:\n{longest}"


def test_no_module_is_large() -> None:
    lines = {file.relative_to(PLUGINS).as_posix(): len(file.read_text().splitlines()) for file in SOURCES}
    assert {name: count for name, count in lines.items() if count > MODULE_LINES} == {}


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("def one(): ...", [1]),
        ("@decorated\ndef two(\n    a,\n): ...", [3]),
        ('def told():\n    """Says\n\n    much.\n    """\n    return 1', [2]),
        ("async def outer():\n    def inner():\n        return 1\n\n    return inner", [5, 2]),
        ("class A:\n    def method(self):\n        'text'\n        return 1", [2]),
    ],
)
def test_lines_are_counted_without_what_documents_them(text: str, lines: list[int]) -> None:
    assert [count for count, _ in lengths(text)] == lines
