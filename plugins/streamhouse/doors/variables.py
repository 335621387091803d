"""Which variables of the environment a flow may name as secrets. Pure."""

import re
from collections.abc import Collection, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

PREFIX = "STREAMHOUSE_SECRET_"
"""A variable whose name begins so is there for flows."""

SETTING = "secret_variables"
"""Names the others, in streamhouse.yaml."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,254}")


def is_variable(name: str) -> bool:
    """Whether a text is the name of a variable of the environment.

    Example:
        >>> is_variable("KAFKA_PASSWORD"), is_variable("hu$h")
        (True, False)
    """
    return bool(_NAME.fullmatch(name))


def is_text(value: str) -> bool:
    r"""Whether the value of a variable is text in UTF-8; of other bytes Python makes halves of characters.

    Example:
        >>> is_text("hush"), is_text("\udcff")
        (True, False)
    """
    return not any("\ud800" <= letter <= "\udfff" for letter in value)


def _variable(name: str) -> str:
    if not is_variable(name):  # it may be the secret itself
        raise ValueError("this is no name of an environment variable, such as KAFKA_PASSWORD")
    return name


def _server(text: str) -> str:
    if text != ANY and not re.fullmatch(r"[^\s,/@]{1,255}:[0-9]{1,5}", text):
        raise ValueError("this is no server; write host:port")
    return text


def _named(value: Any) -> Any:
    """Names alone are for any server."""
    texts = isinstance(value, list | tuple) and all(isinstance(name, str) for name in value)
    return dict.fromkeys(value, (ANY,)) if texts else value


ANY = "*"
"""Stands for every server."""

PermittedVariables = Annotated[
    dict[
        Annotated[str, AfterValidator(_variable)],
        Annotated[tuple[Annotated[str, AfterValidator(_server)], ...], Field(min_length=1)],
    ],
    BeforeValidator(_named),
]
"""Name → `host:port` of the servers that may get its value. A list of names is read as names for any server."""


def why_not(variable: str, servers: Collection[str], permitted: Mapping[str, Collection[str]]) -> str | None:
    """Why a source at these servers may not have the value of a variable; None: it may.

    Args:
        variable: Its name.
        servers: `host:port` of each that could get it.
        permitted: As the settings of the project have them.

    Example:
        >>> why_not("AWS_SECRET_ACCESS_KEY", ["h:1"], {})
        'no flow may have the environment variable AWS_SECRET_ACCESS_KEY'
        >>> why_not("STREAMHOUSE_SECRET_KAFKA", ["h:1"], {})
        >>> why_not("KAFKA", ["h:1"], {"KAFKA": ("i:1",)})
        'the environment variable KAFKA is not for h:1'
    """
    if variable in permitted:
        allowed = {one.lower() for one in permitted[variable]}
        others = sorted({one.lower() for one in servers} - allowed) if ANY not in allowed else []
        return f"the environment variable {variable} is not for {others[0]}" if others else None
    if variable.startswith(PREFIX):
        return None
    return f"no flow may have the environment variable {variable}"
