"""Figures that fall or rise by so much: "weeks in which attendance fell by more than 20 percent"."""

from dataclasses import replace
from decimal import Decimal

from streamhouse.planner.language.asking import read_against
from streamhouse.planner.language.clauses import read_operator
from streamhouse.planner.language.draft import Compared, Figure, Noun, Time
from streamhouse.planner.language.numbers import Quantity, read_quantity
from streamhouse.planner.language.reader import Reader
from streamhouse.planner.language.words import GRAINS
from streamhouse.planner.request import Grain

_FALLS = ("went down", "goes down", "go down", "going down", "is down", "are down", "was down", "were down", "fell",
          "falls", "fall", "fallen", "dropped", "drops", "drop", "declined", "declines", "decline", "decreased",
          "decreases", "decrease", "sank", "sinks", "sink", "shrank", "shrinks", "shrink")  # fmt: skip
_RISES = ("went up", "goes up", "go up", "going up", "is up", "are up", "was up", "were up", "rose", "rises", "rise",
          "risen", "grew", "grows", "grow", "grown", "increased", "increases", "increase", "climbed", "climbs",
          "jumped", "jumps", "jump")  # fmt: skip
_OPENERS = ("in which", "on which", "during which", "when", "where", "that saw", "with")
_TURNED: dict[str, str] = {">": "<", ">=": "<="}


def read_moving_periods_rule(reader: Reader) -> bool:
    """Read "weeks in which" before a figure that falls or rises."""
    grain, draft, start = GRAINS.get(reader.word()), reader.draft, reader.at
    if grain is None or grain.comes_again or draft.figures or draft.nouns or draft.groups or not _moves(reader):
        return False
    reader.at += 1
    if not reader.take(*_OPENERS):
        reader.at = start
        return False
    draft.groups.append(Time(grain, None, grain.value))
    return True


def _moves(reader: Reader) -> bool:
    """Whether a figure falls or rises by something further on."""
    here, found = reader.at, False
    while not (reader.done or found):
        found = bool(reader.take(*_FALLS, *_RISES)) and reader.word() == "by"
        reader.at += 0 if found or reader.done else 1
    reader.at = here
    return found


def read_falling_rule(reader: Reader) -> bool:
    """Read "fell by more than 20 percent", said of the figure before it."""
    start = reader.at
    falls = reader.take(*_FALLS)
    if not (falls or reader.take(*_RISES)) or reader.word() != "by":
        reader.at = start
        return False
    found, figure = _amount(reader), _figure(reader)
    if found is None or figure is None:
        reader.at = start
        return False
    operator, amount = found
    periods, grain, _ = read_against(reader, changed=True) or (1, None, False)
    percent = amount.unit is not None
    _note_groups(reader, grain)
    said = reader.text(start)
    change = replace(figure, window="change", percent=percent, periods=periods, period_grain=grain, phrase=said)
    reader.draft.figures = [*(one for one in reader.draft.figures if one != figure), figure, change]
    low = Quantity(-amount.value, amount.unit, amount.length) if falls else amount
    reader.keep(Compared(change, _TURNED[operator] if falls else operator, low, phrase=said))
    return True


def _note_groups(reader: Reader, grain: Grain | None) -> None:
    """What is compared: periods of the length that is named, and each thing of "channels whose revenue fell"."""
    draft = reader.draft
    if grain is not None and not any(isinstance(one, Time) for one in draft.groups):
        draft.groups.append(Time(grain, None, grain.value))
    first = draft.nouns[0] if draft.nouns else None
    if "whose" in draft.words and first is not None and first.head.of_kind("table") and len(draft.nouns) == 1:
        draft.groups.append(draft.nouns.pop())


def _amount(reader: Reader) -> tuple[str, Quantity] | None:
    """By how much: percent, or a number without a unit; "by 20 percent" is at least so much."""
    operator, _ = read_operator(reader) or (">=", "")
    if reader.word() == "by":
        reader.at += 1
    amount = read_quantity(reader.tokens, reader.at)
    if amount is None or operator not in _TURNED or amount.value <= Decimal(0):
        return None
    if amount.unit is not None and amount.unit.name != "percent":
        return None
    reader.at += amount.length
    return operator, amount


def _figure(reader: Reader) -> Figure | None:
    """The figure that is said to move: the one read last, or the last noun that may be one."""
    draft = reader.draft
    plain = [one for one in draft.figures if not one.window]
    if plain:
        return plain[-1]
    at = next((at for at in range(len(draft.nouns) - 1, -1, -1) if _may_count(draft.nouns[at])), None)
    if at is None:
        return None
    noun = draft.nouns.pop(at)
    return Figure("", noun, phrase=noun.text)


def _may_count(noun: Noun) -> bool:
    return bool(noun.head.of_kind("measure", "column", "table"))
