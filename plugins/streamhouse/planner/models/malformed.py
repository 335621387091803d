"""What was wrong with an answer that has not even the form of one."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage

_KINDS = frozenset({"retry-feedback", "tool-return"})
_MOST = 3  # faults of one answer


def fault_of(messages: Sequence["ModelMessage"]) -> str:
    """What the last answer of a conversation lacked, as its model is about to read it; empty: it lacked nothing."""
    last = messages[-1] if messages else None
    if last is None or last.kind != "request":
        return ""
    refusals = (
        part for part in last.parts if part.part_kind in _KINDS and getattr(part, "outcome", "retried") == "retried"
    )
    contents = [getattr(part, "content", "") for part in refusals]
    return "; ".join(filter(None, map(_words, contents)))


def _words(content: Any) -> str:
    if not isinstance(content, list):
        return str(content)
    return "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in content[:_MOST])
