"""Texts that name a command of the command line, for a client that has tools: it is pointed to the tool. Pure."""

import re

_TOOLS = {
    "action list": "search",
    "action show": "describe",
    "ask": "ask",
    "flow list": "search",
    "flow show": "describe",
    "lineage": "describe",
    "plan": "plan",
    "query": "query",
    "status": "diagnose",
    "validate": "validate",
    "why": "diagnose",
}
"""Command → the tool that does the same."""

_ARGUMENT = r"(?: (?:--?[a-z][\w-]*|[A-Z]{2,}[A-Z_.=]*|'[^']*'|\[[^\]]*\]))"
_NAME = r"(?: [a-z]\w*(?:\.\w+)?(?=$|[;,.)`\n]))?"
_TOOL = "|".join(sorted(_TOOLS, key=len, reverse=True))
_WITH_TOOL = re.compile(rf"`?(?:\bsee: )?\bstreamhouse ({_TOOL})(?![\w-]){_ARGUMENT}*{_NAME}{_ARGUMENT}*`?", re.ASCII)
COMMANDS = frozenset(
    [
        "action",
        "adopt",
        "apply",
        "approvals",
        "approve",
        "ask",
        "autopilot",
        "backfill",
        "capture",
        "changes",
        "demo",
        "describe",
        "env",
        "events",
        "explain",
        "flow",
        "forget",
        "import",
        "init",
        "lineage",
        "mcp",
        "plan",
        "proposals",
        "quarantine",
        "query",
        "refuse",
        "restore",
        "run",
        "runner",
        "services",
        "source",
        "status",
        "tier",
        "trigger",
        "ui",
        "upkeep",
        "validate",
        "why",
    ]
)
"""All commands of the command line."""

_OTHER = re.compile(rf"`?\bstreamhouse (?=(?:{'|'.join(sorted(COMMANDS))})\b)")
_PERSON = re.compile(r"\ba person\b[^;]*$")


def for_client(text: str) -> str:
    """A text in which each command has the tool in its place, or says that a person types it.

    Example:
        >>> for_client("ask again; streamhouse ask WISH")
        "ask again; the tool 'ask'"
        >>> for_client("create it: streamhouse apply orders --env review")
        'create it: a person types: streamhouse apply orders --env review'
        >>> for_client("a person can look at it: streamhouse ui")
        'a person can look at it: streamhouse ui'
    """
    with_tools = _WITH_TOOL.sub(lambda m: _unless_a_person(m, f"the tool '{_TOOLS[m[1]]}'"), text)
    return _OTHER.sub(lambda m: _unless_a_person(m, f"a person types: {m[0]}"), with_tools)


def _unless_a_person(found: re.Match[str], instead: str) -> str:
    """What takes the place of a command, where the text does not say already that it is for a person."""
    return found[0] if _PERSON.search(found.string[: found.start()]) else instead
