"""The server over standard input and output, for a client that starts it."""

import anyio
from mcp.server.stdio import stdio_server

from streamhouse.mcp_server.server import create_server
from streamhouse.mcp_server.tool_context import Serving
from streamhouse.project.project import Project


def serve(project: Project, seconds: float) -> None:
    """Answer until the client closes our input.

    Raises:
        KeyboardInterrupt: Ctrl-C, or SIGTERM.
    """
    serving = Serving.of(project, seconds)
    try:
        anyio.run(_serve, serving)
    finally:
        serving.close()


async def _serve(serving: Serving) -> None:
    server = create_server(serving)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
