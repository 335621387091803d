"""What the grammar makes of a wish: clauses over mentions, before any table is chosen."""

from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal
from typing import Literal

from streamhouse.model.types import Layer
from streamhouse.planner.language.lexicon import Mention
from streamhouse.planner.language.numbers import Quantity
from streamhouse.planner.language.periods import Period
from streamhouse.planner.language.units import Unit
from streamhouse.planner.request import Grain


@dataclass(frozen=True)
class Noun:
    """A thing that a wish names: a mention, and others that say which one is meant.

    Attributes:
        around: "station" and "start" in "name of the start station", in the order of the wish.
        literal: A quoted or unknown value, or a number, that follows: "store 330".
        cues: Words near it that choose between two roles: "from", "ending".
    """

    head: Mention
    around: tuple[Mention, ...] = ()
    cues: tuple[str, ...] = ()
    unit: Unit | None = None  # that it is to be shown in
    per: bool = False  # a group behind "per": of a number it may also be a divisor
    linked: bool = False  # it stands behind a preposition, so it says where or whose
    listed: bool = False  # it begins an item of a list: behind a comma, "and", "show" or another word for showing
    predicate: bool = False  # it says something of another noun: "that are unpaid", "hired a bike"

    @property
    def mentions(self) -> tuple[Mention, ...]:
        """All of it, its head first."""
        return (self.head, *self.around)

    @property
    def start(self) -> int:
        """The token that it begins with."""
        return min(mention.start for mention in self.mentions)

    @property
    def end(self) -> int:
        """The token behind it."""
        return max(mention.end for mention in self.mentions)

    @property
    def text(self) -> str:
        """Its words, in the order of the wish."""
        return " ".join(mention.text for mention in sorted(self.mentions, key=lambda m: m.start))


@dataclass(frozen=True)
class Time:
    """A grain that results are grouped by, of a time column where the wish names one."""

    grain: Grain
    of: Noun | None = None
    phrase: str = ""


@dataclass(frozen=True)
class Bands:
    """Bands of a number."""

    noun: Noun
    bounds: tuple[Decimal, ...]
    unit: Unit | None = None


Group = Noun | Time | Bands


@dataclass(frozen=True)
class Is:
    """Rows have one of some values; with a noun, of that column."""

    values: tuple[Mention | str | Decimal, ...]
    of: Noun | None = None
    negated: bool = False
    phrase: str = ""
    operator: str = ""  # contains, starts or ends, instead of equality
    cues: tuple[str, ...] = ()  # as of a noun
    both: bool = False  # "in Lisbon and in Porto": of one row that cannot be, of its thing it can
    said: bool = False  # "that were cancelled and late": "and" joins what is said of each row


@dataclass(frozen=True)
class Compared:
    """A number, or a measure, compared with constants, or with another of them."""

    left: "Noun | Figure | Lasting | None"  # None: what the unit or the hint says, of the subject
    operator: str
    low: Quantity | None = None
    high: Quantity | None = None  # of "between": both are included
    right: "Noun | Figure | None" = None
    hint: str = ""
    subject: Noun | None = None
    phrase: str = ""
    average: bool = False  # compared with the average of all


@dataclass(frozen=True)
class Present:
    """A column has a value, or rows of another table are there; `present` False: not."""

    noun: Noun
    present: bool
    at_least: int = 1
    filters: tuple["Clause", ...] = ()
    phrase: str = ""
    unsure: bool = False  # "with X" may also mean that X is to be shown
    never: bool = False  # "never", "nobody": for all time, so that a value of one row does not tell


@dataclass(frozen=True)
class State:
    """Something goes on, or is over: "open", "outstanding"."""

    word: str
    negated: bool = False
    phrase: str = ""


@dataclass(frozen=True)
class When:
    """Rows of a time; `of` names the time column, or is the verb that does."""

    period: Period
    of: Mention | None = None
    negated: bool = False
    phrase: str = ""


@dataclass(frozen=True)
class Either:
    """One of several clauses is true."""

    of: tuple["Clause", ...]


Clause = Is | Compared | Present | State | When | Either


@dataclass(frozen=True)
class Lasting:
    """The time from one moment to another: "time between opening and closing"."""

    first: Noun | None
    last: Noun | None


Window = Literal["", "share", "ratio", "change", "previous", "running", "moving", "rank"]


@dataclass(frozen=True)
class Figure:
    """A number that a wish asks for.

    Attributes:
        function: Empty: the noun alone, as of a named measure.
        inner: Groups of an inner aggregate for certain: "average *daily* number of rides".
        near: Groups directly behind it, inner ones where what is asked is a number of groups: "average number of
            rides *per day*".
        inner_function: Of the inner aggregate.
        where: Clauses that belong to this number alone.
        also: A second number: `to` of a ratio or a difference.
        operator: Between `noun` and `other` within one row: "price times quantity".
    """

    function: str = ""
    noun: "Noun | Lasting | None" = None
    where: tuple[Clause, ...] = ()
    unit: Unit | None = None
    fraction: Decimal | None = None
    inner: tuple[Group, ...] = ()
    near: tuple[Group, ...] = ()
    inner_function: str = ""
    operator: str = ""
    other: Noun | None = None
    window: Window = ""
    to: "Figure | None" = None
    percent: bool = False
    per_many: int = 1  # of a ratio: for so many of `to`
    periods: int = 1
    period_grain: Grain | None = None
    fold: Literal["avg", "sum"] = "avg"
    phrase: str = ""
    hint: str = ""  # which number of `noun` a superlative is about, a key of `HINTS`


@dataclass(frozen=True)
class Best:
    """Only the first few: of groups by a number, or of rows by a column."""

    count: int
    descending: bool
    target: Noun | Time | None
    by: Figure | None = None
    hint: str = ""
    per: tuple[Group, ...] = ()
    ties: bool = False
    phrase: str = ""
    certain: bool = True  # False: "best" or "worst", which need `by`


@dataclass(frozen=True)
class Pickled:
    """The first or last row of each key."""

    noun: Noun
    per: tuple[Group, ...]
    last: bool
    by: Noun | None = None  # the column that orders the rows; None: their time


@dataclass
class Draft:
    """All clauses of a wish."""

    figures: list[Figure] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    filters: list[Clause] = field(default_factory=list)
    best: Best | None = None
    nouns: list[Noun] = field(default_factory=list)  # neither counted nor compared: what is listed, or the subject
    pick: Pickled | None = None
    sessions: timedelta | None = None
    distinct: bool = False
    counts_groups: bool = False  # it asks how many periods meet a condition
    listing: bool = False  # it begins with "list", "show" or another word for rows
    alert: bool = False
    freshness: timedelta | None = None
    layer: Layer | None = None
    name: str | None = None
    unread: list[str] = field(default_factory=list)
    questions: list[tuple[str, str, tuple[str, ...]]] = field(default_factory=list)  # text, phrase, choices
    assumptions: list[str] = field(default_factory=list)
    verbs: list[Mention] = field(default_factory=list)
    cues: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)  # all words of the wish, in lower case
    said: tuple[str, ...] = ()  # the word of each token
    subject: Mention | None = None  # a value that the wish begins with, and which no noun follows: "children who …"
    clauses: list[tuple[int, str, int]] = field(default_factory=list)  # token, words, conditions read before it
    orders: list[Mention] = field(default_factory=list)  # what rows are to be sorted by
    ordered_at: int | None = None  # the token at which the last order of rows begins, where nothing follows it
    shown: tuple[Mention, ...] = ()  # columns that the wish begins with: "name and age of the editors who …"
    keyed: bool = False  # the keys of the things are shown beside these
    base: str = ""  # the table whose rows are read, where the wish says so: "from ods.orders"
    openers: list[str] = field(default_factory=list)  # question words that it begins with: "which", "whose"

    def copied(self) -> "Draft":
        """The same draft once more; what is added to one of the two is not in the other."""
        other = replace(self)
        for name, value in vars(self).items():
            if isinstance(value, list):
                setattr(other, name, [*value])
        return other
