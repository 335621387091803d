"""What can be read by its address: tables, actions, flows and proposals, as JSON."""

import json
import re
from collections.abc import Callable
from urllib.parse import unquote

from mcp.types import (
    ListResourcesResult,
    ListResourceTemplatesResult,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)
from pydantic import BaseModel

from streamhouse.errors import AnswerTooLargeError, ArgumentsError
from streamhouse.mcp_server import describe
from streamhouse.mcp_server.arguments import NAME_LENGTH
from streamhouse.mcp_server.limits import MOST_BYTES
from streamhouse.mcp_server.tool_context import Serving
from streamhouse.mcp_server.wishes import show_proposal

JSON = "application/json"
_PAGE = 200
_ADDRESS = re.compile(r"streamhouse://(table|action|flow|proposal)/([^/?#]+)")
_ABOUT = {
    "table": "a table: columns, key, meaning, SQL, lineage, freshness",
    "action": "an action: inputs, parameters, promises, uses, SQL",
    "flow": "a flow: steps, state, freshness",
    "proposal": "a proposal: how a wish was understood, files as a diff, plan, questions",
}


def templates() -> ListResourceTemplatesResult:
    """The kinds of addresses."""
    return ListResourceTemplatesResult(
        resource_templates=[
            ResourceTemplate(
                name=kind,
                title=kind.capitalize(),
                uri_template=f"streamhouse://{kind}/{{{'id' if kind == 'proposal' else 'name'}}}",
                description=about,
                mime_type=JSON,
            )
            for kind, about in _ABOUT.items()
        ]
    )


def listed(serving: Serving, cursor: str | None) -> ListResourcesResult:
    """Names of flows, tables and actions, a page at a time.

    Raises:
        ArgumentsError: the cursor is none of ours.
    """
    if cursor is not None and not re.fullmatch(r"\d{1,7}", cursor, re.ASCII):
        raise ArgumentsError("the cursor is none that this server gave", hint="list again without one")
    shared, begin = serving.shared(), int(cursor or 0)
    names = [
        (kind, name)
        for kind, some in (("flow", shared.flows), ("table", shared.tables), ("action", shared.actions))
        for name in sorted(some)
    ]
    shown = names[begin : begin + _PAGE]
    return ListResourcesResult(
        resources=[
            Resource(name=name, uri=f"streamhouse://{kind}/{name}", description=_ABOUT[kind], mime_type=JSON)
            for kind, name in shown
        ],
        next_cursor=str(begin + _PAGE) if begin + _PAGE < len(names) else None,
    )


def read(serving: Serving, uri: str) -> ReadResourceResult:
    """What is at an address.

    Raises:
        ArgumentsError: it is none of ours.
        StreamhouseError: nothing is there, or it may not be shown.
        AnswerTooLargeError: the answer has more bytes than a client is sent.
    """
    found = _ADDRESS.fullmatch(uri) if len(uri) <= 2 * NAME_LENGTH else None
    if found is None:
        raise ArgumentsError(
            f"'{uri[:NAME_LENGTH]}' is no address of this server", hint="streamhouse://table/dws.revenue_by_product"
        )
    kind, name = found[1], unquote(found[2])
    reading: Callable[[], BaseModel] = (
        (lambda: show_proposal(serving, name)) if kind == "proposal" else (lambda: describe.facts(serving, name, kind))
    )
    text = json.dumps(serving.cleaned(reading().model_dump(mode="json")), ensure_ascii=False)
    if len(text.encode()) > MOST_BYTES:
        raise AnswerTooLargeError(f"it is larger than {MOST_BYTES:,} bytes", hint="use the tool 'describe'")
    return ReadResourceResult(contents=[TextResourceContents(uri=uri, text=text, mime_type=JSON)])
