"""A process that dies at a call that changes the disk."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

_CALLS = ((Path, "unlink"), (Path, "replace"), (Path, "touch"), (os, "fsync"), (os, "open"))


class Killed(BaseException):
    """As a kill: what comes after does nothing."""


@contextmanager
def killed_after(monkeypatch: pytest.MonkeyPatch, calls: int) -> Iterator[None]:
    """Die at a call that changes the disk, after so many."""
    left = [calls]

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **more: Any) -> Any:
            left[0] -= 1
            if left[0] < 0:
                raise Killed
            return real(*args, **more)

        return call

    with monkeypatch.context() as patch:
        for owner, name in _CALLS:
            patch.setattr(owner, name, counted(getattr(owner, name)))
        with suppress(Killed):
            yield
