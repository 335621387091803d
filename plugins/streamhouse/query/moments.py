"""Which moment a query asks for: `VERSION AS OF`, `TIMESTAMP AS OF`, `AS OF EPOCH`, `SINCE …`. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from streamhouse.errors import Location, QueryRefusedError
from streamhouse.sql.dialect import place_of
from streamhouse.sql.header import place_in

_TEXT = Location("query")
_FORMS = "VERSION AS OF 3, TIMESTAMP AS OF '2026-01-31 12:00:00', or AS OF EPOCH 12 for all tables"
_TIME = "write it as '2026-01-31 12:00:00', in UTC unless it ends with an offset such as +02:00"
_VERSION = "a version is the number of a snapshot, or 'v2.3' for snapshot 3 of version 2: see table.lake.snapshots"
_OF_VERSION = re.compile(r"v(\d{1,9})\.(\d{1,19})", re.ASCII)
_TIMES = frozenset({"TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMPLTZ", "TIMESTAMPNTZ"})
_UNITS = {"SECOND": 1, "MINUTE": 60, "HOUR": 3_600, "DAY": 86_400, "WEEK": 604_800}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class MomentKind(StrEnum):
    """What counts moments."""

    VERSION = "version"  # a snapshot of the table's lake
    TIMESTAMP = "timestamp"  # milliseconds since 1970
    EPOCH = "epoch"  # of the segment that writes the tables


@dataclass(frozen=True)
class Moment:
    """A moment in the history of a table.

    Attributes:
        at: Where the query says it.
        table_version: Of the table, whose snapshot `value` is; None: the query says none.
    """

    kind: MomentKind
    value: int
    at: Location = field(default=_TEXT, compare=False)
    table_version: int | None = None

    def __str__(self) -> str:
        if self.kind is MomentKind.TIMESTAMP:
            return time_text(self.value)
        if self.table_version is not None:
            return f"{self.kind} v{self.table_version}.{self.value}"
        return f"{self.kind} {self.value}"

    @property
    def suffix(self) -> str:
        """What distinguishes the rows of this moment from those of others, as part of a name."""
        of = "" if self.table_version is None else f"{self.table_version}_"
        return f"{self.kind}_{of}{self.value}"


def time_text(at_ms: int) -> str:
    """A time as messages say it.

    Example:
        >>> time_text(1_769_853_600_000)
        '2026-01-31 10:00:00.000 UTC'
    """
    return (_EPOCH + timedelta(milliseconds=at_ms)).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3] + " UTC"


@dataclass(frozen=True)
class Clauses:
    """What a query says of all its tables.

    Attributes:
        text: The query without it, every other character at its old place.
        epoch: Of every table that names no moment of its own.
        since: Where the changes begin that `$changes` shows.
    """

    text: str
    epoch: Moment | None = None
    since: Moment | None = None


def take_clauses(text: str, tokens: Sequence[Token], now: datetime) -> Clauses:
    """Read `[FOR] AS OF EPOCH n` and `SINCE EPOCH n | VERSION n | TIMESTAMP '…'`, wherever they stand.

    Raises:
        QueryRefusedError: one is said twice and differently, has no number, or has not come by `now`.
    """
    words = [token.text.upper() for token in tokens]
    taken: dict[str, Moment] = {}
    index = 0
    while index < len(tokens):
        first = index
        if words[index] == "FOR" and words[index + 1 : index + 4] == ["AS", "OF", "EPOCH"]:
            index += 1
        if words[index : index + 3] == ["AS", "OF", "EPOCH"]:
            name, kind, value = "AS OF EPOCH", MomentKind.EPOCH, index + 3
        elif words[index] == "SINCE" and words[index + 1 : index + 2] in ([kind.upper()] for kind in MomentKind):
            name, kind, value = "SINCE", MomentKind(words[index + 1].lower()), index + 2
        else:
            index += 1
            continue
        at = place_in(text, tokens[first].start, _TEXT)
        if value >= len(tokens):
            raise QueryRefusedError(f"{name} names no {kind}", at=at, hint=f"write {_FORMS}")
        found = _moment(kind, tokens[value], at, now)
        if taken.setdefault(name, found) != found:
            raise QueryRefusedError(
                f"two different {name}: {taken[name]} and {found}", at=at, hint="it counts for all tables of the query"
            )
        span = slice(tokens[first].start, tokens[value].end + 1)
        text = text[: span.start] + "".join(c if c == "\n" else " " for c in text[span]) + text[span.stop :]
        index = value + 1
    return Clauses(text, taken.get("AS OF EPOCH"), taken.get("SINCE"))


def moment_of(node: exp.Table, text: str, now: datetime) -> Moment | None:
    """The moment that stands behind one table's name; None: none does.

    Raises:
        QueryRefusedError: it is no number, no time, or of another form.
    """
    if node.args.get("when") is not None:
        raise QueryRefusedError("this form of time travel is not known", at=place_of(node, text, _TEXT), hint=_FORMS)
    version = node.args.get("version")
    if version is None:
        return None
    at, said = place_of(node, text, _TEXT), version.expression
    if version.args.get("kind") != "AS OF" or said is None:
        raise QueryRefusedError("this form of time travel is not known", at=at, hint=_FORMS)
    if version.name == "VERSION":
        if isinstance(said, exp.Literal) and (found := _version(said.name, at, is_string=said.is_string)) is not None:
            return found
        raise QueryRefusedError(f"'{said.name}' is no version", at=at, hint=_VERSION)
    return Moment(MomentKind.TIMESTAMP, _instant(said, at, now), at)


def _moment(kind: MomentKind, token: Token, at: Location, now: datetime) -> Moment:
    is_string = token.token_type == TokenType.STRING
    if kind is MomentKind.TIMESTAMP:
        if is_string:
            return Moment(kind, _past(_parsed(token.text, at), at, now), at)
    elif kind is MomentKind.VERSION:
        if (found := _version(token.text, at, is_string=is_string)) is not None:
            return found
        raise QueryRefusedError(f"'{token.text}' is no version", at=at, hint=_VERSION)
    elif token.token_type == TokenType.NUMBER and _is_number(token.text):
        return Moment(kind, int(token.text), at)
    raise QueryRefusedError(f"'{token.text}' is no {kind}", at=at, hint=f"write {_FORMS}")


def _version(text: str, at: Location, *, is_string: bool) -> Moment | None:
    """The moment that a number, or a text such as 'v2.3', says; None: it says none."""
    if not is_string:
        return Moment(MomentKind.VERSION, int(text), at) if _is_number(text) else None
    parts = _OF_VERSION.fullmatch(text)
    if parts is None or not int(parts[1]):
        return None
    return Moment(MomentKind.VERSION, int(parts[2]), at, int(parts[1]))


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _instant(said: exp.Expr, at: Location, now: datetime) -> int:
    if isinstance(said, exp.Cast) and isinstance(said.this, exp.Literal) and said.this.is_string:
        return _past(_cast(said.to, said.this.name, at), at, now)
    if isinstance(said, exp.Literal) and said.is_string:
        return _past(_parsed(said.name, at), at, now)
    if isinstance(said, exp.CurrentTimestamp):
        return _milliseconds(now)
    if isinstance(said, exp.Sub) and isinstance(said.this, exp.CurrentTimestamp):
        span = said.expression
        unit = _UNITS.get(str(span.args.get("unit")).upper().removesuffix("S")) if isinstance(span, exp.Interval) else 0
        if unit and span.this is not None and _is_number(span.this.name):
            return _before(now, unit * int(span.this.name), at)
    raise QueryRefusedError(
        "TIMESTAMP AS OF wants a time",
        at=at,
        hint="write it as '2026-01-31 12:00:00' (UTC), or current_timestamp() - INTERVAL 5 MINUTES",
    )


def _cast(to: exp.Expr, text: str, at: Location) -> int:
    """What a text is as a time, or as the midnight of a day."""
    name = to.this.name if isinstance(to, exp.DataType) else ""
    if name in _TIMES:
        return _parsed(text, at)
    if name == "DATE":
        try:
            day = date.fromisoformat(text.strip())
        except ValueError as error:
            raise QueryRefusedError(f"'{text}' is no day", at=at, hint="write it as '2026-01-31'") from error
        return _milliseconds(datetime(day.year, day.month, day.day, tzinfo=UTC))
    raise QueryRefusedError(f"{name} is no time", at=at, hint=_TIME)


def _before(now: datetime, seconds: int, at: Location) -> int:
    try:
        return _milliseconds(now - timedelta(seconds=seconds))
    except OverflowError as error:
        raise QueryRefusedError("that moment is before the year 1", at=at, hint=_TIME) from error


def _past(at_ms: int, at: Location, now: datetime) -> int:
    """The moment, when it is not later than `now`: nobody knows the rows of later ones."""
    if at_ms > _milliseconds(now):
        raise QueryRefusedError(
            f"{time_text(at_ms)} has not come yet; it is {time_text(_milliseconds(now))}",
            at=at,
            hint="ask for a moment in the past, or leave the moment out to read the table as it is",
        )
    return at_ms


def _parsed(text: str, at: Location) -> int:
    try:
        found = datetime.fromisoformat(text.strip())
        return _milliseconds((found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC))
    except (ValueError, OverflowError) as error:
        raise QueryRefusedError(f"'{text}' is no time", at=at, hint=_TIME) from error


def _milliseconds(instant: datetime) -> int:
    return (instant - _EPOCH) // timedelta(milliseconds=1)
