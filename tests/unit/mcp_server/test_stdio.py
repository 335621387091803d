"""Lines of a client that are no messages: each has an answer, and the next one is read."""

import io
import json

import anyio
import pytest
from mcp.server.stdio import stdio_server

from streamhouse.mcp_server.server import create_server
from streamhouse.mcp_server.stdio import AnsweredStream
from streamhouse.mcp_server.tool_context import Serving
from tests.waits import at_most

PARSE, REQUEST = -32700, -32600
PING = '{"jsonrpc":"2.0","id":"last","method":"ping"}'
BEGIN = (
    '{"jsonrpc":"2.0","id":"first","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},'
    '"clientInfo":{"name":"x","version":"1"}}}'
)
CALL = '{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"describe","arguments":{"name":%s}}}'
LINES = {  # line → id and code of its answer; None: it has none
    "half of a pair": (CALL % (2, '"\\ud800"'), (2, PARSE)),
    "half of a pair as a key": ('{"jsonrpc":"2.0","id":2,"method":"ping","params":{"\\udfff":1}}', (2, PARSE)),
    "half of a pair as the id": (CALL % ('"\\ud800"', '"x"'), (None, PARSE)),
    "an id of text": (CALL % ('"a"', '"\\ud800"'), ("a", PARSE)),
    "no JSON": ("not json", (None, PARSE)),
    "cut": ('{"jsonrpc":"2.0","id":3,"meth', (None, PARSE)),
    "deep": ("[" * 100_000, (None, PARSE)),
    "many digits": (CALL % (3, "9" * 5000), (None, PARSE)),
    "an id of many digits": (CALL % ("9" * 5000, '"x"'), (None, PARSE)),
    "a list": ("[]", (None, REQUEST)),
    "several messages": (f"[{PING}, {PING}]", (None, REQUEST)),
    "nothing": ("null", (None, REQUEST)),
    "without a method": ('{"jsonrpc":"2.0","id":4}', (4, REQUEST)),
    "another version": ('{"jsonrpc":"1.0","id":5,"method":"ping"}', (5, REQUEST)),
    "no version": ('{"id":6,"method":"ping"}', (6, REQUEST)),
    "a method of a number": ('{"jsonrpc":"2.0","id":7,"method":5}', (7, REQUEST)),
    "parameters in a list": ('{"jsonrpc":"2.0","id":9,"method":"ping","params":[1]}', (9, REQUEST)),
    "an empty line": ("", None),
    "blanks": ("  ", None),
}


def answers(project, *lines, last='"last"'):
    """What the server says to lines, until it has said `last`."""
    out = io.TextIOWrapper(io.BytesIO(), write_through=True)

    async def given():
        for line in lines:
            yield f"{line}\n"
        while last.encode() not in out.buffer.getvalue():
            await anyio.sleep(0.001)

    async def serve():
        serving = Serving.of(project, 60)
        server = create_server(serving)
        try:
            async with stdio_server(given(), anyio.wrap_file(out)) as (incoming, outgoing):
                await server.run(AnsweredStream(incoming, outgoing), outgoing, server.create_initialization_options())
        finally:
            serving.close()

    with at_most():
        anyio.run(serve)
    return [json.loads(line) for line in out.buffer.getvalue().splitlines()]


def told(document):
    return document["id"], document.get("error", {}).get("code")


def test_each_line_that_is_no_message_has_an_answer(project, subtests):
    for name, (line, wanted) in LINES.items():
        with subtests.test(name):
            found = answers(project, BEGIN, line, PING)
            assert sorted(map(str, map(told, found))) == sorted(
                map(str, [("first", None), *([wanted] if wanted is not None else []), ("last", None)])
            )


def test_before_the_first_request_too(project):
    assert told(answers(project, "not json", BEGIN, last='"first"')[0]) == (None, PARSE)


@pytest.mark.parametrize("secret", ["ods.secret", "a password"])
def test_an_answer_does_not_repeat_the_line(project, secret):
    odd = json.dumps({"jsonrpc": "2.0", "id": 1, "method": 5, "params": secret})
    found = answers(project, BEGIN, odd, secret, PING)
    assert len(found) == 4
    assert secret not in json.dumps(found)
