"""What a code means, read from the docstring of its class: for `streamhouse explain` and docs/errors.md."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from inspect import cleandoc
from textwrap import dedent

from streamhouse.errors.base import StreamhouseError

_SECTION = re.compile(r"^(Cause|Example|Remedy):\n((?:    .*\n|\n)+)", re.MULTILINE)
_PREFIX = "SH"
_PAGE_HEAD = """\
# Error codes

Each message of Streamhouse has a code, such as `SH404`. `streamhouse explain SH404` prints the
section of a code; `streamhouse explain` lists all codes. Where "Retry" says yes, the same call may
succeed later without a person: Airflow and runners try again by themselves.

This page is generated from the error classes in `plugins/streamhouse/errors/`.
To change it, edit the docstring of the class, then run `pytest tests/unit/errors --update-golden`.
"""


@dataclass(frozen=True)
class Explanation:
    """One code. `example` is a message as it is printed; the other texts are prose without line breaks."""

    code: str
    name: str
    exit_code: int
    retryable: bool
    summary: str
    cause: str
    example: str
    remedy: str


def explanation(error: type[StreamhouseError]) -> Explanation:
    """What the docstring of `error` says.

    Raises:
        ValueError: the docstring lacks a section.
    """
    text = cleandoc(error.__doc__ or "") + "\n"
    sections = {found[1].lower(): dedent(found[2]).strip() for found in _SECTION.finditer(text)}
    lacking = {"cause", "example", "remedy"} - {name for name, words in sections.items() if words}
    if lacking:
        raise ValueError(f"the docstring of {error.__name__} ({error.code}) lacks: {', '.join(sorted(lacking))}")
    return Explanation(
        code=error.code,
        name=error.__name__,
        exit_code=error.exit_code,
        retryable=error.retryable,
        summary=text.partition("\n")[0],
        cause=_one_line(sections["cause"]),
        example=sections["example"],
        remedy=_one_line(sections["remedy"]),
    )


def explanations() -> dict[str, Explanation]:
    """Code → what it means, ordered by code; every class that sets a code of its own."""
    kinds = {kind.code: kind for kind in _kinds(StreamhouseError) if "code" in vars(kind)}
    return {code: explanation(kinds[code]) for code in sorted(kinds)}


def normal_code(text: str) -> str:
    """A code as it is written: in upper case, with its prefix.

    Example:
        >>> normal_code("404"), normal_code("sh404")
        ('SH404', 'SH404')
    """
    wanted = text.strip().upper()
    return wanted if wanted.startswith(_PREFIX) else _PREFIX + wanted


def nearest_code(code: str, known: list[str]) -> str | None:
    """The known code that is written most like `code`, of equal ones the nearest in number; None: none is."""
    close = get_close_matches(code, known, n=len(known), cutoff=0.6)
    number = re.sub(r"\D", "", code, flags=re.ASCII)
    if not close or not number:
        return close[0] if close else None
    same_length = [one for one in close if len(one) == len(code)] or close[:1]
    return min(same_length, key=lambda one: abs(int(one.removeprefix(_PREFIX)) - int(number)))


def page() -> str:
    """docs/errors.md, in Markdown."""
    return "\n".join([_PAGE_HEAD, *_overview(), *(_section(one) for one in explanations().values())])


def _overview() -> Iterator[str]:
    yield "| code | exit code | retry | meaning |\n|---|---|---|---|"
    for one in explanations().values():
        retry = "yes" if one.retryable else "no"
        yield f"| [{one.code}](#{one.code.lower()}) | {one.exit_code} | {retry} | {one.summary} |"
    yield ""


def _section(one: Explanation) -> str:
    facts = f"`{one.name}` · exit code {one.exit_code} · retry: {'yes' if one.retryable else 'no'}"
    example = f"```text\n{one.example}\n```"
    texts = [f"## {one.code}", one.summary, facts, f"**Cause.** {one.cause}", example, f"**Remedy.** {one.remedy}"]
    return "\n\n".join(texts) + "\n"


def _kinds(kind: type[StreamhouseError]) -> Iterator[type[StreamhouseError]]:
    yield kind
    for sub in kind.__subclasses__():
        yield from _kinds(sub)


def _one_line(text: str) -> str:
    return " ".join(text.split())
