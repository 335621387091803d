"""Old segments of a topic's journal are replaced by a base, when no reader needs them any more.

A base is written whole, then gets its name, then what it replaces goes. Readers count nothing that a base replaces, so
the process may die between any two of these: the next one removes what was left.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from streamhouse.ingest.cdc_topic import CdcTopic
from streamhouse.ingest.journal_base import number_of, remove_replaced, write_base
from streamhouse.ingest.topic_base import TopicBase, TopicBaseHeader, TopicView
from streamhouse.ingest.topic_events import ends_in
from streamhouse.ingest.topic_journal import TopicJournal
from streamhouse.ingest.topic_letters import Line

_LINES_AT_ONCE = 20_000
_Line = tuple[str, int, bytes]
"""Segment, number in it from 0, and the line."""


def shorten(sources: Sequence[CdcTopic], names: Sequence[str], is_over: Callable[[], bool] = lambda: False) -> bool:
    """Replace the oldest segments of a journal by a base.

    Args:
        sources: All that read the journal; at least one, and each is past these segments.
        names: Segments, at least one; the first ones of the journal, and no line is added to them.
        is_over: Whether the process is to end.

    Returns:
        False: the process is to end, and nothing was replaced.

    Raises:
        StreamhouseError: a file of the journal is gone or damaged, or a schema registry does not answer.
        OSError: the disk is full.
    """
    journal = sources[0].journal
    found, base = journal.group(), journal.base()
    assert found is not None, "it has segments"
    folder, removed = found[0], set(base.header.removed if base is not None else ())
    needed: list[NDArray[np.int64]] = []
    views = _views(sources, base)
    deletes_from = _deletes_from(sources, base, names)
    for source in sources:
        lines = source.needed(
            lambda id_: all(one.truncation(id_) == "removed" for one in sources), deletes_from=deletes_from
        )
        for chunk in _chunks(journal, base, names):
            if is_over():
                return False
            lines.take(source.journal.events([line for _, _, line in chunk]))
        needed.append(lines.found())
        removed.update(lines.removed)
    kept = np.unique(np.concatenate(needed))
    counts = {name: journal.lines(name).count() for name in names}
    last = journal.lines(names[-1])
    header = TopicBaseHeader(
        rows=len(kept),
        covers={**(base.covers if base is not None else {}), **counts},
        ends=ends_in(last.raw(0, counts[names[-1]])),  # a segment begins with the ends of the one before
        views=views,
        removed=tuple(sorted(removed)),
    )
    write_base(folder, names[-1], header, _written(journal, base, names, kept))
    remove_replaced(folder)
    return True


def _deletes_from(sources: Sequence[CdcTopic], base: TopicBase | None, names: Sequence[str]) -> int | None:
    """From which line on deletes stay, counted over base and segments from 0; None: they go.

    They stay where sources tell rows apart by different keys: what one of them keeps may be a row that another has
    deleted. Otherwise they stay behind the first dead letter, which must not undo them when it is read again.
    """
    if len({one.view for one in sources}) > 1:
        return 0
    letters = [first for one in sources if one.keeps_bad_rows and (first := one.first_letter()) is not None]
    return _number_of(min(letters), sources[0].journal, base, names) if letters else None


def _number_of(line: Line, journal: TopicJournal, base: TopicBase | None, names: Sequence[str]) -> int:
    """Where a line is among those of base and segments; of one that is gone, where it would be."""
    found = 0
    if base is not None:
        lines = base.lines
        found = bisect_left(range(base.rows), line, key=lambda at: _line_of(lines.placed(at, at + 1)[0]))
        if found < base.rows:
            return found
    for name in names:
        number = number_of(Path(name))
        if number >= line[0]:
            return found + (line[1] if number == line[0] else 0)
        found += journal.lines(name).count()
    return found


def _line_of(placed: _Line) -> Line:
    return number_of(Path(placed[0])), placed[1]


def _views(sources: Sequence[CdcTopic], base: TopicBase | None) -> tuple[TopicView, ...]:
    """Those whose rows the new base has: all events of them are there to be folded."""
    found = dict.fromkeys(source.view for source in sources)
    return tuple(view for view in found if base is None or view in base.header.views)


def _chunks(journal: TopicJournal, base: TopicBase | None, names: Sequence[str]) -> Iterator[list[_Line]]:
    for first in range(0, base.rows if base is not None else 0, _LINES_AT_ONCE):
        assert base is not None, "it has rows"
        yield base.lines.placed(first, min(base.rows, first + _LINES_AT_ONCE))
    for name in names:
        lines = journal.lines(name)
        count = lines.count()
        for first in range(0, count, _LINES_AT_ONCE):
            raw = lines.raw(first, min(count, first + _LINES_AT_ONCE))
            yield [(name, number, line) for number, line in enumerate(raw, first)]


def _written(
    journal: TopicJournal, base: TopicBase | None, names: Sequence[str], kept: NDArray[np.int64]
) -> Iterator[bytes]:
    """The lines that are kept, as a base has them."""
    first = 0
    for chunk in _chunks(journal, base, names):
        begin, end = np.searchsorted(kept, [first, first + len(chunk)])
        for at in kept[begin:end]:
            name, number, line = chunk[int(at) - first]
            yield b"%d %d %b" % (int(name.rpartition("/")[2].partition(".")[0]), number, line)
        first += len(chunk)
