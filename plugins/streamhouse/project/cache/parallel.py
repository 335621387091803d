"""Much work at once: several processes share it, and its results are in the cache when they are asked for."""

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

T = TypeVar("T")

_OBJECTS_BETWEEN_COLLECTIONS = 2_000_000  # about 300 MB of syntax trees

Found = dict[str, bytes]
"""Key → what stands under it in the cache."""


@contextmanager
def rarely_collected() -> Iterator[Callable[[], None]]:
    """Let Python look for garbage rarely, for work of a process that soon ends: it takes a sixth of a check's time.

    What is given says that all there is now is needed to the end, so that no look for garbage goes through it.
    """
    usual = gc.get_threshold()
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS, *usual[1:])
    try:
        yield gc.freeze
    finally:
        gc.freeze()  # counts what there is as old: with the usual threshold, a look would follow at once
        gc.set_threshold(*usual)
        gc.unfreeze()


def shared_out(things: Sequence[Sequence[T]], parts: int) -> list[list[T]]:
    """The things in so many parts, about alike in size; those that belong together stay so, in their order."""
    found: list[list[T]] = [[] for _ in range(parts)]
    for group in sorted(things, key=len, reverse=True):
        min(found, key=len).extend(group)
    return [part for part in found if part]


def at_once(parts: Sequence[T], work: Callable[[T], Found]) -> Found:
    """What `work` finds in all parts, each in a copy of this process, the first one here.

    What a copy that dies should have found is missing. The caller must have one thread only, and find out by itself
    what is missing.
    """
    from multiprocessing import get_context  # not needed for a single edit, and slow to load

    context = get_context("fork")
    running = []
    for part in parts[1:]:
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=_tell, args=(work, part, sender), daemon=True)
        process.start()
        sender.close()  # so that the end of the process is the end of the pipe
        running.append((receiver, process))
    found = work(parts[0]) if parts else {}
    for receiver, process in running:
        with suppress(EOFError):
            found |= receiver.recv()
        process.join()
    return found


def _tell(work: Callable[[T], Found], part: T, sender: "Connection") -> None:
    gc.freeze()  # a collection would write to, and so copy, every page that is shared with the parent
    with suppress(BaseException):  # the parent meets the same error by itself, and reports it
        sender.send(work(part))
