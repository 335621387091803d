"""What is private to pypaimon, as it has no public way to the same; its version is pinned."""

from collections.abc import Mapping
from typing import Any


def builder_of(handle: Any, user: str) -> Any:
    """A builder of writes to a table whose commits have `user`; pypaimon itself makes one up for each builder."""
    return handle.new_stream_write_builder()._with_commit_user(user)


def splits_of(scan: Any, snapshot: Any) -> Any:
    """What a stream's scan reads of one snapshot; pypaimon has no public way to read from one id to another."""
    return scan._create_follow_up_plan(snapshot).splits()


def overwrite_all(commit: Any, messages: Any, number: int, properties: Mapping[str, str]) -> None:
    """Commit a table's new content. pypaimon offers this to batch writers only, which cannot choose their number."""
    commit.file_store_commit.overwrite({}, messages, number, properties)


def drop_rows(commit: Any, where: Any, number: int, properties: Mapping[str, str]) -> None:
    """Commit a snapshot without the rows of some partitions, as number `number` of the commit's user.

    pypaimon's own `drop_partitions` takes no properties, by which readers tell this from other overwrites.
    """
    store = commit.file_store_commit
    store._try_commit(
        commit_kind="OVERWRITE",
        commit_identifier=number,
        commit_entries_plan=store._overwrite_changes_provider(where, []).provide,
        detect_conflicts=True,
        allow_rollback=False,
        snapshot_properties=dict(properties),
    )
