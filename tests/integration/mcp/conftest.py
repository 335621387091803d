"""`streamhouse mcp` as a process of its own, over standard input and output and over HTTP."""

import asyncio
import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from pathlib import Path

import httpx2
import psutil
import pytest
from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.command import COMMAND, address_of, clean_environment, document_of
from tests.patience import PATIENCE_S

INGEST = """/* ---
action: take_rides
step: ingest
description: Every ride as it was reported.
inputs:
  rides: {ride_id: bigint, station: string, minutes: int, started_at: timestamp}
output: {event_time: started_at}
ai: {rows: allowed}
columns:
  station: {description: where the ride began, synonyms: [stop]}
  minutes: {description: how long the ride took, unit: minutes}
--- */
SELECT ride_id, station, minutes, started_at
FROM rides
"""
FLOW = """flow: rides
description: Rides of rented bikes.
sources:
  rides:
    files:
      path: data/*.csv
      columns: {ride_id: bigint, station: string, minutes: int, started_at: timestamp}
tables: {ods.rides: {tiers: {warm: forever}}}
steps:
  - {use: take_rides, reads: {rides: rides}, writes: ods.rides}
"""
ROWS = """ride_id,station,minutes,started_at
1,north,10,2026-01-05 08:00:00
2,north,20,2026-01-05 09:00:00
3,south,30,2026-01-06 08:00:00
"""


@pytest.fixture(scope="session")
def environment():
    return clean_environment()


@pytest.fixture(scope="session")
def streamhouse(environment):
    """Runs the command as a person would and returns its JSON."""
    return partial(document_of, environment=environment)


def write_rides(folder: Path) -> Path:
    """A project with one source and one flow that takes it in."""
    files = {"actions/take_rides.sql": INGEST, "flows/rides.yaml": FLOW, "data/rides.csv": ROWS}
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def rides(tmp_path):
    return write_rides(tmp_path / "rides")


@pytest.fixture(scope="session")
def ran(tmp_path_factory, streamhouse):
    """The project after one run; read only."""
    folder = write_rides(tmp_path_factory.mktemp("mcp") / "rides")
    streamhouse("run", "rides", "--once", cwd=folder)
    return folder


class Session:
    """A client's calls, with what they told."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def __call__(self, tool, **arguments):
        found = await self.client.call_tool(tool, arguments)
        document = json.loads(found.content[0].text)
        assert not found.is_error, document
        assert found.structured_content == document
        return document

    async def error(self, tool, **arguments):
        found = await self.client.call_tool(tool, arguments)
        assert found.is_error
        return json.loads(found.content[0].text)["error"]


@pytest.fixture
def over_stdio(environment):
    """Runs work with a client that started `streamhouse mcp` itself."""

    def run(project, work, *options, mode="auto"):
        server = StdioServerParameters(
            command=COMMAND[0], args=[*COMMAND[1:], "mcp", *options, "--project", str(project)], env=environment
        )

        async def session():
            async with Client(stdio_client(server), mode=mode) as client:
                return await work(Session(client))

        return asyncio.run(session())

    return run


@contextmanager
def served(project: Path, environment: dict[str, str], *options: str) -> Iterator[str]:
    """`streamhouse mcp --http`: its address."""
    words = [*COMMAND, "mcp", "--http", "--json", *options, "--project", str(project)]
    server = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        yield address_of(server)
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(PATIENCE_S)


@asynccontextmanager
async def connected(url: str, token: str, mode: str = "auto"):
    """A client over HTTP; `mode` as of the SDK: which revision of the protocol."""
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=PATIENCE_S) as web,
        Client(streamable_http_client(url, http_client=web), mode=mode) as client,
    ):
        yield Session(client)


def engines(project):
    """Processes that answer queries of a project."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            words = process.cmdline()
            if "query" in words and str(project) in words:
                found.append(process.pid)
    return found
