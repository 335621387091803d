"""Which type all of some texts have, by their form. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from streamhouse.model.types import DECIMAL_DIGITS

_FORMS = {
    "boolean": r"^(true|false|True|False|TRUE|FALSE)$",
    "whole": r"^[+-]?\d+$",
    "decimal": r"^[+-]?\d+(\.\d+)?$",
    "number": r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$",
    "day": r"^\d{4}-\d\d-\d\d$",
    "time": r"^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?\s*(Z|[+-]\d\d(:?\d\d)?)?)?$",
    "odd day": r"^\d{1,2}[./-]\d{1,2}[./-](\d{4}|\d\d)\b",
    "odd number": r"^\(?[+-]?(\p{Sc}|[A-Z]{3} ?)? ?[+-]?\d[\d.,'\x{a0}\x{202f}]* ?(%|\p{Sc}|[A-Z]{3})?\)?-?$",
}
_NUMBERS = frozenset({"whole", "decimal", "number"})
_SIGNS = r"[%(,'\x{a0}\x{202f}]|\p{Sc}|\d-$|[A-Z]{3}"
_CODE = r"^\d+[eE]\d+$"
_ZEROS = r"^[+-]?0\d"
_ZONE = r"\d(Z|\s*[+-]\d\d(:?\d\d)?)$"
_DIGITS = 18
_MOST_SCALE = 4
_DOUBLE_DIGITS = 15
"""So many digits a double keeps of every number."""


@dataclass(frozen=True)
class TextFacts:
    """What is true of all values of a column; facts of two parts make those of both.

    Attributes:
        forms: That all values have.
        count: Of values that are not NULL.
        digits: The most before the point, as far as they are numbers.
        scale: The most behind it.
        significant: The most that count: without zeros before them, and without an exponent.
        has_zeros: Whether a number begins with a zero that its value does not need.
        has_plus: Whether a number begins with a plus.
        has_zones: Whether a time has a zone.
        has_signs: Whether a number has a sign that people read: of currency, percent or thousands.
        has_codes: Whether a number with an exponent has neither a point nor a sign, as codes such as 1E5 may be.
        has_points: Whether a number has a point.
    """

    forms: frozenset[str] = frozenset(_FORMS)
    count: int = 0
    digits: int = 0
    scale: int = 0
    significant: int = 0
    has_zeros: bool = False
    has_plus: bool = False
    has_zones: bool = False
    has_signs: bool = False
    has_codes: bool = False
    has_points: bool = False

    @classmethod
    def of(cls, texts: "pa.ChunkedArray | pa.Array") -> "TextFacts":
        """Those of some texts."""
        values = texts.drop_null()
        forms = frozenset(form for form, pattern in _FORMS.items() if _all(values, pattern)) if len(values) else None
        if forms is None:
            return cls()
        digits = scale = 0
        if "decimal" in forms:
            parts = pc.split_pattern(pc.utf8_ltrim(values, "+-"), ".", max_splits=1)
            digits = _longest(pc.list_element(parts, 0))
            scale = _longest(pc.replace_substring_regex(values, r"^[^.]*\.?", ""))
        significant = 0
        if forms & _NUMBERS:
            significant = _longest(pc.replace_substring_regex(values, r"^[+-]?[0.]*|[eE].*$|\.", ""))
        has_zeros = bool(forms & _NUMBERS) and _any(values, _ZEROS)
        has_plus = bool(forms & _NUMBERS) and _any(values, r"^\+")
        has_zones = "time" in forms and _any(values, _ZONE)
        has_signs = "odd number" in forms and not forms & _NUMBERS and _any(values, _SIGNS)
        codes, points = (bool(forms & _NUMBERS) and _any(values, one) for one in (_CODE, r"\."))
        flags = (has_zeros, has_plus, has_zones, has_signs, codes, points)
        return cls(forms, len(values), digits, scale, significant, *flags)

    def __add__(self, other: "TextFacts") -> "TextFacts":
        return TextFacts(
            self.forms & other.forms,
            self.count + other.count,
            max(self.digits, other.digits),
            max(self.scale, other.scale),
            max(self.significant, other.significant),
            self.has_zeros or other.has_zeros,
            self.has_plus or other.has_plus,
            self.has_zones or other.has_zones,
            self.has_signs or other.has_signs,
            self.has_codes or other.has_codes,
            self.has_points or other.has_points,
        )

    def types(self) -> tuple[Sequence[str], str]:
        """Types that the values may have, the best first, and what a person should know; the last one is `string`.

        Example:
            >>> TextFacts.of(pa.array(["1.5", "20"])).types()
            (('decimal(18,1)', 'double', 'string'), '')
            >>> TextFacts.of(pa.array(["007"])).types()[0]
            ('string',)
        """
        if not self.count:
            return ("string",), "no row has a value"
        if self.forms & _NUMBERS:
            return self._numbers()
        if "boolean" in self.forms:
            return ("boolean", "string"), ""
        if "day" in self.forms:
            return ("date", "timestamp", "string"), ""
        if "time" in self.forms:
            return ("timestamp", "string"), "" if self.has_zones else "no time has a zone: read as UTC"
        if "odd day" in self.forms:
            return ("string",), "days in another form than 2026-12-31: say in an action which part is the month"
        if "odd number" in self.forms and self.has_signs:
            return ("string",), "numbers with signs of thousands, percent or currency: convert them in an action"
        return ("string",), ""

    def doubles(self) -> tuple[Sequence[str], str]:
        """Types that these numbers may have beside NaN and Infinity, as `types`."""
        if self.significant <= _DOUBLE_DIGITS:
            return ("double",), ""
        return (), f"numbers of more than {_DOUBLE_DIGITS} digits beside NaN would be rounded as double"

    def _numbers(self) -> tuple[Sequence[str], str]:
        if self.has_plus and "whole" in self.forms:
            return ("string",), "numbers such as +4712345678 would lose their sign"
        if self.has_zeros:
            return ("string",), "numbers such as 007 would lose their zeros"
        if self.has_codes and not self.has_points:
            return ("string",), "codes such as 1E5 would become 100000: declare double, if they are numbers"
        if "whole" in self.forms and self.digits <= _DIGITS:
            return ("bigint", "string"), ""
        if "decimal" in self.forms and self.scale <= _MOST_SCALE and self.digits + self.scale <= DECIMAL_DIGITS:
            digits = _DIGITS if self.digits + self.scale <= _DIGITS else DECIMAL_DIGITS
            return (f"decimal({digits},{self.scale})", "double", "string"), ""
        if "whole" in self.forms:
            return ("string",), f"numbers of more than {DECIMAL_DIGITS} digits"
        if self.significant <= _DOUBLE_DIGITS:
            return ("double", "string"), ""
        if "decimal" in self.forms and self.digits + self.scale <= DECIMAL_DIGITS:
            return (f"decimal({DECIMAL_DIGITS},{self.scale})", "string"), ""
        return ("string",), f"numbers of more than {_DOUBLE_DIGITS} digits would be rounded as double"


def _all(values: "pa.ChunkedArray | pa.Array", pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(values, pattern)).as_py())


def _any(values: "pa.ChunkedArray | pa.Array", pattern: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(values, pattern)).as_py())


def _longest(values: "pa.ChunkedArray | pa.Array") -> int:
    return int(pc.max(pc.utf8_length(values)).as_py())
