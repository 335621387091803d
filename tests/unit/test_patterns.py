r"""Patterns say whether they take letters, digits and blanks of ASCII, or of every script.

To Python `\d` is a digit of any script, `\w` a letter of any, and without case the long s (U+017F) is an `s`.
Numbers, versions and words of ours are written in ASCII; names and texts of people are not. The reader of wishes has
its own rules.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.parsed import nodes_of

PACKAGE = Path(__file__).parents[2] / "plugins" / "streamhouse"
_CALLS = {
    "compile": 1,
    "match": 2,
    "fullmatch": 2,
    "search": 2,
    "findall": 2,
    "finditer": 2,
    "split": 3,
    "sub": 4,
    "subn": 4,
}
"""Function of `re` → where its flags stand among its arguments."""
_OF_A_SCRIPT = re.compile(r"\\[dDwW]|\\s|\(\?[a-zA-Z]*i", re.ASCII)
_NO_BLANK = re.compile(r"\[\^(?:\\.|[^\]\\])*\]", re.ASCII)  # more is excluded where it is of every script


def undecided(text: str) -> list[tuple[int, str]]:
    """Line and source of each pattern of a module that does not say of which scripts its characters are."""
    nodes = nodes_of(text)
    values = _values(nodes)
    found = [call for node in nodes if (call := _call_of_re(node)) is not None]
    patterns = [(call, list(_texts(call.args[0], values, set()))) for call in found]
    return [(call.lineno, ast.unparse(call)) for call, parts in patterns if _asks(call, parts) and not _says(call)] + [
        (node.value.lineno, ast.unparse(node.value))
        for node in nodes
        if isinstance(node, ast.keyword) and node.arg == "pattern" and _has_digits(node.value)
    ]


def _call_of_re(node: ast.AST) -> ast.Call | None:
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
        return None
    return node if ast.unparse(node.func.value) == "re" and node.func.attr in _CALLS else None


def _flags(call: ast.Call) -> str:
    assert isinstance(call.func, ast.Attribute)
    given = [*call.args[_CALLS[call.func.attr] :], *(one.value for one in call.keywords if one.arg == "flags")]
    return " ".join(map(ast.unparse, given))


def _asks(call: ast.Call, parts: list[str | bytes]) -> bool:
    """Whether the scripts matter to a pattern of text; that of bytes only knows ASCII."""
    texts = [one for one in parts if isinstance(one, str)]
    if not texts and parts:
        return False
    alike = re.search(r"\b(?:IGNORECASE|I)\b", _flags(call), re.ASCII) is not None
    return alike or any(_OF_A_SCRIPT.search(_NO_BLANK.sub(_but_blanks, one)) for one in texts)


def _but_blanks(excluded: re.Match[str]) -> str:
    return excluded[0].replace(r"\s", "")


def _says(call: ast.Call) -> bool:
    return re.search(r"\b(?:ASCII|A|UNICODE|U)\b", _flags(call), re.ASCII) is not None


def _has_digits(value: ast.expr) -> bool:
    """Whether pydantic, whose patterns have no flags, would take digits of every script."""
    return any(isinstance(one, str) and r"\d" in one for one in _texts(value, {}, set()))


def _values(nodes: tuple[ast.AST, ...]) -> dict[str, list[ast.expr]]:
    """Name → what it is given anywhere in a module."""
    found: dict[str, list[ast.expr]] = {}
    for node in nodes:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        value = getattr(node, "iter", None) or getattr(node, "value", None)
        for name in (one for target in targets if target is not None for one in ast.walk(target)):
            if isinstance(name, ast.Name) and isinstance(value, ast.expr):
                found.setdefault(name.id, []).append(value)
    return found


def _texts(value: ast.expr, values: dict[str, list[ast.expr]], seen: set[str]) -> Iterator[str | bytes]:
    """The texts of which an expression is made, also by way of names."""
    for node in ast.walk(value):
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
            yield node.value
        elif isinstance(node, ast.Name) and node.id not in seen:
            seen.add(node.id)
            for one in values.get(node.id, ()):
                yield from _texts(one, values, seen)


def test_each_pattern_says_of_which_scripts_its_characters_are():
    modules = [file for file in sorted(PACKAGE.rglob("*.py")) if file.relative_to(PACKAGE).parts[0] != "planner"]
    texts = {file: file.read_text(encoding="utf-8") for file in modules}
    found = [
        f"{file.relative_to(PACKAGE)}:{line}: {source}: add re.ASCII, or re.UNICODE for names and texts of people"
        for file, text in texts.items()
        if "re." in text or "pattern=" in text
        for line, source in undecided(text)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (r'_A = re.compile(r"\d+")', [1]),
        (r'_A = re.compile(r"\d+", re.ASCII)', []),
        (r'_A = re.compile(r"[\w-]+", re.MULTILINE)', [1]),
        (r'_A = re.compile(r"[\w-]+", re.MULTILINE | re.UNICODE)', []),
        (r'_A = re.compile(r"[^\W_]+")', [1]),
        (r'_A = re.compile(r"[^\s/]+ \S [0-9]")', []),
        (r'_A = re.compile(r"a\s*b")', [1]),
        ('_A = re.compile("minutes", re.IGNORECASE)', [1]),
        ('_A = re.compile("(?i)minutes")', [1]),
        (r'_A = re.compile(rb"\d+", re.IGNORECASE)', []),
        ('import re\n_D = r"\\d"\n_N = rf"{_D}+"\n_A = re.compile(_N)', [4]),
        ('_ALL = (r"\\w", "x")\nfor one in _ALL:\n    text = re.sub(one, "", text)', [3]),
        (r'_A = [re.compile(one) for one in (r"\d", "x")]', [1]),
        (r're.sub(r"\D", "", text)', [1]),
        (r're.sub(r"\D", "", text, flags=re.ASCII)', []),
        (r'port: str = Field(pattern=r"^\d+$")', [1]),
        (r'port: str = Field(pattern=r"^[0-9]+$")', []),
    ],
)
def test_a_pattern_that_does_not_say_it_is_found(text, lines):
    assert [line for line, _ in undecided(text)] == lines
