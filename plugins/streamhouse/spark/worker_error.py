"""Carries our errors from Spark's Python workers to the driver, where Spark shows no more than their text."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager

from streamhouse import errors
from streamhouse.errors import EngineError, StreamhouseError

# The text holds lines of source, too: also the one below that makes the text.
_ERROR_TEXT = re.compile(r'streamhouse-error (?P<told>\{"kind": .*\}) end of error')


@contextmanager
def telling() -> Iterator[None]:
    """In a worker: let an error of ours pass as text that `from_worker` reads back.

    Raises:
        RuntimeError: one of ours was raised; its text has kind, message and hint.
    """
    try:
        yield
    except StreamhouseError as error:
        place = f"{error.at}: " if error.at else ""
        fields = {"kind": type(error).__name__, "message": f"{place}{error.message}", "hint": error.hint}
        raise RuntimeError(f"streamhouse-error {json.dumps(fields)} end of error") from error


def from_worker(error: BaseException) -> StreamhouseError | None:
    """In the driver: the error of ours that failed a task; None when something else did."""
    if isinstance(error, StreamhouseError):
        return error
    found = _ERROR_TEXT.search(str(error))
    if found is None:
        return None
    fields = json.loads(found["told"])
    kind = getattr(errors, fields["kind"], EngineError)
    restored = kind.__new__(kind)  # subclasses have constructors of their own
    StreamhouseError.__init__(restored, fields["message"], hint=fields["hint"])
    assert isinstance(restored, StreamhouseError)
    return restored
