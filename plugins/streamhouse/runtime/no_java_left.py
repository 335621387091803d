"""Leaves no Java process of Spark behind when its start is interrupted."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from streamhouse.services.orphans import children_of, marked
from streamhouse.services.process import Process

_GRACE_S = 2.0


@contextmanager
def no_java_left(folder: Path) -> Iterator[None]:
    """What the block starts does not outlive this process, also where the block is interrupted.

    Spark's Java process waits for the end of its standard input only after it has said where it listens. One that
    is interrupted before that finds the file for this gone, and waits forever.

    Args:
        folder: `.streamhouse` of the project.
    """
    with marked(folder):
        try:
            yield
        except (KeyboardInterrupt, SystemExit):
            for child in children_of(Process.this(), folder):
                child.stop(_GRACE_S)
            raise
