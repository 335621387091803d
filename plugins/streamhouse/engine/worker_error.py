"""Carries our errors from Spark's Python workers to the driver, where Spark shows no more than their text."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager

from streamhouse import errors
from streamhouse.errors import EngineError, StreamhouseError

_TOLD = re.compile(r"streamhouse-error (?P<told>\{.*\}) end of error")


@contextmanager
def telling() -> Iterator[None]:
    """In a worker: let an error of ours pass as text that `from_worker` reads back."""
    try:
        yield
    except StreamhouseError as error:
        place = f"{error.at}: " if error.at else ""
        told = {"kind": type(error).__name__, "message": f"{place}{error.message}", "hint": error.hint}
        raise RuntimeError(f"streamhouse-error {json.dumps(told)} end of error") from error


def from_worker(error: BaseException) -> StreamhouseError | None:
    """In the driver: the error of ours that failed a task; None when something else did."""
    if isinstance(error, StreamhouseError):
        return error
    found = _TOLD.search(str(error))
    if found is None:
        return None
    told = json.loads(found["told"])
    kind = getattr(errors, told["kind"], EngineError)
    restored = kind.__new__(kind)  # subclasses have constructors of their own
    StreamhouseError.__init__(restored, told["message"], hint=told["hint"])
    assert isinstance(restored, StreamhouseError)
    return restored
