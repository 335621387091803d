"""Public functions that raise, and which of their errors their docstrings do not name. From the syntax tree."""

import ast
import builtins
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tests.parsed import tree_of

_SECTION = re.compile(r"^Raises:\n((?:    .*(?:\n|$)|\n)+)", re.MULTILINE)
_REFERENCE = re.compile(r"[Ss]ee `(\w+\.\w+)`")
_NEVER_SEEN = {"AssertionError", "NotImplementedError"}  # a fault of ours, and a method that subclasses write
ANY = "an error"  # the result of a helper or a variable: the docstring must name some error
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Raising:
    """A function, or `Class.method`, with the errors that it raises itself and those that its docstring names."""

    module: str
    name: str
    raised: frozenset[str]
    documented: frozenset[str]

    @property
    def missing(self) -> frozenset[str]:
        missing = self.raised - self.documented
        return missing - {ANY} if self.documented else missing


def raising(modules: Iterable[tuple[str, str]]) -> list[Raising]:
    """Every public function of `(name, source)` that has a `raise` of its own.

    Where a docstring says "See `Class.method`", what is documented there counts too. The docstring of a command is its
    help, so commands are left out.
    """
    functions = [(module, *found) for module, source in modules for found in _public(tree_of(source), "")]
    documented = {name: _documented(function) for _, name, function in functions}
    found = []
    for module, name, function in functions:
        raised = frozenset(_raised(function.body, frozenset())) - _NEVER_SEEN
        if raised and not _is_command(function):
            named = set(_documented(function))
            for reference in _REFERENCE.findall(ast.get_docstring(function) or ""):
                named |= documented.get(reference, frozenset())
            found.append(Raising(module, name, raised, frozenset(named)))
    return found


def _public(node: ast.Module | ast.ClassDef, prefix: str) -> Iterator[tuple[str, Function]]:
    for inner in node.body:
        if isinstance(inner, ast.ClassDef | Function) and not inner.name.startswith("_"):
            if isinstance(inner, ast.ClassDef):
                yield from _public(inner, f"{inner.name}.")
            else:
                yield f"{prefix}{inner.name}", inner


def _is_command(function: Function) -> bool:
    return any(re.search(r"\.?(command|group)\(", ast.unparse(one)) for one in function.decorator_list)


def _documented(function: Function) -> frozenset[str]:
    section = _SECTION.search(ast.get_docstring(function) or "")
    before_colons = re.findall(r"^    ([\w., ]+):", section[1], re.MULTILINE) if section else []
    return frozenset(name.rpartition(".")[2] for names in before_colons for name in names.split(", "))


def _raised(body: Iterable[ast.AST], caught: frozenset[str]) -> Iterator[str]:
    """Classes raised here, without nested functions and without those that are caught here again."""
    for node in body:
        if isinstance(node, ast.Raise) and node.exc is not None:
            name = ast.unparse(node.exc.func if isinstance(node.exc, ast.Call) else node.exc).rpartition(".")[2]
            if not re.match("[A-Z]", name):
                yield ANY
            elif not caught & _with_bases(name):
                yield name
        elif isinstance(node, ast.Try):
            here = {name for handler in node.handlers for name in _names(handler.type)}
            yield from _raised(node.body, caught | here)
            yield from _raised([*node.handlers, *node.orelse, *node.finalbody], caught)
        elif not isinstance(node, Function | ast.ClassDef | ast.Lambda):
            yield from _raised(ast.iter_child_nodes(node), caught)


def _names(kinds: ast.expr | None) -> list[str]:
    if kinds is None:
        return ["BaseException"]
    parts = kinds.elts if isinstance(kinds, ast.Tuple) else [kinds]
    return [ast.unparse(part).rpartition(".")[2] for part in parts]


def _with_bases(name: str) -> set[str]:
    kind = getattr(builtins, name, Exception)
    return {name, *(base.__name__ for base in kind.__mro__)} if isinstance(kind, type) else {name}
