"""Keeps Fluss from throwing away rows of its last seconds when it starts again after `kill -9`.

A starting tablet server believes the high watermarks of a file that it writes every five seconds,
0 for a bucket that the file lacks. While the coordinator still looks for leaders, the server takes
each bucket as a follower's and cuts its log off there, rows that it had acknowledged included
(0.9.1: `ReplicaManager.makeFollowers`). With one replica everything in a log is committed, so the
true watermark is the end of the log; the server lowers a watermark that lies beyond it to it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from streamhouse.install.whole_file import write_whole

_FILE = "high-watermark-checkpoint"
_BEYOND_ANY_LOG = 2**63 - 1
_FORMAT_VERSION = 0
_TABLE = re.compile(r".+-(\d+)", re.ASCII)
_PARTITION = re.compile(r".+-p(\d+)", re.ASCII)
_LOG = re.compile(r"log-(\d+)", re.ASCII)


def keep_whole_logs(data: Path) -> int:
    """Raise the recorded watermark of every bucket beyond its log's end; the tablet server must not run.

    Args:
        data: The tablet server's data folder: `<database>/<table>-<id>/[<partition>-p<id>/]log-<bucket>`.

    Returns:
        How many buckets there are.
    """
    buckets = [
        *_buckets(data.glob("*/*/log-*"), (_TABLE, _LOG)),
        *_buckets(data.glob("*/*/*/log-*"), (_TABLE, _PARTITION, _LOG)),
    ]
    lines = [str(_FORMAT_VERSION), str(len(buckets)), *(f"{bucket} {_BEYOND_ANY_LOG}" for bucket in buckets)]
    write_whole(data / _FILE, "".join(f"{line}\n" for line in lines))
    return len(buckets)


def _buckets(logs: Iterable[Path], patterns: Sequence[re.Pattern[str]]) -> Iterator[str]:
    for log in sorted(logs):
        parts = [pattern.fullmatch(part) for pattern, part in zip(patterns, log.parts[-len(patterns) :], strict=True)]
        found = [part[1] for part in parts if part]
        if len(found) == len(patterns):  # else it is being deleted: `log-0.deleted`
            yield " ".join(found)
