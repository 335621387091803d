"""What every error has: a place in a file, a code, a message, a hint."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from difflib import get_close_matches
from typing import ClassVar

from streamhouse.secret import masked

DIRECTIONS = r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
"""Characters that turn around what follows, as the inside of a class of a regular expression."""

_LONGEST_WORD, _LONGEST_LINE = 500, 4_000  # characters
_LONG = re.compile(
    rf"(?<![^\s(=:,]')(?<=')[^'\n]{{{_LONGEST_WORD + 1},}}(?='(?!\w))|[^\s']{{{_LONGEST_WORD + 1},}}", re.UNICODE
)
_LONG_LINE = re.compile(rf".{{{_LONGEST_LINE + 1},}}")
_UNPRINTABLE = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff{DIRECTIONS}]")


@dataclass(frozen=True, order=True)
class Location:
    """A place in a file that a person wrote; line and column count from 1."""

    file: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class StreamhouseError(Exception):
    """A fault in Streamhouse itself; as a class, the base of all errors.

    `except StreamhouseError` catches every error that Streamhouse raises, and no other. The text of
    an error is `place: code message` and, on a line of its own, the hint. `retryable` is a property
    of the class: True where the same call may succeed later without a person.

    Cause:
        Streamhouse met an exception that no other error class describes.

    Example:
        SH000 internal error: KeyError: 'orders'
          hint: the full trace is in .streamhouse/logs/crash-20260301T120000-4711.log

    Remedy:
        Report the fault with the trace that the hint names. Run the command again: data is safe,
        because an epoch that did not end is repeated.
    """

    code: ClassVar[str] = "SH000"
    exit_code: ClassVar[int] = 1
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, at: Location | None = None, hint: str | None = None) -> None:
        self.message = _shown(message)
        self.at = at
        self.hint = _shown(hint) if hint else hint
        super().__init__(self.message)

    def __str__(self) -> str:
        place = f"{printable(str(self.at))}: " if self.at else ""
        hint = f"\n  hint: {self.hint}" if self.hint else ""
        return f"{place}{self.code} {self.message}{hint}"

    def __reduce__(self) -> tuple[object, ...]:
        # Subclasses have constructors of their own; an error must survive a process boundary as it is.
        return _restore, (type(self), self.message, self.at, self.hint)


def _restore(kind: type[StreamhouseError], message: str, at: Location | None, hint: str | None) -> StreamhouseError:
    error = kind.__new__(kind)
    StreamhouseError.__init__(error, message, at=at, hint=hint)
    return error


def printable(text: str) -> str:
    r"""The text with an escape for each character that a terminal obeys, that turns around the text, or that is no text.

    Example:
        >>> printable("a\x1b[31mb"), printable("a\u202eb")
        ('a\\x1b[31mb', 'a\\u202eb')
    """
    return _UNPRINTABLE.sub(lambda found: ascii(found[0])[1:-1], text)


def _shown(text: str) -> str:
    return shortened(masked(printable(text)))  # what a library says may have a URL with its password in it


def shortened(text: str) -> str:
    """The text, with the middle of each very long quotation, word or line left out: a person reads the message.

    Example:
        >>> shortened(f"unknown column '{'a' * 9_000}'") == f"unknown column '{'a' * 300}… (9,000 characters)'"
        True
    """
    text = _LONG.sub(lambda found: f"{found[0][:300]}… ({len(found[0]):,} characters)", text)
    return _LONG_LINE.sub(lambda found: f"{found[0][:3_000]}… ({len(found[0]):,} characters)", text)


def did_you_mean(name: str, known: Collection[str], otherwise: str | None = None) -> str | None:
    """A hint that names the closest known word, else `otherwise`."""
    close = get_close_matches(name, known, n=1)
    return f"did you mean '{close[0]}'?" if close else otherwise


class DefinitionErrors(StreamhouseError):  # noqa: N818  it is several
    """Several definition errors at once, in the order of their places; `errors` has each of them."""

    exit_code = 3

    def __init__(self, errors: Collection[StreamhouseError]) -> None:
        self.errors = tuple(sorted(errors, key=lambda e: e.at or Location("")))
        super().__init__("\n".join(str(e) for e in self.errors))

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[object, ...]:
        return DefinitionErrors, (self.errors,)


class DefinitionError(StreamhouseError):
    """A file that a person wrote is wrong.

    Cause:
        An action, a flow or the settings cannot be used as they are written. The same run gives the
        same error until the file is edited.

    Example:
        No message has this code. SH101 to SH220 are errors of this kind.

    Remedy:
        Edit the file at the place that the message names, then run `streamhouse validate`.
    """

    code = "SH200"
    exit_code = 3
