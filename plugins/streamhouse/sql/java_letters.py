r"""Which letters the sets of Java's regular expressions have, such as `\w` and `\p{Lu}`. Pure."""

import unicodedata
from collections.abc import Callable
from types import MappingProxyType

Test = Callable[[str], bool]

_LINE_ENDS = "\n\x0b\f\r\x85\u2028\u2029"
_H_BLANKS = " \t\xa0\u1680\u180e\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_PUNCT = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
_ASCII: MappingProxyType[str, Test] = MappingProxyType(
    {
        "lower": lambda one: "a" <= one <= "z",
        "upper": lambda one: "A" <= one <= "Z",
        "ascii": lambda _: True,
        "alpha": str.isalpha,
        "digit": str.isdecimal,
        "alnum": str.isalnum,
        "punct": lambda one: one in _PUNCT,
        "graph": lambda one: "!" <= one <= "~",
        "print": lambda one: " " <= one <= "~",
        "blank": lambda one: one in " \t",
        "cntrl": lambda one: one < " " or one == "\x7f",
        "xdigit": lambda one: one in "0123456789abcdefABCDEF",
        "space": lambda one: one in " \t\n\x0b\f\r",
    }
)
_UNICODE: MappingProxyType[str, Test] = MappingProxyType(
    {
        "alphabetic": str.isalpha,
        "letter": str.isalpha,
        "digit": str.isdecimal,
        "letterordigit": str.isalnum,
        "lowercase": str.islower,
        "uppercase": str.isupper,
        "whitespace": str.isspace,
        "white_space": str.isspace,
        "punctuation": lambda one: unicodedata.category(one)[0] == "P",
        "control": lambda one: unicodedata.category(one) == "Cc",
        "all": lambda _: True,
        "l1": lambda one: one <= "\xff",
        "ld": str.isalnum,
        "lc": lambda one: unicodedata.category(one) in ("Lu", "Ll", "Lt"),
    }
)
_SCRIPTS = MappingProxyType({"han": "CJK"})
_CASES = ("lower", "upper", "lowercase", "uppercase", "lu", "ll", "lt")


def one_of(letter: str, is_either_case: bool) -> Test:
    """Takes one letter, maybe of either case."""
    alike = {letter, letter.lower(), letter.upper()} if is_either_case else {letter}
    return lambda one: one in alike


def negated(test: Test) -> Test:
    """Takes what a test does not."""
    return lambda one: not test(one)


def of_sign(sign: str, *, is_unicode: bool = False) -> Test:
    r"""What `\d`, `\h`, `\s`, `\v` or `\w` takes, by their letter.

    Example:
        >>> of_sign("w")("\u00e9"), of_sign("w", is_unicode=True)("\u00e9")
        (False, True)
    """
    if sign == "h":
        return lambda one: one in _H_BLANKS
    if sign == "v":
        return lambda one: one in _LINE_ENDS
    if is_unicode:
        return {"d": str.isdecimal, "s": str.isspace, "w": lambda one: one.isalnum() or one == "_"}[sign]
    name = {"d": "digit", "s": "space", "w": "alnum"}[sign]
    return lambda one: (one.isascii() and _ASCII[name](one)) or (sign == "w" and one == "_")


def of_name(name: str, is_either_case: bool) -> Test:
    r"""What `\p{name}` takes; of a name that is not known here, every letter."""
    key = name.rpartition("=")[2]
    if is_either_case and key.lower().removeprefix("is").removeprefix("java") in _CASES:
        return str.isalpha
    if key.lower() in _ASCII and not name.lower().startswith(("is", "in")):
        return lambda one: one.isascii() and _ASCII[key.lower()](one)
    for beginning in ("Is", "java", ""):
        plain = key.removeprefix(beginning).lower() if key.startswith(beginning) else ""
        if plain in _UNICODE:
            return _UNICODE[plain]
        if plain and len(plain) <= 2 and plain[0] in "lmnpszc":
            category = plain.capitalize()
            return lambda one: unicodedata.category(one).startswith(category)
    if key.startswith("Is") or "script=" in name.lower() or "sc=" in name.lower():
        script = key.removeprefix("Is")
        begins = _SCRIPTS.get(script.lower(), script.upper().replace("_", " "))
        return lambda one: unicodedata.name(one, "").startswith(begins)
    return lambda _: True
