"""Exactly-once commits: which epoch of a writer a table already holds, and what came with it.

pypaimon's own commit takes the same messages twice. So every commit carries its writer as commit
user and its epoch as commit identifier, and is made only after looking for itself among the
snapshots. A tag on the newest snapshot of each writer keeps that knowledge through expiry and
bounds the search.
"""

import json
import re
from contextlib import suppress
from hashlib import sha256
from typing import Any

from streamhouse.errors import StoreError
from streamhouse.model.types import Tier
from streamhouse.stores.base import CARRIED, SNAPSHOT_ID, WRITER
from streamhouse.stores.data_check import remedy
from streamhouse.stores.paimon.checksums import checksums_at
from streamhouse.stores.paimon.private import builder_of
from streamhouse.stores.paimon.verified import handle_path, record, snapshots_of

_TAG = "streamhouse."


def commit_user(writer: str) -> str:
    """The writer as Paimon's commit user: a file name, one for each writer."""
    digest = sha256(writer.encode()).hexdigest()[:8]
    return f"{_TAG}{re.sub(r'[^A-Za-z0-9_-]', '.', writer)}.{digest}"


def last_commit(handle: Any, user: str) -> Any | None:
    """The newest snapshot of `user`, which may live on in its tag only; None when there is none."""
    tagged = max(_tags(handle, user), key=lambda s: s.id, default=None)
    floor = tagged.id if tagged else 0
    return next(_back(handle, floor, lambda s: s.commit_user == user), tagged)


def tag_commit(handle: Any, snapshot: Any) -> None:
    """Keep `snapshot`, the newest of its writer, from being forgotten.

    Two tags take turns: pypaimon truncates a tag before it writes it again, so a process killed
    there leaves one unreadable tag and one good one.
    """
    name = f"{snapshot.commit_user}-{snapshot.commit_identifier % 2}"
    tags = handle.tag_manager()
    current_tag = _read_tag(handle, tags.tag_path(name))
    if current_tag is None or current_tag.id < snapshot.id:
        if tags.tag_exists(name):
            handle.replace_tag(name, snapshot.id)
        else:
            handle.create_tag(name, snapshot.id)


def carry(handle: Any) -> None:
    """Say again what the newest commit of each writer said, and tag that, where files were replaced since.

    Its snapshot has files that the newest one has not, and the tag would keep them all. The caller holds the table's
    lock, and the handle commits also what is empty.
    """
    replaced = next((s.id for s in _back(handle, 0, lambda s: s.commit_kind != "APPEND")), 0)
    writers = {snapshot.commit_user for snapshot in _tags(handle, _TAG)}
    last = [snapshot for user in writers if (snapshot := last_commit(handle, user)) is not None]
    for snapshot in sorted(last, key=lambda one: one.id):
        if snapshot.id > replaced:
            continue
        user = snapshot.commit_user
        said = {**(snapshot.properties or {}), CARRIED: str(snapshot.id)}
        commit = builder_of(handle, user).new_commit()
        try:
            commit.commit([], snapshot.commit_identifier, snapshot_properties=said)
        finally:
            commit.close()
        record(handle)
        carried = last_commit(handle, user)
        tag_commit(handle, carried)
        other = f"{user}-{(snapshot.commit_identifier + 1) % 2}"
        if handle.tag_manager().tag_exists(other):
            handle.delete_tag(other)


def newest_properties(handle: Any) -> dict[str, str]:
    """The properties of the newest snapshot that any writer of ours made; empty when none did."""
    tagged = max(_tags(handle, _TAG), key=lambda s: s.id, default=None)
    floor = tagged.id if tagged else 0
    newest = next(_back(handle, floor, lambda s: WRITER in (s.properties or {})), tagged)
    return properties_of(newest) or {}


def properties_of(snapshot: Any | None) -> dict[str, str] | None:
    """What a snapshot of ours carries; None: there is no snapshot."""
    return None if snapshot is None else {**(snapshot.properties or {}), SNAPSHOT_ID: str(snapshot.id)}


def _back(handle: Any, floor: int, wanted: Any) -> Any:
    """Snapshots with ids above `floor` that are `wanted`, newest first."""
    manager = snapshots_of(handle)
    latest = manager.get_latest_snapshot()
    for number in range(latest.id if latest else 0, floor, -1):
        snapshot = latest if number == latest.id else manager.get_snapshot_by_id(number)
        if snapshot is None:
            return  # expired, as are all before it
        if wanted(snapshot):
            yield snapshot


def _tags(handle: Any, prefix: str) -> list[Any]:
    manager = handle.tag_manager()
    names = [name for name in manager.list_tags() if name.startswith(prefix)]
    read = [_read_tag(handle, manager.tag_path(name)) for name in names]
    return [snapshot for snapshot in read if snapshot is not None]


def _read_tag(handle: Any, path: str) -> Any | None:
    """The snapshot a tag holds; None when there is no such tag, or it was cut off."""
    from pypaimon.common.json_util import JSON
    from pypaimon.snapshot.snapshot import Snapshot

    if not handle.file_io.exists(path):
        return None
    try:
        text = handle.file_io.read_file_utf8(path)
        with suppress(json.JSONDecodeError):
            json.loads(text)
            tagged = JSON.from_json(text, Snapshot)
            return _proven_tag(handle, path, tagged)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise StoreError(
            f"a tag of a table in the warm tier is damaged: {path}: {error}", hint=remedy(Tier.WARM)
        ) from error
    return None


def _proven_tag(handle: Any, path: str, tagged: Any) -> Any:
    if (checksums := checksums_at(handle_path(handle))) is not None:
        checksums.prove_tag(path, tagged)
    return tagged


def tagged_snapshots(handle: Any) -> list[int]:
    """The numbers of those that a tag of ours keeps."""
    return [snapshot.id for snapshot in _tags(handle, _TAG)]
