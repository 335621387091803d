"""A state store whose records are not as they were written."""

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
