"""A table of settings: each is taken, with its kind, or refused, with the reason. Pure."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from streamhouse.errors import did_you_mean

_SIZE = re.compile(r"-1|[0-9]{1,15}\s?(b|[kmgtp]i?b?)?", re.IGNORECASE | re.ASCII)  # -1: no limit
_DURATION = re.compile(r"[0-9]{1,12}\s?(us|ms|s|m|min|h|d)?", re.IGNORECASE | re.ASCII)
_NUMBER = re.compile(r"-?[0-9]{1,18}(\.[0-9]{1,9})?")
CONTROL = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029\ud800-\udfff]")
_PEM = re.compile(r"[\x20-\x7e\r\n\t]*")
_LONGEST, _LONGEST_PEM = 1_000, 1_000_000


class Kind(StrEnum):
    """What a setting takes."""

    TEXT = "text"
    PEM = "certificates as text"
    URL = "https URL"
    NUMBER = "number"
    SIZE = "size"
    DURATION = "duration"
    BOOLEAN = "boolean"
    CHOICE = "choice"
    FILE = "file of the project"
    SECRET = "secret"


@dataclass(frozen=True)
class Setting:
    """A setting that is taken.

    Attributes:
        kind: What it takes.
        why: What it is for.
        choices: Of a choice; case makes no difference.
        pattern: That a text must match as a whole; None: any text of one line.
    """

    kind: Kind
    why: str
    choices: tuple[str, ...] = ()
    pattern: str | None = None

    def misfit(self, value: str) -> str | None:
        """Why a text cannot be the value; None: it can. The text of a secret is not looked at.

        Example:
            >>> Setting(Kind.NUMBER, "how long").misfit("4x"), Setting(Kind.SIZE, "how much").misfit("4g")
            ('is a number', None)
        """
        if len(value) > (_LONGEST_PEM if self.kind is Kind.PEM else _LONGEST):
            return "is too long"
        if self.kind is Kind.PEM:
            return None if _PEM.fullmatch(value) else "has a character that no certificate has"
        if found := CONTROL.search(value):
            return f"has the control character U+{ord(found[0]):04X}"
        return self._other(value)

    def _other(self, value: str) -> str | None:
        match self.kind:
            case Kind.NUMBER:
                return None if _NUMBER.fullmatch(value) else "is a number"
            case Kind.SIZE:
                return None if _SIZE.fullmatch(value) else "is a size, such as 512m"
            case Kind.DURATION:
                return None if _DURATION.fullmatch(value) else "is a duration, such as 30s"
            case Kind.BOOLEAN:
                return None if value.lower() in ("true", "false") else "is true or false"
            case Kind.CHOICE:
                fits = value.lower() in {choice.lower() for choice in self.choices}
                return None if fits else f"is one of {', '.join(self.choices)}"
            case Kind.URL:
                return None if re.fullmatch(r"https://[^\s/@?#\\]+(/[^\s@#\\]*)?", value) else "is a URL with https:"
        if self.pattern is not None and not re.fullmatch(self.pattern, value, re.UNICODE):
            return "does not have the form of its values"
        return None


class RefusedSetting(ValueError):  # noqa: N818  the caller makes an error of it
    """A setting may not be given, or not so.

    Attributes:
        hint: What to do instead.
    """

    def __init__(self, cause: str, hint: str | None) -> None:
        super().__init__(cause)
        self.hint = hint


@dataclass(frozen=True)
class Door:
    """All settings of one system.

    Attributes:
        system: Its name in messages.
        taken: Setting → what it takes.
        refused: Setting → why it is not taken.
        elsewhere: Hint for a setting that is refused.
        families: Beginning of a name → why no setting that begins so is taken.
    """

    system: str
    taken: Mapping[str, Setting]
    refused: Mapping[str, str]
    elsewhere: str
    families: Mapping[str, str] = field(default_factory=dict)

    def setting(self, name: str) -> Setting:
        """The setting of this name.

        Raises:
            RefusedSetting: it is refused, or unknown.
        """
        if (found := self.taken.get(name)) is not None:
            return found
        if (why := self._why(name)) is not None:
            raise RefusedSetting(f"'{shown(name)}' is not taken: {why}", self.elsewhere)
        hint = did_you_mean(name, self.taken, self.elsewhere)
        raise RefusedSetting(f"'{shown(name)}' is no setting of {self.system} that is known here", hint)

    def check(self, name: str, value: str) -> Setting:
        """The setting of this name, if it takes this value.

        Raises:
            RefusedSetting: it is refused, or unknown, or does not take the value. The value is not in the message.
        """
        found = self.setting(name)
        if (misfit := found.misfit(value)) is not None:
            raise RefusedSetting(f"the value of '{shown(name)}' {_what(misfit)}", f"it is {found.kind}: {found.why}")
        return found

    def _why(self, name: str) -> str | None:
        if name in self.refused:
            return self.refused[name]
        lower = name.lower()
        found = [why for beginning, why in self.families.items() if lower.startswith(beginning.lower())]
        return found[0] if found else None


def shown(name: str) -> str:
    """A name as a message has it: on one line, and not long."""
    plain = CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", name)
    return plain if len(plain) <= 100 else f"{plain[:100]}…"


def group(why: str, kind: Kind, names: str, **more: object) -> Iterator[tuple[str, Setting]]:
    """Settings that are taken for one reason, by their names between blanks."""
    for name in names.split():
        yield name, Setting(kind, why, **more)  # type: ignore[arg-type]


def refuse(why: str, names: str) -> Iterator[tuple[str, str]]:
    """Settings that are refused for one reason, by their names between blanks."""
    for name in names.split():
        yield name, why


def _what(misfit: str) -> str:
    return misfit if misfit.startswith(("has ", "does ", "is too")) else f"does not fit: it {misfit}"
