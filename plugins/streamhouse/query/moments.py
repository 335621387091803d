"""Which moment a query asks for: `VERSION AS OF`, `TIMESTAMP AS OF`, `AS OF EPOCH`, `SINCE …`. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from streamhouse.errors import Location, QueryRefusedError
from streamhouse.sql.dialect import place_of
from streamhouse.sql.header import place_in

_TEXT = Location("query")
_FORMS = "VERSION AS OF 3, TIMESTAMP AS OF '2026-01-31 12:00:00', or AS OF EPOCH 12 for all tables"
_UNITS = {"SECOND": 1, "MINUTE": 60, "HOUR": 3_600, "DAY": 86_400, "WEEK": 604_800}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class MomentKind(StrEnum):
    """What counts moments."""

    VERSION = "version"  # a snapshot of the table's lake
    TIMESTAMP = "timestamp"  # milliseconds since 1970
    EPOCH = "epoch"  # of the segment that writes the tables


@dataclass(frozen=True)
class Moment:
    """A moment in the history of a table; `at` is where the query says it."""

    kind: MomentKind
    value: int
    at: Location = field(default=_TEXT, compare=False)

    def __str__(self) -> str:
        if self.kind is not MomentKind.TIMESTAMP:
            return f"{self.kind} {self.value}"
        return (_EPOCH + timedelta(milliseconds=self.value)).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3] + " UTC"


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


def take_clauses(text: str, tokens: Sequence[Token]) -> Clauses:
    """Read `[FOR] AS OF EPOCH n` and `SINCE EPOCH n | VERSION n | TIMESTAMP '…'`, wherever they stand.

    Raises:
        QueryRefusedError: one is said twice and differently, or has no number.
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
        found = Moment(kind, _value(kind, tokens[value], at), at)
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
        if isinstance(said, exp.Literal) and not said.is_string and said.name.isdigit():
            return Moment(MomentKind.VERSION, int(said.name), at)
        raise QueryRefusedError(
            f"'{said.name}' is no version",
            at=at,
            hint="a version is the number of a snapshot: see table.lake.snapshots",
        )
    return Moment(MomentKind.TIMESTAMP, _instant(said, at, now), at)


def _value(kind: MomentKind, token: Token, at: Location) -> int:
    if kind is MomentKind.TIMESTAMP:
        if token.token_type == TokenType.STRING:
            return _parsed(token.text, at)
    elif token.token_type == TokenType.NUMBER and token.text.isdigit():
        return int(token.text)
    raise QueryRefusedError(f"'{token.text}' is no {kind}", at=at, hint=f"write {_FORMS}")


def _instant(said: exp.Expr, at: Location, now: datetime) -> int:
    if isinstance(said, exp.Cast) and isinstance(said.this, exp.Literal):
        said = said.this
    if isinstance(said, exp.Literal) and said.is_string:
        return _parsed(said.name, at)
    if isinstance(said, exp.CurrentTimestamp):
        return _milliseconds(now)
    if isinstance(said, exp.Sub) and isinstance(said.this, exp.CurrentTimestamp):
        span = said.expression
        unit = _UNITS.get(str(span.args.get("unit")).upper().removesuffix("S")) if isinstance(span, exp.Interval) else 0
        if unit and span.this is not None and span.this.name.isdigit():
            return _milliseconds(now - timedelta(seconds=unit * int(span.this.name)))
    raise QueryRefusedError(
        "TIMESTAMP AS OF wants a time",
        at=at,
        hint="write it as '2026-01-31 12:00:00' (UTC), or current_timestamp() - INTERVAL 5 MINUTES",
    )


def _parsed(text: str, at: Location) -> int:
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise QueryRefusedError(
            f"'{text}' is no time", at=at, hint="write it as '2026-01-31 12:00:00', in UTC unless it says a zone"
        ) from error
    return _milliseconds(found if found.tzinfo else found.replace(tzinfo=UTC))


def _milliseconds(instant: datetime) -> int:
    return (instant - _EPOCH) // timedelta(milliseconds=1)
