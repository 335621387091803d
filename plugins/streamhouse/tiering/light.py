"""Keeps a package away that is imported in vain, and takes longer to import than a small query takes."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_pandas() -> Iterator[None]:
    """Let nothing import pandas in the block, unless somebody did before.

    DuckDB imports it, for one and a half seconds of a processor, to find that what it is given is no data frame, and
    does without. Only in the main thread, where a command runs: others may run beside one that needs the package.
    """
    if "pandas" in sys.modules or threading.current_thread() is not threading.main_thread():
        yield
        return
    sys.modules["pandas"] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules["pandas"]
