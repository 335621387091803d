"""Archaic words, and where people read: documents, help, error messages, the page."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import click

from streamhouse.cli.main import streamhouse
from tests.parsed import nodes_of, tree_of
from tests.unit.docs.tree import sub_command

ARCHAIC = (
    *("anew", "befall", "befalls", "befell", "whoever", "whomever", "whatsoever", "thither", "hither", "hitherto"),
    *("thence", "whence", "whither", "henceforth", "heretofore", "thereof", "therein", "wherein", "whereby", "lest"),
    *("amongst", "naught", "ails", "unto", "for ever", "those of now", "told", "tells", "held", "likewise"),
    *("stand still", "stands still", "stood still", "set aside", "sets aside", "the like", "in the place of"),
    *("as it stands", "as they stand"),
)
LEAVING = ("nobody", "stands in", "stand in")
"""Words that are not written any more; many modules still have them."""
UNNAMED = ("nobody", "somebody")
"""Words that name neither a user nor a program; the manual has them only in what people type, in quotes."""
_WORDS = re.compile(rf"\b(?:{'|'.join(ARCHAIC)})\b")
_LEAVING = re.compile(rf"\b(?:{'|'.join(LEAVING)})\b")
_UNNAMED = re.compile(rf"\b(?:{'|'.join(UNNAMED)})\b", re.IGNORECASE)
_QUOTED = re.compile(r'"[^"\n]*"')
_APART = re.compile(r"\b(?:tells?|told)(?: \w+){0,3} apart\b", re.IGNORECASE)  # this is how one says it
_CODE = re.compile(r"`[^`\n]+`|\]\([^)]*\)")


def archaic(text: str) -> list[str]:
    """The archaic words of a text, in lower case, each once; spans of code are not looked at."""
    return sorted(set(_WORDS.findall(_APART.sub(" ", _CODE.sub(" ", text)).lower())))


def leaving(text: str) -> int:
    """How often a text has one of the words `LEAVING`."""
    return len(_LEAVING.findall(text.lower()))


def unnamed(text: str) -> list[str]:
    """The words `UNNAMED` of a text, in lower case, each once; spans of code and quotes are not looked at."""
    return sorted({word.lower() for word in _UNNAMED.findall(_QUOTED.sub(" ", _CODE.sub(" ", text)))})


def helps() -> Iterator[tuple[str, str]]:
    """Each command and group, with everything that its `--help` prints and its group lists."""
    yield from _helps(streamhouse, "streamhouse")


def _helps(command: click.Command, name: str) -> Iterator[tuple[str, str]]:
    options = [getattr(one, "help", None) for one in command.params]
    yield name, "\n".join(filter(None, (command.help, command.short_help, command.epilog, *options)))
    for sub in command.list_commands(click.Context(command)) if isinstance(command, click.Group) else ():
        found = sub_command(command, sub)
        if found is not None:
            yield from _helps(found, f"{name} {sub}")


def texts(package: Path) -> Iterator[tuple[str, str]]:
    """Each module, with its literals of several words: messages, hints, reasons, descriptions; no docstrings."""
    for path in sorted(package.rglob("*.py")):
        found = list(_literals(tree_of(path.read_text())))
        if found:
            yield path.relative_to(package).as_posix(), "\n".join(found)


def remarks(package: Path) -> Iterator[tuple[str, str]]:
    """Each module that has an archaic word anywhere, with its docstrings and comments."""
    for path in sorted(package.rglob("*.py")):
        source = path.read_text()
        if not _WORDS.search(source.lower()):
            continue  # to find comments takes long
        statements = [node.value for node in nodes_of(source) if isinstance(node, ast.Expr)]
        tokens = tokenize.generate_tokens(io.StringIO(source).readline)
        found = [_text_of(one) for one in statements if isinstance(one, ast.Constant)]
        found += [token.string for token in tokens if token.type == tokenize.COMMENT]
        yield path.relative_to(package).as_posix(), "\n".join(found)


def page(static: Path) -> Iterator[tuple[str, str]]:
    """Each script of the page, with its texts: what stands in double quotes, and between tags."""
    for path in sorted((static / "js").rglob("*.js")):
        script = re.sub(r"\$\{[^{}]*\}", " ", path.read_text())
        texts = re.findall(r'"([^"\n]*)"|>([^<>{}`=;]+)<', script)
        yield path.name, "\n".join(one or other for one, other in texts)


def _literals(node: ast.AST) -> Iterator[str]:
    """Nodes that are statements by themselves are docstrings, or nothing."""
    for inner in ast.iter_child_nodes(node):
        text = _text_of(inner)
        if " " in text.strip():
            yield text
        if not isinstance(inner, ast.Expr) or not isinstance(inner.value, ast.Constant):
            yield from _literals(inner)


def _text_of(node: ast.AST) -> str:
    """A literal, or what an f-string says around its values."""
    if isinstance(node, ast.JoinedStr):
        return "".join(_text_of(part) or "…" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
