"""Characters that no text may have, in YAML, in SQL and in what both say."""

import re

NO_TEXT = re.compile(r"[\x00\ud800-\udfff\ufffe\uffff]")
"""No file, table or message can have one; only an escape of YAML or SQL can say it."""


def not_allowed(found: re.Match[str]) -> str:
    r"""What a message says of one that `NO_TEXT` found.

    Example:
        >>> not_allowed(NO_TEXT.search("a\0b"))
        'the character U+0000 is not allowed'
    """
    return f"the character U+{ord(found[0]):04X} is not allowed"
