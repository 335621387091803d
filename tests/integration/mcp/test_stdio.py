"""A client that starts the server itself: every tool, over real pipes and real rows."""

import asyncio
import signal
import subprocess

import pytest

from tests.command import COMMAND
from tests.gate.levels import deep
from tests.integration.mcp.conftest import engines
from tests.patience import PATIENCE_S, until

pytestmark = [
    pytest.mark.spark,
    deep(
        "servers that end, queries that nobody waits for, and rows, which test_from_nothing.py reads too",
        stays=("test_every_tool_that_looks[2026-07-28]",),
    ),
]


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
def test_every_tool_that_looks(over_stdio, ran, mode):
    async def work(call):
        listed = await call.client.list_tools()
        assert [tool.name for tool in listed.tools][:4] == ["search", "describe", "validate", "plan"]
        assert (await call("search", text="how long was a ride"))["hits"][0]["name"] == "ods.rides"
        table = (await call("describe", name="ods.rides"))["table"]
        assert table["rows_written"] == 3
        assert {column["name"]: column["unit"] for column in table["columns"]}["minutes"] == "minutes"
        assert (await call("validate"))["ok"]
        assert not (await call("plan"))["flows"][0]["changes"]
        [flow] = (await call("diagnose", name="ods.rides"))["flows"]
        assert flow["hops"][0]["before"] == "source"
        return await call.client.list_resources()

    assert "streamhouse://table/ods.rides" in [one.uri for one in over_stdio(ran, work, mode=mode).resources]


def test_rows_of_a_table_that_lets_them_out(over_stdio, ran):
    async def work(call):
        found = await call("query", sql="SELECT station, sum(minutes) AS m FROM ods.rides GROUP BY 1 ORDER BY 1")
        sample = (await call("describe", name="ods.rides", rows=2))["sample"]
        refused = await call.error("query", sql="SELECT CAST(station AS INT) FROM ods.rides WHERE no = 1")
        return found, sample, refused

    found, sample, refused = over_stdio(ran, work)
    assert found["result"]["rows"] == [["north", 30], ["south", 30]]
    assert found["tables"] == ["ods.rides"]
    assert (len(sample["rows"]), sample["more"]) == (2, True)
    assert (refused["code"], refused["file"], refused["line"]) == ("SH601", "query", 1)


def test_a_query_that_takes_too_long_or_that_nobody_waits_for(over_stdio, ran):
    slow = "SELECT count(*) FROM " + " CROSS JOIN ".join(f"ods.rides AS r{n}" for n in range(24))

    async def late(call):
        return await call.error("query", sql=slow)

    error = over_stdio(ran, late, "--timeout", "5")
    assert error["code"] in {"SH602", "SH802"}
    assert "5 s" in error["message"]

    async def given_up(call):
        waiting = asyncio.ensure_future(call.client.call_tool("query", {"sql": slow}))
        await asyncio.to_thread(until, lambda: engines(ran))
        waiting.cancel()
        assert (await call("validate"))["ok"]
        await asyncio.to_thread(until, lambda: not engines(ran), saw=lambda: engines(ran))

    over_stdio(ran, given_up)


def test_what_tools_print_does_not_reach_the_wire(over_stdio, rides):
    async def work(call):
        return [await call("search", text="rides") for _ in range(3)]

    assert len(over_stdio(rides, work)) == 3


@pytest.mark.parametrize("how", ["closed", "SIGTERM"])
def test_the_server_ends(rides, environment, how):
    words = [*COMMAND, "mcp", "--project", str(rides)]
    server = subprocess.Popen(words, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    server.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    server.stdin.flush()
    assert '"id":1' in server.stdout.readline()
    if how == "closed":
        server.stdin.close()
    else:
        server.send_signal(signal.SIGTERM)
    try:
        assert server.wait(PATIENCE_S) in {0, 130}
    finally:
        server.kill()
