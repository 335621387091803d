"""A state store whose records are not as they were written."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from streamhouse.errors import StateConflictError

if TYPE_CHECKING:
    from pydantic import ValidationError
    from sqlalchemy import Connection

MOVE_AWAY = "move the state store away, or put a copy of it back; then see: streamhouse restore --dry-run"
"""What to do about a state store that is damaged where no single record can be given up."""


class OtherVersionError(StateConflictError):
    """A record is whole, and of a version of Streamhouse that records it in another way."""


class DamagedStateError(StateConflictError):
    """A record is not as it was recorded."""


def unreadable(what: str, error: "ValidationError", *, hint: str, damaged_hint: str = MOVE_AWAY) -> StateConflictError:
    """The error of a record that has no checksum and is not as this version records it.

    Args:
        what: Is recorded, for people.
        error: Of who reads it: what is no JSON was recorded by no version.
        hint: What to do about a record of another version.
        damaged_hint: What to do about a record that is damaged.
    """
    if any(one["type"] == "json_invalid" for one in error.errors(include_url=False, include_input=False)):
        return damaged(what, hint=damaged_hint)
    return OtherVersionError(f"{what} was recorded by another version of Streamhouse", hint=hint)


def damaged(what: str, *, hint: str = MOVE_AWAY) -> DamagedStateError:
    """The error of a record that is damaged.

    Args:
        what: Is recorded, for people.
        hint: What to do about it.
    """
    return DamagedStateError(f"the state store is damaged: {what} is not as it was recorded", hint=hint)


@contextmanager
def parsing(what: str, *, hint: str = MOVE_AWAY) -> Iterator[None]:
    """Within the block the values of a record become those of Python; what cannot be one is damage.

    SQLite gives a text or a float where a flipped bit says so, also of a column of whole numbers.

    Args:
        what: Is recorded, for people.
        hint: What to do about damage.

    Raises:
        DamagedStateError: a value is none that was ever recorded.
    """
    try:
        yield
    except (ValueError, TypeError, AttributeError, KeyError, OverflowError) as error:
        raise damaged(what, hint=hint) from error


def check_file(connection: "Connection") -> None:
    """Compare each row of an SQLite file with its keys in the indexes, and each page with what it says of itself.

    SQLite finds rows by their keys. A flipped bit makes a key another one, or one of bytes: then no query finds the
    row, and nothing is wrong with the rows that are found. PostgreSQL has checksums of pages.

    Args:
        connection: To an SQLite database. The check reads the whole file: 2 CPU-ms for each MB.

    Raises:
        DamagedStateError: something is wrong.
    """
    found = connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar_one()
    if found != "ok":
        raise damaged(f"a table or index of its file ({found})")
