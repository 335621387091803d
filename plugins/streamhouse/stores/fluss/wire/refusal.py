"""What a Fluss server refuses a request with, as an error of ours."""

import re

from streamhouse.errors import (
    LoginRefusedError,
    StoreError,
    StoreUnavailableError,
    TableMissingError,
    WriteRefusedError,
)

STATUS = "streamhouse services status shows whether it runs"
OUT_OF_RANGE = 19
_SYSTEM_ERROR = re.compile(r'"IO Error: ([^"]+)"')
_NO_TABLE = (4, 7)  # DATABASE_NOT_EXIST, TABLE_NOT_EXIST
# Schema, leader, bucket or partition not (yet) known to this server; 37: the table was created again, unpartitioned.
_MOVED = (9, 12, 21, 24, 36, 37, 44)
_SERVER_FAILED, _AWAY = -1, 1
_STARTING = "is not initialized yet"
_UNREADABLE = "Failed to get table"
# Storage, no server up, timeout, replicas, back-pressure; 31 and 33: the server knows another writer, or none.
# 51: it is too busy to let us in.
_TRANSIENT = (10, 11, 17, 25, 26, 27, 28, 29, 31, 33, 51, 64, 65, 70, 72)
_NO_ENTRY = 46
_NOT_KEYED = 20


class LeaderMovedError(StoreUnavailableError):
    """A server does not (yet, or any more) hold what was asked: look the table up again."""


class UnsentError(LeaderMovedError):
    """The same, before any row was sent: to send them again is safe."""


class NotKeyedError(StoreError):
    """A request that only tables with a primary key answer was about another table."""


class TableUnfinishedError(LeaderMovedError):
    """A table is being made in this very moment: for some milliseconds Fluss has its name and nothing of it yet."""


def refusal(code: int, message: str, subject: str) -> StoreError:
    """The error of ours for a Fluss error code, as client or server reports it.

    Args:
        code: A number of Fluss's `Errors`; -1 is a failure inside the server, -2 one inside its client.
        message: What Fluss says; only its first line is kept, as the rest is a Java stack.
        subject: What the request was about: a table name or an address.
    """
    reason = (message.strip().splitlines() or ["no reason given"])[0]
    reason = reason.removeprefix(reason.split(" ")[0]).strip() if reason.startswith("org.apache.fluss.") else reason
    if code in _NO_TABLE or "TableNotExistException" in message:
        return TableMissingError(f"Fluss has no table {subject}", hint="apply the flow's plan to create it")
    if code == _SERVER_FAILED and _STARTING in message:
        return StoreUnavailableError(f"Fluss is starting and cannot serve {subject} yet", hint=STATUS)
    if code == _SERVER_FAILED and _UNREADABLE in message:
        return TableUnfinishedError(f"Fluss cannot tell what {subject} is", hint=STATUS)
    if code == _AWAY:
        return StoreUnavailableError(f"Fluss does not answer for {subject}: {_plain(reason)}", hint=STATUS)
    if code in _MOVED:
        return LeaderMovedError(f"Fluss is moving {subject}: {reason}")
    if code == _NO_ENTRY:
        return LoginRefusedError(
            f"Fluss does not let us in: {reason}",
            hint="fluss_login.user (STREAMHOUSE_FLUSS_USER) is who logs in, with STREAMHOUSE_FLUSS_PASSWORD",
        )
    if code == _NOT_KEYED:
        return NotKeyedError(f"Fluss's table {subject} has no primary key")
    if code in _TRANSIENT:
        return StoreUnavailableError(f"Fluss cannot serve {subject} now: {reason}")
    if code in (45, 49):
        return WriteRefusedError(
            f"Fluss makes no further partition of {subject}: {reason}",
            hint="tables that keep their rows for some days only lose old partitions by themselves; else raise "
            "max.partition.num and max.bucket.num of the Fluss servers",
        )
    if code in (13, 14, 35, 43, 57):
        return WriteRefusedError(f"Fluss refuses rows for {subject}: {reason}")
    return StoreError(f"Fluss refuses a request for {subject}: {reason} (code {code})")


def _plain(reason: str) -> str:
    """What the operating system says, without the layers of the client around it."""
    system_error = _SYSTEM_ERROR.search(reason)
    return system_error[1] if system_error else reason
