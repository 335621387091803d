"""Errors of values, with the column that they are of."""

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

from streamhouse.ingest.unreadable import UnreadableError


@contextmanager
def in_column(name: str) -> Iterator[None]:
    """Say of an error in the block which column it is about.

    Raises:
        UnreadableError: in place of this one, and of all that says that a value does not fit.
    """
    try:
        yield
    except UnreadableError as error:
        raise UnreadableError(error.reason, f"column '{name}': {error}") from error
    except (pa.ArrowException, ArithmeticError, ValueError) as error:
        raise UnreadableError("type", f"column '{name}': {error}") from error
