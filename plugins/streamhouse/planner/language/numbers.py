"""Numbers of a wish, in digits or words: "3", "2.5k", "fifty", "a dozen", "two hundred and five"."""

from dataclasses import dataclass
from decimal import Decimal

from streamhouse.planner.language.tokens import Token
from streamhouse.planner.language.units import Unit, unit_of

_ONES = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_WORDS = {word: Decimal(at) for at, word in enumerate(_ONES)} | {
    word: Decimal(10 * at) for at, word in enumerate(_TENS, start=2)
}
_SCALES = {
    "hundred": Decimal(100), "thousand": Decimal(1000), "k": Decimal(1000), "million": Decimal(1_000_000),
    "m": Decimal(1_000_000), "mio": Decimal(1_000_000), "billion": Decimal(1_000_000_000),
    "bn": Decimal(1_000_000_000), "dozen": Decimal(12),
}  # fmt: skip
_SPOKEN_SCALES = frozenset({"hundred", "thousand", "million", "billion", "dozen"})
_ORDINALS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8,
    "ninth": 9, "tenth": 10,
}  # fmt: skip


@dataclass(frozen=True)
class Quantity:
    """A number with the unit that follows it, if one does."""

    value: Decimal
    unit: Unit | None
    length: int  # in tokens


def read_number(tokens: tuple[Token, ...], at: int) -> tuple[Decimal, int] | None:
    """The number that begins at a token, and how many tokens it has."""
    if at >= len(tokens):
        return None
    token = tokens[at]
    if token.kind == "symbol" and token.word in "-−" and at + 1 < len(tokens):
        after = tokens[at + 1]
        if after.kind == "number" and after.glued and isinstance(after.value, Decimal):
            return -after.value, 2
        return None
    if token.kind == "number" and isinstance(token.value, Decimal):
        return _scaled(token.value, tokens, at, 1)
    if token.kind == "quoted" or token.word not in _WORDS:
        if token.word in {"a", "half"} and at + 1 < len(tokens) and tokens[at + 1].word in _SPOKEN_SCALES:
            start = Decimal("0.5") if token.word == "half" else Decimal(1)
            return _scaled(start, tokens, at, 1)
        if token.word == "dozen":
            return Decimal(12), 1
        return None
    return _spoken(tokens, at)


def _scaled(value: Decimal, tokens: tuple[Token, ...], at: int, length: int) -> tuple[Decimal, int]:
    following = tokens[at + length] if at + length < len(tokens) else None
    if following and following.word in _SCALES and (following.word in _SPOKEN_SCALES or following.glued):
        unit_instead = following.word == "m" and not tokens[at].money
        if not unit_instead:
            return value * _SCALES[following.word], length + 1
    return value, length


def _spoken(tokens: tuple[Token, ...], at: int) -> tuple[Decimal, int]:
    total, current, length = Decimal(0), Decimal(0), 0
    while at + length < len(tokens):
        word = tokens[at + length].word
        if word in _WORDS:
            value = _WORDS[word]
            if current % 100 and not (current % 10 == 0 and current % 100 >= 20 and value < 10):
                break
            current += value
        elif word == "hundred" and length:
            current *= 100
        elif word in _SPOKEN_SCALES and length:
            total, current = total + current * _SCALES[word], Decimal(0)
        elif word == "and" and length and at + length + 1 < len(tokens):
            after_scale = tokens[at + length - 1].word in _SPOKEN_SCALES
            if not (after_scale and tokens[at + length + 1].word in _WORDS):
                break
        else:
            break
        length += 1
    return total + current, length


def read_quantity(tokens: tuple[Token, ...], at: int) -> Quantity | None:
    """The number that begins at a token with its unit: "50 dollars", "$50", "2.5 km", "10 %", "5s"."""
    number = read_number(tokens, at)
    if number is None:
        return None
    value, length = number
    if tokens[at].money:
        return Quantity(value, unit_of(tokens[at].money), length)
    unit, extra = read_unit(tokens, at + length)
    return Quantity(value, unit, length + extra)


def read_unit(tokens: tuple[Token, ...], at: int) -> tuple[Unit | None, int]:
    """The unit that begins at a token, and how many tokens it has; single letters only behind digits."""
    if at >= len(tokens) or tokens[at].kind == "quoted":
        return None, 0
    token = tokens[at]
    if at + 1 < len(tokens):
        double = unit_of(f"{token.word}_{tokens[at + 1].word}")
        if double:
            return double, 2
    unit = unit_of(token.word)
    if (
        unit
        and len(token.word) == 1
        and token.word.isalpha()
        and not (token.glued or token.word in "mgwt" or token.text in {"h", "l"})
    ):
        return None, 0
    return unit, int(unit is not None)


def read_ordinal(token: Token, following: Token | None) -> int | None:
    """The place that a word names: "third", "3rd"."""
    if token.word in _ORDINALS:
        return _ORDINALS[token.word]
    whole = token.kind == "number" and token.word.isdigit()
    if whole and following and following.glued and following.word in {"st", "nd", "rd", "th"}:
        return int(token.word)
    return None
