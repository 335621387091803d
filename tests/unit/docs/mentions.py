"""What the documents name: code in backticks, lines of code blocks, links; each with its place."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(r"^```(\w*)$")
_INLINE = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Mention:
    """A piece of a document: `kind` is 'inline' (one span), 'line' (of a code block) or 'link'."""

    place: str
    kind: str
    text: str


@dataclass(frozen=True)
class Block:
    """A code block with the language after its fence, empty where it has none."""

    place: str
    language: str
    text: str


def documents(root: Path) -> list[Path]:
    """All documents: those in the root, the manual with its decisions, and the READMEs of examples and benchmarks."""
    others = ("docs/**/*.md", "examples/*/README.md", "benchmarks/*/README.md", "plugins/**/README.md")
    return [*sorted(root.glob("*.md")), *sorted(path for pattern in others for path in root.glob(pattern))]


def blocks(text: str, name: str) -> Iterator[Block]:
    """The code blocks of a document."""
    language, start, lines = None, 0, list[str]()
    for number, line in enumerate(text.splitlines(), 1):
        fence = _FENCE.match(line.strip())
        if language is not None and line.strip() == "```":
            yield Block(f"{name}:{start}", language, "\n".join(lines))
            language, lines = None, []
        elif language is not None:
            lines.append(line)
        elif fence:
            language, start = fence[1], number


def mentions(text: str, name: str) -> Iterator[Mention]:
    """Every span, line of code and link of a document."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        place = f"{name}:{number}"
        if line.strip().startswith("```"):
            inside = not inside
        elif inside:
            yield Mention(place, "line", line)
        else:
            for found in _INLINE.findall(line):
                yield Mention(place, "inline", found.replace(r"\|", "|"))
            for found in _LINK.findall(_INLINE.sub("", line)):
                yield Mention(place, "link", found)


def anchors(text: str) -> set[str]:
    """The names by which links find the headings of a document, as GitHub makes them."""
    shown = (_LINK.sub("]", heading).translate({ord(c): None for c in "`[]"}) for heading in _HEADING.findall(text))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in shown}
