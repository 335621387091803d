"""The last door of an analysis: whatever it stumbles over is a coded error at the place of what was analysed."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlglot.errors import SqlglotError

from streamhouse.errors import Location, SqlSyntaxError, StreamhouseError, UnforeseenError


@contextmanager
def guard_analysis(at: Location, what: str) -> Iterator[None]:
    """Let no other exception out than ours and the parser's, so that a fault in one file hides no other file.

    Args:
        at: The place of what is analysed.
        what: It, in words.

    Raises:
        SqlSyntaxError: too much stands in each other.
        UnforeseenError: anything that nobody foresaw.
    """
    try:
        yield
    except (StreamhouseError, SqlglotError):
        raise
    except RecursionError as error:
        hint = "split it into CTEs or steps"
        raise SqlSyntaxError(f"in {what} too much stands in each other", at=at, hint=hint) from error
    except Exception as error:
        cause = f"{type(error).__name__} ({str(error).partition(chr(10))[0][:120]})"
        raise UnforeseenError(
            f"{what} cannot be analysed: {cause}",
            at=at,
            hint="rewrite it in another way, and report it with this text: the fault is ours",
        ) from error


@contextmanager
def read_at(at: Location, what: str) -> Iterator[None]:
    """As `guard_analysis`, around the parser: what it cannot read is no SQL that we know, and so a fault of the text.

    Raises:
        SqlSyntaxError: the parser stumbles over the text.
    """
    try:
        with guard_analysis(at, what):
            yield
    except UnforeseenError as error:
        raise SqlSyntaxError(f"{what} is not readable", at=at, hint="compare it with Spark's syntax") from error
