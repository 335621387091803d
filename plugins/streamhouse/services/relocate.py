"""Rewrites the absolute paths that Fluss keeps, after the folder of its project was moved or copied.

Fluss names snapshots of tables and older segments of logs by their absolute paths: in ZooKeeper, and in the files that
list what a snapshot or a log consists of. The files are rewritten at once, ZooKeeper when it next starts, before any
other server does.
"""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from streamhouse.errors import ServiceStartError
from streamhouse.install.whole_file import write_whole
from streamhouse.services.layout import ServicesFolder
from streamhouse.services.ports import LOOPBACK
from streamhouse.stores.relocation import Relocation

if TYPE_CHECKING:
    from kazoo.client import KazooClient

_PATIENCE_S = 30.0


def note_move(folder: ServicesFolder, old: Path, new: Path) -> None:
    """Have the paths of `old` rewritten at the next start; a move that waits already began elsewhere."""
    waiting = _noted(folder)
    folder.moved.write_text(json.dumps({"old": waiting or str(old), "new": str(new)}), encoding="utf-8")


def pending(folder: ServicesFolder) -> Relocation | None:
    """What is still to be rewritten in ZooKeeper; None: nothing."""
    if (old := _noted(folder)) is None:
        return None
    # What the folder is called now counts: it may have been moved again.
    return Relocation(Path(old), folder.base.parent.parent)


def finish(folder: ServicesFolder, port: int, to: Relocation) -> None:
    """Rewrite files, and what ZooKeeper holds; nothing else of the services may run. Again: nothing.

    Raises:
        ServiceStartError: ZooKeeper does not answer.
    """
    for file in folder.remote.rglob("*"):
        if file.is_file():
            _rewrite(file, to)
    _rewrite_registry(port, to)
    folder.moved.unlink()


def _noted(folder: ServicesFolder) -> str | None:
    try:
        return str(json.loads(folder.moved.read_text(encoding="utf-8"))["old"])
    except FileNotFoundError:
        return None


def _rewrite(file: Path, to: Relocation) -> None:
    with file.open("rb") as opened:
        if opened.read(1) != b"{":  # rows, not a list of files
            return
    try:
        before = json.loads(file.read_bytes())
    except ValueError:
        return
    after = to.value(before)
    if after != before:
        write_whole(file, json.dumps(after, separators=(",", ":")))


def _rewrite_registry(port: int, to: Relocation) -> None:
    from kazoo.client import KazooClient
    from kazoo.exceptions import KazooException

    client = KazooClient(f"{LOOPBACK}:{port}", timeout=_PATIENCE_S)
    try:
        client.start(timeout=_PATIENCE_S)
        with closing(client):
            for node in _nodes(client, "/"):
                data, found = client.get(node)
                if data.startswith(b"{"):
                    before = json.loads(data)
                    after = to.value(before)
                    if after != before:
                        client.set(node, json.dumps(after, separators=(",", ":")).encode(), found.version)
            client.stop()
    except (KazooException, client.handler.timeout_exception, ValueError) as error:
        raise ServiceStartError(
            f"the paths that ZooKeeper holds could not be rewritten: {error}", hint="try again; nothing was lost"
        ) from error


def _nodes(client: "KazooClient", node: str) -> Iterator[str]:
    yield node
    for name in client.get_children(node):
        yield from _nodes(client, f"{node.rstrip('/')}/{name}")
