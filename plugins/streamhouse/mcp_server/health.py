"""How flows are doing, in the words of answers. What an error says may quote rows, so it leaves only with them."""

import re
from collections.abc import Iterable
from functools import cache
from inspect import getdoc

from streamhouse import errors
from streamhouse.errors import StreamhouseError
from streamhouse.mcp_server.answers import Freshness, LossFacts, TroubleFacts
from streamhouse.mcp_server.commands import for_client
from streamhouse.mcp_server.shareable import Shared
from streamhouse.state.records import FlowEvent
from streamhouse.ui.answers import FlowSummary, LossAnswer

_CODE = re.compile(r"\bSH\d{3}\b", re.ASCII)
_OF_COUNTS = frozenset({"expectation", "loss", "plan", "segments", "retention", "meaning"})
"""Kinds of events whose texts quote no rows."""
_WITHHELD = "what it says may quote rows; a person can read it: streamhouse status"


def freshness(summary: FlowSummary) -> Freshness:
    """How fresh the tables of a flow are."""
    return Freshness(
        flow=summary.flow,
        state=summary.state,
        target_ms=summary.target_ms,
        layers=summary.freshness,
        last_epoch_at=summary.last_epoch_at,
    )


def troubles(summary: FlowSummary, shared: Shared, table: str | None = None) -> tuple[TroubleFacts, ...]:
    """What goes wrong with tables that may be shown; `table`: with this one alone."""
    return tuple(
        TroubleFacts(
            table=one.table,
            tier=one.tier,
            job=one.job,
            code=one.code,
            message=error_text(f"{one.code} {one.text}", shared, [one.table]),
            hint=shared.cleaned(for_client(one.hint)) if one.hint and shared.gives_rows(one.table) else None,
            since=one.since,
            times=one.times,
        )
        for one in summary.troubles
        if shared.sees(one.table) and table in (None, one.table)
    )


def losses(found: Iterable[LossAnswer], shared: Shared) -> tuple[LossFacts, ...]:
    """What flows lost, without tables that may not be shown; the first line of `streamhouse status`, as data."""
    return tuple(
        LossFacts(
            kind=one.kind,
            tier=one.tier,
            tables=tuple(filter(shared.sees, one.tables)),
            code=one.code,
            message=_loss_text(one, shared),
            hint=shared.cleaned(for_client(one.hint)) if one.hint else None,
        )
        for one in found
    )


def _loss_text(one: LossAnswer, shared: Shared) -> str:
    """What happened; what a store says of a file that it cannot read may quote rows of the file."""
    if one.kind == "unreadable":
        return error_text(f"{one.code} {one.text}", shared, one.tables or ["of which is not known"])
    return shared.cleaned(for_client(one.text))


def loss_line(one: LossFacts) -> str:
    """A loss in one line, with what to do."""
    message = one.message if one.message.startswith(one.code) else f"{one.code} {one.message}"
    return f"{message}; {one.hint}" if one.hint else message


def error_text(text: str, shared: Shared, tables: Iterable[str]) -> str:
    """What an error says, or, where tables keep their rows back, only what kind of error it is.

    Args:
        text: Of an error about some tables.
        shared: What may be shown.
        tables: Whose rows it may quote.
    """
    if all(shared.gives_rows(table) for table in tables):
        return shared.cleaned(for_client(text))
    found = _CODE.search(text)
    kind = f"{found[0]}: {meaning(found[0])}".rstrip(": ") if found else "an error"
    return f"{kind} ({_WITHHELD})"


def event_text(event: FlowEvent, shared: Shared, tables: Iterable[str]) -> str:
    """One report of a runner, with its time."""
    at = event.at.strftime("%Y-%m-%dT%H:%M:%SZ")
    if event.kind in _OF_COUNTS:
        text = shared.cleaned(event.text)
    elif _CODE.search(event.text) or all(shared.gives_rows(table) for table in tables):
        text = error_text(event.text, shared, tables)
    else:
        text = _WITHHELD  # it need not be an error
    return f"{at} {event.kind}: {text}"


def meaning(code: str) -> str:
    """What an error of a code is, in one sentence; empty: nobody knows the code."""
    return _meanings().get(code, "")


@cache
def _meanings() -> dict[str, str]:
    """Code → what its class stands for."""
    kinds = [one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, StreamhouseError)]
    return {kind.code: (getdoc(kind) or "").partition("\n")[0] for kind in reversed(kinds)}
