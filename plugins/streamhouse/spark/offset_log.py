"""The files of a Spark checkpoint: the log of offsets, written before each batch, and the log of commits, after it.

Batches are numbered from 0. An offset is a line of text; our streams have one source, so one offset a batch.
"""

import json
from collections.abc import Callable
from pathlib import Path
from shutil import rmtree
from uuid import uuid4

_OFFSETS, _COMMITS, _METADATA, _VERSION = "offsets", "commits", "metadata", "v1"


def newest_logged(folder: Path) -> int:
    """The newest batch in the log of offsets; -1: none."""
    return _newest(folder / _OFFSETS)


def newest_committed(folder: Path) -> int:
    """The newest batch in the log of commits; -1: none."""
    return _newest(folder / _COMMITS)


def is_logged(folder: Path, batch: int) -> bool:
    """Whether Spark logged where the batch ends."""
    return offset_file(folder, batch).is_file()


def offset_file(folder: Path, batch: int) -> Path:
    """Where the end of a batch is logged."""
    return folder / _OFFSETS / str(batch)


def offset_at_end(folder: Path, batch: int) -> str:
    """The offset at the end of a batch.

    Raises:
        ValueError: the log lacks the batch, or the file is none of its.
    """
    return _offset_in(offset_file(folder, batch))


def write_first_batch(folder: Path, offset: str, at_ms: int) -> None:
    """Make a checkpoint whose first batch is begun and ends there, in place of any that is in the folder."""
    rmtree(folder, ignore_errors=True)
    (folder / _OFFSETS).mkdir(parents=True)
    about = {"batchWatermarkMs": 0, "batchTimestampMs": at_ms, "conf": {}}
    (folder / _METADATA).write_text(json.dumps({"id": str(uuid4())}))
    offset_file(folder, 0).write_text("\n".join((_VERSION, json.dumps(about), offset)))


def has_metadata(folder: Path) -> bool:
    """Whether Spark's first file of a checkpoint is there."""
    return (folder / _METADATA).is_file()


def is_whole(folder: Path, is_offset: Callable[[str], bool]) -> bool:
    """Whether Spark can begin from a checkpoint: a disk that was full, or lost its power, leaves empty files.

    Args:
        folder: Of the checkpoint.
        is_offset: Whether a text is an offset of ours.
    """
    logs = {log: {int(p.name): p for p in (folder / log).glob("[0-9]*")} for log in (_OFFSETS, _COMMITS)}
    offsets, commits = logs[_OFFSETS], logs[_COMMITS]
    newest = max(offsets, default=-1)
    try:
        if not all(is_offset(_offset_in(file)) for file in offsets.values()):
            return False
        for file in (*commits.values(), *folder.glob(_METADATA)):
            json.loads(file.read_text().removeprefix(f"{_VERSION}\n"))
    except (OSError, ValueError):
        return False
    # Spark asks for the batch in hand and the one before it, and commits in turn.
    in_turn = max(commits, default=-1) in (newest, newest - 1)
    return in_turn and (newest < 1 or newest - 1 in offsets) and (newest < 0 or has_metadata(folder))


def _newest(log: Path) -> int:
    return max((int(p.name) for p in log.glob("[0-9]*")), default=-1)


def _offset_in(file: Path) -> str:
    try:
        # A version, the batch's metadata, then one line for each source.
        version, about, end = file.read_text().splitlines()
        if version != _VERSION:
            raise ValueError(version)
        json.loads(about)
    except OSError as error:
        raise ValueError(str(file)) from error
    return end
