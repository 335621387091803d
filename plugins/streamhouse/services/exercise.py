"""What the process does whose servers write the archives of their classes (`class_archive.py`)."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamhouse.services.services import running

if TYPE_CHECKING:
    import pyarrow as pa

_PATIENCE_MS = 5_000


def exercise() -> None:
    """Start the servers in the working directory, write and read two tables, stop the servers."""
    with running(Path.cwd()) as endpoints:
        asyncio.run(_use(endpoints.fluss))  # `class_archive.LIMIT_S` bounds it


async def _use(address: str) -> None:
    import fluss
    import pyarrow as pa

    rows = pa.table({"id": [1, 2], "n": [1, 2]})
    connection = await fluss.FlussConnection.create(fluss.Config({"bootstrap.servers": address}))
    try:
        admin = connection.get_admin()
        await admin.create_database("exercise", ignore_if_exists=True)
        for name, key in (("events", None), ("totals", ["id"])):
            path = fluss.TablePath("exercise", name)
            await admin.create_table(path, fluss.TableDescriptor(fluss.Schema(rows.schema, key)))
            table = await connection.get_table(path)
            await _write(table, rows, keyed=key is not None)
            await _read(table)
    finally:
        await connection.close()


async def _write(table: Any, rows: "pa.Table", *, keyed: bool) -> None:
    writer = (table.new_upsert() if keyed else table.new_append()).create_writer()
    if keyed:
        for row in rows.to_pylist():
            writer.upsert(row)
    else:
        writer.write_arrow(rows)
    await writer.flush()


async def _read(table: Any) -> None:
    import fluss

    scanner = await table.new_scan().create_log_scanner()
    scanner.subscribe(0, fluss.EARLIEST_OFFSET)
    await scanner.poll(_PATIENCE_MS)
