"""A server of the small shop in this process, with the SDK's own client in front of it."""

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from mcp import Client, MCPError

from streamhouse.cli.init import write_project
from streamhouse.mcp_server.server import create_server
from streamhouse.mcp_server.tool_context import Serving
from streamhouse.project.project import Project


@dataclass
class Told:
    """What a call gave."""

    document: dict[str, Any]
    is_error: bool
    structured: Any

    @property
    def error(self):
        assert self.is_error, self.document
        return self.document["error"]


class Tools:
    """Calls tools as a client would, each in a connection of its own."""

    def __init__(self, project: Project, seconds: float = 60.0) -> None:
        self.project, self.seconds = project, seconds

    @asynccontextmanager
    async def client(self):
        serving = Serving.of(self.project, self.seconds)
        try:
            async with Client(create_server(serving)) as client:
                yield client
        finally:
            serving.close()

    def of(self, work):
        """What a coroutine function makes of a client."""

        async def run():
            async with self.client() as client:
                return await work(client)

        return asyncio.run(run())

    def refused(self, work):
        """The error of the protocol that a coroutine function meets."""

        async def met(client):
            with pytest.raises(MCPError) as found:
                await work(client)
            return found.value.error

        return self.of(met)

    def __call__(self, tool, **arguments):
        found = self.of(lambda client: client.call_tool(tool, arguments))
        [text] = found.content
        return Told(json.loads(text.text), found.is_error, found.structured_content)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """The small shop of `streamhouse init`; nothing ever ran."""
    monkeypatch.delenv("STREAMHOUSE_STATE", raising=False)
    write_project(tmp_path)
    return Project.at(tmp_path)


@pytest.fixture
def call(project):
    return Tools(project)


@pytest.fixture
def edit(project):
    def edited(name, old, new):
        file = project.root / name
        assert old in file.read_text()
        file.write_text(file.read_text().replace(old, new))

    return edited
