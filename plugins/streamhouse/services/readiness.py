"""Whether a Fluss cluster takes requests for every table it holds."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from streamhouse.errors import MissingPackageError

if TYPE_CHECKING:
    import fluss

# A coordinator that is not the leader yet may leave a request without an answer: rather ask again soon.
_PATIENCE_S = 2.0


def what_is_missing(address: str, tablet_port: int) -> str | None:
    """What does not answer yet, in words for a person; None: everything does.

    For about a second after its start a cluster knows some tables and not others, and has buckets
    without a leader. Each call makes a connection of its own, which may be served by another
    server than the one before: ask until several answers in a row are None.

    Args:
        address: Where the coordinator listens, `host:port`.
        tablet_port: Port of the tablet server that must have registered.

    Raises:
        MissingPackageError: pyfluss is not installed.
    """
    # A thread of its own: the caller's may already run an event loop, as in a notebook.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(_ask(address, tablet_port))).result()


async def _ask(address: str, tablet_port: int) -> str | None:
    try:
        import fluss
    except ImportError as error:
        raise MissingPackageError("pyfluss is not installed", hint="pip install 'streamhouse[engine]'") from error
    subject = "the coordinator"
    try:
        async with asyncio.timeout(_PATIENCE_S):
            connection = await fluss.FlussConnection.create(fluss.Config({"bootstrap.servers": address}))
        try:
            admin = connection.get_admin()
            async with asyncio.timeout(_PATIENCE_S):
                nodes = await admin.get_server_nodes()
            if tablet_port not in {node.port for node in nodes if node.server_type == "TabletServer"}:
                return "the tablet server has not registered"
            for database in await admin.list_databases():
                for name in await admin.list_tables(database):
                    subject = f"table {database}.{name}"
                    async with asyncio.timeout(_PATIENCE_S):
                        await _find_leaders(connection, fluss.TablePath(database, name))
        finally:
            await connection.close()
    except fluss.FlussError as error:
        return f"{subject}: {error.message.splitlines()[0]}"  # the server sends its stack trace along
    except TimeoutError:
        return f"{subject} does not answer"
    return None


async def _find_leaders(connection: "fluss.FlussConnection", path: "fluss.TablePath") -> None:
    """Ask something that only the leader of each bucket can tell."""
    import fluss

    admin, latest = connection.get_admin(), fluss.OffsetSpec.latest()
    table = (await connection.get_table(path)).get_table_info()
    buckets = list(range(table.num_buckets))
    if not table.is_partitioned():
        await admin.list_offsets(path, buckets, latest)
        return
    for partition in await admin.list_partition_infos(path):
        await admin.list_partition_offsets(path, partition.partition_name, buckets, latest)
