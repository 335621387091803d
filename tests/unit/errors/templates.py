"""The messages and hints that our source can print, as patterns, by the class of the error that carries them."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.parsed import nodes_of, tree_of

ANY = r"[\s\S]+"
_PLACE = r"(?:\S+:\d+:\d+: )?"


@dataclass(frozen=True)
class Site:
    """A call that makes an error: pattern of its message; pattern of its hint, None where it gives none."""

    message: str
    hint: str | None


class Templates:
    """Where each class of error is made. A class whose constructor makes the message itself has one site."""

    def __init__(self, sites: dict[str, list[Site]], parents: dict[str, str]) -> None:
        self._sites = sites
        self._parents = parents

    @classmethod
    def of(cls, package: Path) -> "Templates":
        """Of every module under `package`."""
        sites: dict[str, list[Site]] = {}
        parents: dict[str, str] = {}
        texts = [path.read_text() for path in sorted(package.rglob("*.py"))]
        own: dict[str, Site] = {}
        for text in texts:
            for node in nodes_of(text):
                if isinstance(node, ast.ClassDef):
                    for base in node.bases:
                        parents[node.name] = ast.unparse(base)
                    for site in _constructed(node):
                        own[node.name] = site
        for text in texts:
            constants = _constants(tree_of(text))
            for node in nodes_of(text):
                name = _called(node)
                if name is not None and isinstance(node, ast.Call):
                    site = own.get(name) or _site(node, constants)
                    sites.setdefault(name, []).append(site)
                for code, site in _by_code(node, constants):
                    sites.setdefault(code, []).append(site)
        return cls(sites, parents)

    def messages(self, name: str) -> list[str]:
        """Patterns of what the class, or a subclass without a code of its own, may say."""
        return [site.message for site in self._all(name)]

    def accept(self, name: str, code: str, example: str) -> bool:
        """Whether one site of the class prints `example`."""
        text, _, hint = example.partition("\n  hint: ")
        return any(
            re.fullmatch(f"{_PLACE}{code} {site.message}", text)
            and (re.fullmatch(site.hint, hint) if hint and site.hint else not hint)
            for site in (*self._all(name), *self._sites.get(code, ()))
        )

    def _all(self, name: str) -> Iterator[Site]:
        yield from self._sites.get(name, ())
        for sub, parent in self._parents.items():
            if parent == name and sub in ("TableUnfinishedError", "LeaderMovedError"):
                yield from self._all(sub)


def _called(node: ast.AST) -> str | None:
    if not isinstance(node, ast.Call):
        return None
    name = getattr(node.func, "id", None) or getattr(node.func, "attr", None)
    return name if name is not None and re.search(r"(Error|Problem)$", name) else None


def _by_code(node: ast.AST, constants: dict[str, ast.expr]) -> Iterator[tuple[str, Site]]:
    """Calls that name a code instead of a class: `_problem(status, "SH600", message, hint)`."""
    code = node.args[1] if isinstance(node, ast.Call) and len(node.args) == 4 else None
    if isinstance(node, ast.Call) and isinstance(code, ast.Constant) and re.fullmatch(r"SH\d{3}", str(code.value)):
        message, hint = (_pattern(each, constants) for each in node.args[2:])
        yield str(code.value), Site(message, hint)


def _constructed(of: ast.ClassDef) -> Iterator[Site]:
    for line in of.body:
        if isinstance(line, ast.FunctionDef) and line.name == "__init__":
            for node in ast.walk(line):
                is_super = isinstance(node, ast.Call) and ast.unparse(node.func) == "super().__init__"
                if is_super and isinstance(node, ast.Call) and of.name != "StreamhouseError":
                    yield _site(node, {})


def _site(call: ast.Call, constants: dict[str, ast.expr]) -> Site:
    hints = [keyword.value for keyword in call.keywords if keyword.arg == "hint"]
    message = _pattern(call.args[0], constants) if call.args else ANY
    return Site(message, _pattern(hints[0], constants) if hints else None)


def _constants(tree: ast.Module) -> dict[str, ast.expr]:
    return {
        target.id: line.value
        for line in tree.body
        if isinstance(line, ast.Assign)
        for target in line.targets
        if isinstance(target, ast.Name)
    }


def _pattern(value: ast.expr, constants: dict[str, ast.expr]) -> str:
    match value:
        case ast.Constant(value=str(text)):
            return re.escape(text)
        case ast.JoinedStr(values=parts):
            return "".join(_pattern(part, constants) for part in parts)
        case ast.FormattedValue(value=ast.Name(id=name)) if name in constants:
            return _pattern(constants[name], constants)
        case ast.FormattedValue():
            return r"[\s\S]*"
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _pattern(left, constants) + _pattern(right, constants)
        case ast.IfExp(body=body, orelse=orelse):
            return f"(?:{_pattern(body, constants)}|{_pattern(orelse, constants)})"
        case ast.Name(id=name) if name in constants:
            return _pattern(constants[name], {})
    return ANY
