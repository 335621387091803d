"""A state store whose records are not as they were written."""

from collections.abc import Iterator
from contextlib import contextmanager

from streamhouse.errors import StateConflictError


def damaged(what: str) -> StateConflictError:
    """The error of a record that is damaged.

    Args:
        what: Is recorded, for people.
    """
    return StateConflictError(
        f"the state store is damaged: {what} is not as it was recorded",
        hint="move the state store away, or put a copy of it back; then see: streamhouse restore --dry-run",
    )


@contextmanager
def parsing(what: str) -> Iterator[None]:
    """Within the block the values of a record become those of Python; what cannot be one is damage.

    SQLite gives a text or a float where a flipped bit says so, also of a column of whole numbers.

    Args:
        what: Is recorded, for people.

    Raises:
        StateConflictError: a value is none that was ever recorded.
    """
    try:
        yield
    except (ValueError, TypeError, AttributeError, KeyError, OverflowError) as error:
        raise damaged(what) from error
