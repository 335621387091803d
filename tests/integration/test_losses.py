"""Combinations of losses: after a restore every table equals the batch, or it is said what it lacks."""

import json
import shutil
import threading
from itertools import combinations

import pytest

from streamhouse.cli.main import main
from streamhouse.errors import StateConflictError, StoreError, StreamhouseError
from streamhouse.jobs.restore import rebuild_flows
from streamhouse.jobs.run import Meter, carry
from streamhouse.model.types import Tier
from streamhouse.runtime.open import plan_of
from streamhouse.state.troubles import RESTORE
from tests.drills import LAKE_FLOWS, PIECES, READ_FLOWS, WARM_FLOWS, drill
from tests.gate.levels import deep, soak
from tests.patience import until

pytestmark = [
    pytest.mark.services,
    pytest.mark.spark,
    deep(
        "each combination of losses takes half a minute",
        stays=("test_the_machine_of_a_small_project_died_and_the_lakes_are_left",),
    ),
]


def dies_at(point, table=""):
    def reach(name, detail=""):
        if name == point and detail.endswith(table):
            raise StoreError("it dies")

    return reach


@pytest.mark.parametrize("point", ["after_last_write", "after_begin"])
def test_an_epoch_that_was_cut_off_and_lost_its_offsets(tmp_path, spark, monkeypatch, point):
    """What it wrote is not passed over, and the rows that came meanwhile are not either."""
    with drill(tmp_path / "project", spark, WARM_FLOWS) as d:
        d.begin()
        d.add()
        d.run()
        d.add()
        with monkeypatch.context() as patched:
            patched.setattr("streamhouse.engine.stream.reach", dies_at(point))
            with pytest.raises(StoreError, match="it dies"):
                d.run()
        assert d.open.state.unfinished("f", "lake") == 1
        (d.folder / "checkpoints" / "f" / "lake" / "0" / "offsets" / "1").unlink()
        for _ in range(2):
            d.add()
            d.run()
            assert d.differences() == {}


LOGS = {
    "the newest of commits": ("commits/{before}",),
    "both": ("offsets/{newest}", "commits/{before}"),
    "an older one": ("offsets/{before}",),
    "everything": ("offsets/{newest}", "offsets/{before}", "commits/{before}", "metadata"),
}


def test_an_epoch_that_was_cut_off_and_lost_other_files_of_its_logs(tmp_path, spark, monkeypatch):
    with drill(tmp_path / "project", spark, WARM_FLOWS) as d:
        d.begin()
        for _ in range(2):
            d.add()
            d.run()
        for name, files in (*LOGS.items(), ("empty", ()), ("cut", ())):
            d.add()
            with monkeypatch.context() as patched:
                patched.setattr("streamhouse.engine.stream.reach", dies_at("after_last_write"))
                with pytest.raises(StoreError, match="it dies"):
                    d.run()
            folder = max((d.folder / "checkpoints" / "f" / "lake").iterdir(), key=lambda one: int(one.name))
            newest = max(int(one.name) for one in (folder / "offsets").iterdir() if one.name.isdigit())
            for file in files:
                (folder / file.format(newest=newest, before=newest - 1)).unlink(missing_ok=True)
            if not files:
                text = (folder / "offsets" / str(newest)).read_text()
                (folder / "offsets" / str(newest)).write_text("" if name == "empty" else text[: len(text) // 2])
            d.add()
            d.run()
            assert d.differences() == {}, name


@pytest.mark.parametrize(
    ("flows", "module", "point", "table", "stays"),
    [
        pytest.param(WARM_FLOWS, "epoch", "during_write", "dwd.two", "dwd.two", id="a table has the epoch before"),
        pytest.param(READ_FLOWS, "stream", "after_last_write", "", "ods.read", id="a copy has the epoch before"),
    ],
)
def test_an_epoch_that_was_cut_off_and_lost_the_state_store(
    tmp_path, spark, monkeypatch, flows, module, point, table, stays
):
    """The epoch before it comes back at its own time, by which a table or a copy is compared."""
    with drill(tmp_path / "project", spark, flows) as d:
        d.begin()
        d.add()
        d.run()
        d.tier()
        d.add()
        with monkeypatch.context() as patched:
            patched.setattr(f"streamhouse.engine.{module}.reach", dies_at(point, table))
            with pytest.raises(StoreError, match="it dies"):
                d.run()
        before = d.open.stores[Tier.WARM].identity(stays)
        d.end()
        d.lose("state")
        d.begin()
        assert is_refused(d)
        d.restore()
        assert d.open.stores[Tier.WARM].identity(stays) == before, "it is not filled again"
        assert goes_on(d) == {}


def test_an_epoch_of_which_no_record_says_where_it_ends(tmp_path, spark, monkeypatch):
    """Its note was too long for a commit, and Spark's log is gone: every command says so, and names what works."""
    monkeypatch.setattr("streamhouse.engine.note._LONGEST_PROPERTY", 0)
    with drill(tmp_path / "project", spark, WARM_FLOWS) as d:
        d.begin()
        d.add()
        d.run()
        d.add()
        with monkeypatch.context() as patched:
            patched.setattr("streamhouse.engine.stream.reach", dies_at("after_last_write"))
            with pytest.raises(StoreError, match="it dies"):
                d.run()
        shutil.rmtree(d.folder / "checkpoints")
        assert "restore f --from-sources" in refusal(d.run)
        assert ["restore f --from-sources" in one.hint for one in d.looked().lost] == [True]
        with pytest.raises(StateConflictError, match="restore f --from-sources"):
            d.restore()
        d.restore(from_sources=True)
        assert d.looked().lost == []
        d.add()
        d.run()
        assert d.differences() == {}


def test_a_flow_that_is_newer_than_the_one_whose_hot_table_it_reads(tmp_path, spark):
    """The writer would make an epoch again that the reader has read."""
    with drill(tmp_path / "project", spark, READ_FLOWS) as d:
        for image in ("old", "now"):
            d.begin()
            d.add()
            d.run()
            d.tier()
            d.end()
            d.save(image)
        for records in ({"state": "old", "checkpoints": "old"}, {"state": None, "checkpoints": "old"}):
            d.compose({"hot": None, "warm": "old", **records}, "now")
            d.begin()
            with pytest.raises(StateConflictError, match=r"restore \w --from-sources"):
                d.restore()
            d.restore(from_sources=True)
            assert goes_on(d) == {}
            d.end()


@pytest.fixture(scope="module")
def built(tmp_path_factory, spark):
    """Images: `old`, a file in every tier; `now`, two; `ahead`, a third one that no lake has; `hand`, cut off."""
    with pytest.MonkeyPatch.context() as patched, drill(tmp_path_factory.mktemp("losses") / "project", spark) as d:
        for image in ("old", "now", "ahead"):
            d.begin()
            d.add()
            d.run()
            if image != "ahead":
                d.tier()
            assert image == "ahead" or d.differences() == {}
            d.end()
            d.save(image)
        d.begin()
        d.add()
        patched.setattr("streamhouse.engine.stream.reach", dies_at("after_last_write"))
        with pytest.raises(StoreError, match="it dies"):
            d.run()
        d.end()
        d.save("hand")
        patched.undo()
        yield d


FILES = {"old": 1, "now": 2, "ahead": 3, "hand": 4, "branch": 3}
"""Image → how many files there were. `branch` is of tests that make it: `old` went on, and not by way of `now`."""


@pytest.fixture
def lost(built):
    """Puts the project together from pieces of images, with the files of `files` images, and begins.

    `change` is called with it while nothing runs.
    """
    d = built

    def begin(pieces, others="now", change=lambda _: None):
        d.files = max(FILES[image] for image in (others, *pieces.values()) if image is not None)
        for number in range(10):
            (d.root / "data" / f"{number:04}.csv").unlink(missing_ok=True)
        files, d.files = d.files, 0
        for _ in range(files):
            d.add()
        d.compose(pieces, others)
        change(d)
        d.begin()
        return d

    yield begin
    d.end(again=False)


def goes_on(d):
    """One more file, through every flow and tier; how tables differ from the batch; those named may lack rows."""
    d.add()
    d.run()
    d.tier()
    named = {one.table for one in d.open.state.troubles.current() if one.job == RESTORE}
    return d.differences(lacking=named)


def refusal(do):
    """The error that it ends with, as people see it; None: it goes well."""
    try:
        do()
    except StreamhouseError as error:
        return str(error)
    return None


def is_refused(d):
    return "streamhouse restore" in (refusal(d.run) or "")


def comes_back(d):
    """By the plain command, or by the one that it names; what it says then."""
    if (refused := refusal(d.restore)) is not None:
        assert "--from-sources" in refused
        d.restore(from_sources=True)
    return refused or ""


@pytest.mark.parametrize("others", ["now", "ahead"])
def test_an_older_state_store_without_the_hot_tier(lost, others):
    d = lost({"hot": None, "state": "old"}, others)
    assert is_refused(d)
    d.restore()
    assert goes_on(d) == {}


def test_an_older_state_store_and_checkpoints_without_the_hot_tier(lost):
    """The lakes' marks are past the last position that is known."""
    d = lost({"hot": None, "state": "old", "checkpoints": "old"})
    assert is_refused(d)
    with pytest.raises(StateConflictError, match=r"(?s)behind the last position .* restore f --from-sources"):
        d.restore()
    d.restore(from_sources=True)
    assert goes_on(d) == {}
    assert d.open.state.troubles.current() == []


def test_a_flow_that_reads_what_came_back_goes_on_at_its_end(lost):
    d = lost({"hot": None, "state": None})
    d.restore("f")
    assert goes_on(d) == {}


def test_the_machine_of_a_small_project_died_and_the_lakes_are_left(tmp_path, spark):
    """A log and an aggregate with copies, a table without one, and a flow that reads another's."""
    with drill(tmp_path / "project", spark, LAKE_FLOWS) as d:
        d.begin()
        d.add()
        d.run()
        d.tier()
        d.end()
        for piece in ("hot", "state", "checkpoints"):
            d.lose(piece)
        d.begin()
        assert is_refused(d)
        with pytest.raises(StateConflictError, match="restore f --from-sources"):
            d.restore()
        d.restore(from_sources=True)
        assert goes_on(d) == {}


def test_a_machine_died_and_the_lakes_are_left(lost):
    d = lost({"hot": None, "state": None, "checkpoints": None})
    assert is_refused(d)
    with pytest.raises(StateConflictError, match="restore f --from-sources"):
        d.restore()
    d.restore(from_sources=True)
    assert goes_on(d) == {}


def test_a_hot_tier_that_is_lost_while_an_epoch_is_in_hand(lost):
    d = lost({"hot": None}, "hand")
    assert is_refused(d)
    with pytest.raises(StateConflictError, match=r"(?s)half done .* restore f --from-sources"):
        d.restore()
    d.restore(from_sources=True)
    assert goes_on(d) == {}


def test_what_rests_on_lost_rows_is_marked_until_it_is_made_again(lost, monkeypatch, capsys):
    """Of `ods.hot` no lake has a copy, and with the state store it is lost how many rows it had."""
    d = lost({"hot": None, "state": None})
    monkeypatch.chdir(d.root)
    lacks, rests = "ods.hot lacks an unknown number of rows", "dws.hot is made from ods.hot, which lacks rows"

    def shown(*command):
        capsys.readouterr()
        main([*command])
        return " ".join(capsys.readouterr().out.split())

    for _ in range(2):
        d.restore()
        assert goes_on(d) == {}
        assert lacks in shown("status")
        assert rests in shown("status")
        assert lacks in shown("lineage", "ods.hot")
        assert json.loads(shown("lineage", "dws.hot", "--json"))["lacks"] == [rests]
    d.restore(from_sources=True)
    assert goes_on(d) == {}
    assert d.differences() == {}
    assert lacks not in shown("status")
    assert json.loads(shown("lineage", "dws.hot", "--json"))["lacks"] == []


def test_older_checkpoints_without_the_hot_tier_and_the_state_store(lost):
    """Only the marks of the lakes say that their rows are of a later epoch than Spark's log knows."""
    d = lost({"hot": None, "state": None, "checkpoints": "old", "warm": "now"})
    assert is_refused(d)
    with pytest.raises(StateConflictError, match="restore f --from-sources"):
        d.restore()
    d.restore(from_sources=True)
    assert goes_on(d) == {}


def lost_while_it_runs(d, lose, *, goes_on=False):
    """The errors with which a run of `f` ends whose tables or records are lost on the way; none: it goes on."""
    errors, executions, beats = [], [], []

    class Beats(Meter):
        def beat(self, beat):
            beats.append(beat.record.segment)
            super().beat(beat)

    def run():
        plan = plan_of(d.project, "f")
        try:
            carry(
                d.open,
                plan,
                Beats(plan, lambda _: None, once=False),
                once=False,
                follow=True,
                on_execution=executions.append,
            )
        except StreamhouseError as error:
            errors.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    try:
        known = {segment.name: d.open.state.newest_known("f", segment.name) for segment in d.plan("f").segments}
        d.add()
        until(
            lambda: all((d.open.state.newest_known("f", name) or 0) > (at or 0) for name, at in known.items()),
            what="no epoch ran",
        )
        lose()
        before = len(beats)
        d.add()
        until(
            lambda: not thread.is_alive() or (goes_on and known.keys() <= set(beats[before:])),
            what="it neither ends nor goes on" if goes_on else "it goes on without its tables",
        )
    finally:
        for one in executions:
            one.stop()
        thread.join()
    return errors


def test_a_hot_tier_that_is_lost_while_a_flow_runs(lost):
    """The run ends with the command, and the rows of the lakes come back."""
    d = lost({})
    [error] = lost_while_it_runs(d, d.lose_running_hot)
    assert "streamhouse restore" in error
    assert "ods.all" in str(d.looked().lost)
    d.end()
    d.begin()
    comes_back(d)
    assert goes_on(d) == {}
    tables = {one.table for one in d.open.state.troubles.current() if one.job == RESTORE}
    assert "ods.warm" not in tables, "the lakes keep their rows"


@pytest.mark.parametrize(
    "piece", [*(pytest.param(one, marks=soak) for one in ("warm", "cold", "state")), "checkpoints"]
)
def test_another_piece_that_is_lost_while_a_flow_runs(lost, piece):
    """Where the run ends, it ends with the command; where it goes on, every table is right in the end."""
    d = lost({})
    errors = lost_while_it_runs(d, lambda: d.lose(piece), goes_on=True)
    d.end()
    d.begin()
    if piece == "checkpoints":
        assert errors == [], "they are made again"
    assert all("streamhouse restore" in error for error in errors), errors
    if refusal(d.run) is not None:
        comes_back(d)
    assert goes_on(d) == {}


TOGETHER = (("hot", "state"), ("hot", "checkpoints"), ("hot", "warm"), ("hot", "state", "checkpoints"))
"""What a machine loses at once, and what is lost beside the hot tier while an epoch is in hand."""

ASKS = {"warm": "restore f --from-sources", "cold": "restore g --from-sources"}
"""The piece that is lost alone, and the command that a plain restore names."""


def cells():
    """Every loss of one piece, and of several, of a project that rests or has an epoch in hand; and a newer piece.

    `make test-all` tries an older piece only beside records that are of the same time.
    """
    images = {"gone": None, "older": "old"}
    for others in ("now", "ahead", "hand"):
        for piece in PIECES:
            for name, image in images.items():
                marks = () if image is None or others == "now" else soak
                yield pytest.param({piece: image}, others, id=f"{others}: {piece} {name}", marks=marks)
        for pieces in TOGETHER if others != "now" else ():
            for name, image in images.items():
                marks = () if (others, image, len(pieces)) == ("hand", None, 3) else soak
                yield pytest.param(
                    dict.fromkeys(pieces, image), others, id=f"{others}: {' and '.join(pieces)} {name}", marks=marks
                )
    yield pytest.param(
        dict.fromkeys(("hot", "warm", "state")), "now", id="now: hot and warm and state gone", marks=soak
    )
    for pair in combinations(PIECES, 2):
        for name, image in images.items():
            marks = () if "hot" in pair and image is None else soak
            yield pytest.param(dict.fromkeys(pair, image), "now", id=f"now: {' and '.join(pair)} {name}", marks=marks)
    for piece in PIECES:
        yield pytest.param({piece: "now"}, "old", id=f"old: {piece} newer")


def test_plan_and_status_see_every_loss_of_a_project_that_does_not_run(built):
    """Without a server: by the folders of the hot tier, the lakes and the state store."""
    blind = {}
    for cell in cells():
        pieces, others = cell.values
        built.compose(pieces, others)
        seen = built.looked()
        assert seen.unseen == {}
        if bool(seen.lost) is (pieces.keys() == {"checkpoints"}):  # which are made again from the state store
            blind[cell.id] = [str(one) for one in seen.lost]
    assert blind == {}


@pytest.mark.parametrize(("pieces", "others"), [*cells()])
def test_after_any_loss_every_table_equals_the_batch_or_is_named(lost, pieces, others):
    d = lost(pieces, others)
    seen, asks = d.looked(), ""
    if (refused := refusal(d.run)) is not None:
        assert "streamhouse restore" in refused
        assert seen.lost, "plan and status see what a run refuses"
        assert all("streamhouse restore" in one.hint for one in seen.lost)
        if any(one.tier in (None, Tier.HOT) for one in seen.lost):
            assert refusal(d.tier) is not None
        asks = comes_back(d)
    elif seen.lost:  # a copy
        d.restore()
    assert d.looked().lost == []
    assert goes_on(d) == {}
    if others == "now" and len(pieces) == 1:
        assert all(command in asks for piece, command in ASKS.items() if piece in pieces)
        named = {one.table for one in d.open.state.troubles.current() if one.job == RESTORE}
        assert "hot" not in pieces or "ods.hot" in named, "no lake has a copy of it"


def test_tables_that_are_built_again_are_no_question_to_those_who_read_them(lost):
    d = lost({})
    plans = {name: d.plan(name) for name in d.flows}
    with pytest.raises(StateConflictError, match="restore f g --rebuild"):
        rebuild_flows(d.open, {"f": plans["f"]})
    rebuild_flows(d.open, plans)
    assert goes_on(d) == {}
    assert d.open.state.approvals.list() == []
