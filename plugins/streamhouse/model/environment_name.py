"""The name of an environment, as every door that creates one checks it."""

import re

from streamhouse.model.types import NAME

ENVIRONMENT_LENGTH = 60
"""So many letters a name has at most."""


def environment_name(text: str) -> str:
    """The name, which must be plain: it is part of commands that a person copies.

    Raises:
        ValueError: it is none; the message says how to write one.
    """
    if re.fullmatch(NAME, text) is None or text.endswith("\n") or len(text) > ENVIRONMENT_LENGTH:
        raise ValueError(
            f"'{text}' is no name of an environment; write at most {ENVIRONMENT_LENGTH} lower-case letters, digits"
            " and _, with a letter first, such as dev"
        )
    return text
