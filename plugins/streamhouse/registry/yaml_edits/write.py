"""Values as YAML that reads back as the same value, and short lines that people would have written."""

import re
from collections.abc import Mapping
from textwrap import wrap
from typing import Any

WIDTH = 120
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
_SLASH = "\\x2F"
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_ .()/%*<>=+'-]*")
_KEYWORDS = frozenset({"true", "false", "null", "~", "yes", "no", "on", "off", "none"})


def scalar(value: Any) -> str:
    """One value, as it may stand inside of brackets, too."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    text = str(value)
    plain = _PLAIN.fullmatch(text) and text.lower() not in _KEYWORDS and text == text.strip() and "*/" not in text
    return text if plain else _quoted(text)


def _quoted(text: str) -> str:
    """Text in quotes on one line; in it nothing ends the comment that holds a header."""
    shown = "".join(_ESCAPES.get(char) or (char if char.isprintable() else f"\\U{ord(char):08X}") for char in text)
    return f'"{shown.replace("*/", "*" + _SLASH)}"'


def inline(value: Any) -> str:
    """A value on one line: mappings and lists in brackets."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{scalar(key)}: {inline(part)}" for key, part in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(inline(part) for part in value) + "]"
    return scalar(value)


def entry(key: str, value: Any, indent: int = 0) -> list[str]:
    """`key: value` in lines: on one where it fits, else one line for each part."""
    space = " " * indent
    line = f"{space}{key}: {inline(value)}"
    if len(line) <= WIDTH or not isinstance(value, (Mapping, list, tuple)):
        return [line]
    if isinstance(value, Mapping):
        return [
            f"{space}{key}:",
            *(part for name, one in value.items() for part in entry(scalar(name), one, indent + 2)),
        ]
    return [f"{space}{key}:", *(part for one in value for part in item(one, indent + 2))]


def prose(key: str, text: str) -> list[str]:
    """`key: text` in lines of at most `WIDTH` characters."""
    line = f"{key}: {inline(text)}"
    if len(line) <= WIDTH or "  " in text or not text.isprintable() or "*/" in text or "---" in text or " #" in text:
        return [line]
    return [f"{key}: >-", *wrap(text, WIDTH, initial_indent="  ", subsequent_indent="  ", break_long_words=False,
                                break_on_hyphens=False)]  # fmt: skip


def block(key: str, value: Mapping[str, Any], indent: int = 0) -> list[str]:
    """`key:` and below it one line, or several, for each part."""
    return [
        f"{' ' * indent}{key}:",
        *(part for name, one in value.items() for part in entry(scalar(name), one, indent + 2)),
    ]


def item(value: Any, indent: int) -> list[str]:
    """`- value` of a list, in lines."""
    line = f"{' ' * indent}- {inline(value)}"
    if len(line) <= WIDTH or not isinstance(value, Mapping):
        return [line]
    parts = [part for name, one in value.items() for part in entry(scalar(name), one, indent + 2)]
    return [f"{' ' * indent}- {parts[0].strip()}", *parts[1:]]
