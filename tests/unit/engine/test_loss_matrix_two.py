"""Every loss of two flows, one of which reads the other's tables, played through by the rules.

`f` writes `T` (hot, with a copy in a lake) and `L` (first in a lake). `g` reads both, and writes `H` (hot, with a copy)
and `W` (first in a lake). A piece of the project is gone, or from an image: the older one, the present one, or
a newer one.
Each image has the last epoch of each flow; epochs of `g` are counted by the epoch of `f` up to which they read.
"""

from dataclasses import dataclass
from itertools import product

from streamhouse.engine.loss import CopyReach, LaterEpoch, LossCase, LossVerdict, SegmentRows, judged
from tests.loss_images import FILLS, GONE, NEWER, NOW, OLD, TAKES, later_of, recorded_of

PIECES = ("hot", "warm", "cold", "state", "checkpoints")
WORST = (  # as `SeenTables.rows`
    SegmentRows.LOST_LAKE,
    SegmentRows.READ_AHEAD,
    SegmentRows.LOST_HOT,
    SegmentRows.READS_LOST,
    SegmentRows.MORE,
    SegmentRows.AS_LEFT,
)


@dataclass(frozen=True)
class Made:
    """What a flow writes: the piece that has it; None: it has no such table.

    Attributes:
        hot: Whether it has a hot table.
        copy: Of that.
        lake: The table whose first tier is a lake.
    """

    hot: bool
    copy: str | None
    lake: str | None


@dataclass(frozen=True)
class Ways:
    """How the two flows are made, and how far each was in each image.

    Attributes:
        reads: Tables of `f` that `g` reads.
        epochs: Of `f` and of `g`, and of the copies of hot tables, in the images `OLD`, `NOW` and `NEWER`.
    """

    f: Made
    g: Made
    reads: frozenset[str]
    epochs: tuple[tuple[int, int, int], ...]

    def at(self, flow, image):
        """Epoch of a flow in an image; 0: the piece is gone."""
        return self.epochs[image - 1]["fgc".index(flow)] if image else 0


class One:
    """A flow, as `PositionSearch` sees it."""

    def __init__(self, ways, name, pieces, *, is_half):
        self.made, self.name = getattr(ways, name), name
        at = {piece: ways.at(name, image) for piece, image in pieces.items()}
        self.half = is_half and name == "f"
        self.hot = at["hot"] if self.made.hot else None
        self.lake = at[self.made.lake] if self.made.lake else None
        copy = pieces[self.made.copy] if self.made.copy else None
        self.copy = min(ways.at("c", copy), at[self.made.copy]) if copy is not None else 0
        self.state, self.log = at["state"], at["checkpoints"]
        self._look()
        self.judge()

    def _look(self):
        self.recorded = recorded_of(self.state, is_half=self.half)
        known = self.state + (self.half and bool(self.state))
        noted = max(self.hot or 0, self.lake or 0)
        self.others, later = later_of(known, noted, self.log)
        self.position = self.state if later is None else later
        self.note_at = later if self.others is LaterEpoch.DONE else None
        self.left = noted if self.others is LaterEpoch.DONE else self.state
        self.what = set()
        self.lost = set()
        if self.hot is not None:
            if self.hot < max(self.left, self.copy) or (not self.hot and (self.left or self.copy)):
                self.lost.add("hot")
            elif not self.hot and self.others is LaterEpoch.LOGGED and not self.state:
                self.lost.add("hot")  # `_add_short`: is gone
            elif self.half or self.hot > max(self.left, self.state):
                self.what.add(SegmentRows.MORE)
        if self.lake is not None:
            short = self.left if not (self.lost and self.others is LaterEpoch.LOGGED) else self.log
            if self.lake < short:
                self.lost.add("lake")
        if "lake" in self.lost:
            self.what.add(SegmentRows.LOST_LAKE)
        if "hot" in self.lost:
            self.what.add(SegmentRows.LOST_HOT)

    def judge(self):
        self.rows = next(one for one in WORST if one in self.what or one is SegmentRows.AS_LEFT)
        beyond = "hot" in self.lost and self.copy > self.position
        copies = CopyReach.BEYOND if beyond else CopyReach.WITHIN
        self.case = LossCase(self.recorded, self.others, self.rows, copies)
        self.verdict = judged(self.case).verdict

    @property
    def known(self):
        """The epoch behind which it goes on by its records; None: what its tables lack is computed."""
        if self.verdict is LossVerdict.COMPUTE:
            return None
        return self.position if self.verdict in TAKES else self.state

    def end(self, table):
        """Where a table ends now."""
        return self.hot if table == "hot" else self.lake


def looked(ways, pieces, *, is_half=False):
    """Both flows, judged together as `_compare_flows` does."""
    f = One(ways, "f", pieces, is_half=is_half)
    g = One(ways, "g", pieces, is_half=is_half)
    ends = [at for at in (g.known, g.note_at) if at]
    ahead = {table for table in ways.reads for at in ends if is_read_beyond(f, table, at)}
    if ahead:
        f.what.add(SegmentRows.READ_AHEAD)
        g.what.add(SegmentRows.READ_AHEAD)
    if ways.reads & f.lost:
        g.what.add(SegmentRows.READS_LOST)
    f.judge()
    g.judge()
    return f, g


def is_read_beyond(f, table, at):
    """Of a table that is lost, what was read is compared with where its own flow goes on."""
    if table not in f.lost:
        return f.end(table) < at
    return f.known is not None and f.known < at


def wrong(ways, pieces, *, is_half=False):
    """What is wrong with what the rules make of the pieces; None: nothing."""
    f, g = looked(ways, pieces, is_half=is_half)
    if LossVerdict.COMPUTE in (f.verdict, g.verdict):
        return None  # by the sources, for both, or it is refused
    for one in (f, g):
        if (text := wrong_alone(one)) is not None:
            return f"{one.name}: {text}"
    for table in ways.reads:
        if g.known > f.known:
            return f"f makes the epochs behind {f.known} again, of which g has read those up to {g.known}"
        if table not in f.lost and g.known > f.end(table):
            return f"g goes on behind epoch {g.known} of a table that ends behind {f.end(table)}"
    return None


def wrong_alone(one):
    hot, lake, position = one.hot, one.lake, one.known
    if one.verdict in FILLS and "hot" in one.lost:
        if one.copy > position:
            return "rows of the copy come twice"
        hot = position  # what it lacks up to there is named
    if one.half and one.verdict is LossVerdict.GO_ON:
        fits = all(end in (None, position) for end in (hot, lake))
        return None if fits else "an epoch in hand runs again over other rows"
    if any(end not in (None, position) for end in (hot, lake)):
        return f"it goes on behind epoch {position}, its tables end behind {hot} and {lake}"
    if one.hot is not None and one.copy > position:
        return "the copy is ahead of the table for good"
    return None


EPOCHS = (
    ((1, 1, 1), (2, 2, 2), (3, 3, 2)),  # each runs behind the other, and the newest rows are in no copy
    ((2, 1, 1), (4, 2, 4), (6, 5, 4)),  # g lags
    ((1, 0, 1), (2, 0, 2), (3, 3, 3)),  # g began late
)


def all_tables():
    lakes = ("warm", "cold")
    for copy, lake in product((*lakes, None), repeat=2):
        for made in (Made(True, copy, lake), Made(True, copy, None), Made(False, None, lake)):
            if made == Made(False, None, None):
                continue
            tables = frozenset({*(("hot",) if made.hot else ()), *(("lake",) if made.lake else ())})
            for own in (
                Made(True, "warm", "cold"), Made(True, None, None), Made(False, None, "cold"), Made(True, "cold", None)
            ):  # fmt: skip
                for reads in {tables, tables & {"hot"}, tables & {"lake"}} - {frozenset()}:
                    yield made, own, reads


def cells():
    """Each piece gone, older, as now or newer than the rest; at rest, and with an epoch of `f` in hand."""
    for images in product((GONE, OLD, NOW, NEWER), repeat=len(PIECES)):
        yield dict(zip(PIECES, images, strict=True)), False
    for images in product((GONE, OLD, NOW), repeat=len(PIECES)):
        pieces = dict(zip(PIECES, images, strict=True))
        if pieces["state"] == NOW:
            yield pieces, True


def test_every_loss_of_two_flows_is_right_or_computed_or_refused():
    found = {}
    for ways in (Ways(*tables, EPOCHS[number % 3]) for number, tables in enumerate(dict.fromkeys(all_tables()))):
        for pieces, is_half in cells():
            if (text := wrong(ways, pieces, is_half=is_half)) is not None:
                found.setdefault(text, []).append((ways, pieces, is_half))
    assert {text: (len(cases), str(cases[0])) for text, cases in found.items()} == {}
