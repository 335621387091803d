"""Which lines of a journal make the rows at one place of it: of each key the last one. Pure.

What cannot be folded exactly stays: messages that cannot be read, and all from a removal of all rows on that a source
keeps or was not decided.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from streamhouse.ingest.bad_rows import BadRow
from streamhouse.ingest.debezium import removals_in
from streamhouse.ingest.debezium_letters import decode_placed
from streamhouse.ingest.event_run import Events, WantedEvents
from streamhouse.stores.equality import plain_keys

_CODE = "code"  # twice the place of an event, and 1 more where it writes a row


class NeededLines:
    """Finds the lines without which the rows of a source at the end would be others.

    Args:
        wanted: Of the source.
        is_removed: Whether all rows are removed with a removal of this id.
        deletes_from: From this line on the last event of a key counts also where it is a delete; None: it does not.
    """

    def __init__(self, wanted: WantedEvents, is_removed: Callable[[str], bool], *, deletes_from: int | None) -> None:
        self.removed: list[str] = []  # ids of removals before which no row is left
        self._wanted = wanted
        self._is_removed = is_removed
        self._deletes_from = deletes_from
        self._count = 0  # of lines so far
        self._folds = True
        self._stay: list[NDArray[np.int64]] = []
        self._keys: list[pa.Table] = []  # the first one has each key once
        self._waiting_rows = 0

    def take(self, lines: Sequence[bytes]) -> None:
        """Look at the events of the next lines, in their order; b"": a line has none."""
        first = self._count
        self._count += len(lines)
        end = self._fold(lines, first) if self._folds else 0
        self._folds = end == len(lines)
        self._stay.append(np.array([first + at for at in range(end, len(lines)) if lines[at]], dtype=np.int64))

    def found(self) -> NDArray[np.int64]:
        """The numbers of these lines, counted from 0; rising."""
        self._combine()
        codes = self._keys[0].column(_CODE).to_numpy() if self._keys else np.empty(0, dtype=np.int64)
        is_row = codes % 2 == 1
        codes = codes[is_row if self._deletes_from is None else is_row | (codes // 4 >= self._deletes_from)]
        return np.unique(np.concatenate([codes // 4, *self._stay])).astype(np.int64)

    def _fold(self, lines: Sequence[bytes], first: int) -> int:
        """Take note of events up to the first that cannot be folded; gives its number among the lines."""
        removals = list(removals_in(lines, self._wanted))
        end = next((number for number, id_ in removals if not self._is_removed(id_)), len(lines))
        removals = [(number, id_) for number, id_ in removals if number < end]
        self.removed += [id_ for _, id_ in removals]
        bad: list[BadRow] = []
        for at, events in decode_placed(lines[:end], self._wanted, "", first, bad):
            if events.cleared:
                self._keys, self._waiting_rows = [], 0
            self._note(self._coded(events, at))
        # A removal stays also where the rows before it are gone: a new source has to decide about it.
        stay = [first + number for number, _ in removals] + [int(one.letter.position[1:]) for one in bad]
        self._stay.append(np.array(sorted(stay), dtype=np.int64))
        return end

    def _coded(self, events: Events, first: int) -> pa.Table:
        key = list(self._wanted.key)
        keys = pa.concat_tables([events.rows.select(key), events.deletes.select(key)])
        codes = np.concatenate([2 * (events.rows_at + 2 * first) + 1, 2 * (events.deletes_at + 2 * first)])
        return plain_keys(keys, key).append_column(_CODE, pa.array(codes, pa.int64()))

    def _note(self, keys: pa.Table) -> None:
        self._keys.append(keys)
        self._waiting_rows += keys.num_rows
        if self._waiting_rows > self._keys[0].num_rows:  # else each part would cost as much as all before it
            self._combine()

    def _combine(self) -> None:
        if not self._keys:
            return
        key = list(self._wanted.key)
        last = pa.concat_tables(self._keys).group_by(key, use_threads=False).aggregate([(_CODE, "max")])
        self._keys = [last.rename_columns({f"{_CODE}_max": _CODE}).select([*key, _CODE])]
        self._waiting_rows = 0
