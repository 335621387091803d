"""Two bounds of one value that exclude each other: "with a wait below 20 seconds and above 300 seconds"."""

import re
from decimal import Decimal

_BELOW = r"(?:below|under|less than|lower than|at most|shorter than)"
_ABOVE = r"(?:above|over|more than|higher than|at least|longer than|greater than)"
_VALUE = r"(-?\d[\d,]*(?:\.\d+)?)(?: ?(%|[a-z]+))?"
_OF = r"(?:with (?:an? |the )?([a-z]+(?: [a-z]+)?)|(?:the|its|their|whose) ([a-z]+(?: [a-z]+)?) (?:is|was|are|were|of))"
_TIME = r"(?:at the same time |also |simultaneously |both )?"
_PATTERNS = tuple(
    re.compile(rf"\b{_OF} {first} {_VALUE},? and {_TIME}{second} {_VALUE}(?=[\s,.;?!]|$)", re.IGNORECASE)
    for first, second in ((_BELOW, _ABOVE), (_ABOVE, _BELOW))
)
_FEW = frozenset({"and", "or", "in", "on", "of", "for", "per", "by", "did", "do", "we", "was", "were", "with", "at"})


def impossible(wish: str) -> str:
    """Why no row can meet two bounds that a wish sets on one value, in its own words; empty: some may.

    Of several things ("with orders below 20 and above 300") each bound may be met by another one.

    >>> impossible("calls with a wait below 20 seconds and above 300 seconds")
    "no row can have 'wait' below 20 and above 300 at once"
    """
    for above_first, pattern in enumerate(_PATTERNS):
        for found in pattern.finditer(wish):
            name = found.group(1) or found.group(2)
            one, other = Decimal(found.group(3).replace(",", "")), Decimal(found.group(5).replace(",", ""))
            units = [unit for unit in (found.group(4), found.group(6)) if unit and unit.lower() not in _FEW]
            if len({unit.lower().rstrip("s") for unit in units}) > 1 or _is_several(name):
                continue
            low, high = (one, other) if above_first else (other, one)
            if low >= high:
                return f"no row can have '{name}' below {high} and above {low} at once"
    return ""


def _is_several(name: str) -> bool:
    """Whether a name means several things, one of which may be below and another above."""
    last = name.rsplit(maxsplit=1)[-1].lower()
    return last.endswith("s") and not last.endswith(("ss", "us", "is"))
