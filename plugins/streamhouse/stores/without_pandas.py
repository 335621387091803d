"""Keeps a package away that is imported in vain, and takes longer to import than a small query takes."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.abc import MetaPathFinder


class _Absent(MetaPathFinder):
    """Finds out that there is no pandas. None in `sys.modules` would do for Python, but not for pyarrow's Cython."""

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:  # noqa: ARG002  Python's
        if fullname == "pandas":
            raise ModuleNotFoundError("pandas is kept away", name=fullname)


@contextmanager
def without_pandas() -> Iterator[None]:
    """Let nothing import pandas in the block, unless somebody did before.

    DuckDB and pyarrow's datasets import it, for a second of a processor and more, to find that what they are given is
    no data frame, and do without. Only in the main thread, where a command runs: others may run beside one that needs
    the package.
    """
    if "pandas" in sys.modules or threading.current_thread() is not threading.main_thread():
        yield
        return
    absent = _Absent()
    sys.meta_path.insert(0, absent)
    try:
        yield
    finally:
        sys.meta_path.remove(absent)
