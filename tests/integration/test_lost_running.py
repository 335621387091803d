"""Rows that a flow needs are gone while it runs, or from a table of its own: a person is asked, and it goes on."""

import threading

import pyarrow as pa
import pytest

from streamhouse.errors import BlockedError, RowsLostError, StreamhouseError
from streamhouse.jobs.run import Meter, carry
from streamhouse.model.types import Tier
from streamhouse.runtime.open import plan_of
from streamhouse.state.records import Phase
from streamhouse.state.upstream import EventStatus
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes, WriteContext
from tests.gate.levels import deep, soak
from tests.integration.test_followed import APART, READER, ROWS, TAKES, TYPES, expire, world
from tests.patience import PATIENCE_S, until

pytestmark = [
    pytest.mark.services,
    pytest.mark.spark,
    deep(
        "a flow of two segments",
        only=(
            "test_an_own_table_in_a_lake_whose_snapshots_expired_before_another_segment_read_them",
            "test_a_running_flow_reads_anew_a_table_in_a_lake_whose_snapshots_expired",
        ),
    ),
]

__all__ = ["world"]
PARQUET = "{files: {path: data/*.parquet}}"


class Running:
    """The reader, running in a thread of this process until the end of the block."""

    def __init__(self, made):
        self.made = made
        self.error = None
        self._runners = []
        self._thread = threading.Thread(target=self._run)

    def _run(self):
        plan = plan_of(self.made.open.project, "reader")
        meter = Meter(plan, lambda _: None, once=False)
        try:
            carry(self.made.open, plan, meter, once=False, follow=True, on_execution=self._runners.append)
        except StreamhouseError as error:
            self.error = error

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        for runner in self._runners:
            runner.stop()
        self._thread.join(PATIENCE_S)

    def until(self, condition, what):
        def look():
            found = condition()
            assert found or self.error is None, self.error
            assert found or self._thread.is_alive(), "it ended"
            return found

        until(look, what=what)

    def asked(self):
        """Wait for the question about what is gone."""

        def told():
            return [(r.event.type.value, r.status) for r in self.made.state.upstream.open("reader")]

        self.until(lambda: told() == [("positions_lost", EventStatus.WAITING)], "nobody was asked")


def row(number):
    return {"id": number, "n": 10 * number, "note": "c", "gone": "z"}


def forget(monkeypatch, store, table, *, first, once_at):
    """As if the log's time had passed: what lies before an offset cannot be read once the log ends at another."""
    start, read_changes = store.start, store.read_changes

    def over(one):
        return one.name == table.name and sum(store.end(table).values()) >= once_at

    def read(one, begin, end, columns=None):
        stands = begin.get("0", 0)
        if over(one) and stands < first and (stands or not one.primary_key):
            raise RowsLostError(f"{one.name} begins at {first}")
        return read_changes(one, begin, end, columns)

    monkeypatch.setattr(store, "start", lambda one: {"0": first} if over(one) else start(one))
    monkeypatch.setattr(store, "read_changes", read)


def owned(world, made_of, tier, key=""):
    """A flow that read two rows of a table of another flow."""
    made = world(made_of, "evolve", tier=tier)
    if key:
        take = made.root / "actions" / "take.sql"
        take.write_text(take.read_text().replace("output: {}", f"output: {{primary_key: [{key}]}}"))
    made.file("data/1.parquet", ROWS, **TYPES)
    made.run("owner")
    made.run()
    assert set(made.rows("dwd.fo")) == {1, 2}
    return made


def test_a_running_flow_asks_about_rows_of_a_hot_log_that_are_gone_and_goes_on_behind_them(world, monkeypatch):
    made = owned(world, READER, Tier.HOT)
    hot = made.open.stores[Tier.HOT]
    forget(monkeypatch, hot, made.state.plan("owner")[1].tables["ods.fo"], first=4, once_at=5)
    with Running(made) as flow:
        flow.until(lambda: made.state.upstream.pins("reader"), "it did not look")
        made.file("data/2.parquet", [row(number) for number in (3, 4, 5)], **TYPES)
        made.run("owner")
        flow.asked()
        assert made.state.unfinished("reader", "main") is not None, "the epoch had begun"
        made.decide(grant=True)
        flow.until(lambda: set(made.rows("dwd.fo")) == {1, 2, 5}, "it does not go on")
        made.file("data/3.parquet", [row(6)], **TYPES)
        made.run("owner")
        flow.until(lambda: set(made.rows("dwd.fo")) == {1, 2, 5, 6}, "it does not read on")
    assert flow.error is None
    assert made.losses() == ["0: 2 to 4"]
    assert made.column("ads.fo", "twice") == {1: 20, 2: 40, 5: 100, 6: 120}


@soak
def test_a_running_flow_that_is_refused_goes_on_waiting_and_takes_no_edit_meanwhile(world, monkeypatch):
    made = owned(world, READER, Tier.HOT)
    hot = made.open.stores[Tier.HOT]
    forget(monkeypatch, hot, made.state.plan("owner")[1].tables["ods.fo"], first=4, once_at=5)
    with Running(made) as flow:
        made.file("data/2.parquet", [row(number) for number in (3, 4, 5)], **TYPES)
        made.run("owner")
        flow.asked()
        made.decide(grant=False)
        flow.until(
            lambda: [r.status for r in made.state.upstream.events("reader")] == [EventStatus.REFUSED], "no answer"
        )
        clean = made.root / "actions" / "clean.sql"
        clean.write_text(clean.read_text().replace("WHERE id > 0", "WHERE id > 1"))
        flow.until(lambda: made.state.recent_changes("reader"), "the edit is not seen")
        [change] = made.state.recent_changes("reader")
        flow.until(lambda: not made.state.change(change.id).is_open, "the edit hangs")
        assert made.state.change(change.id).phase is Phase.FAILED
        assert "is paused in the middle of an epoch" in made.state.change(change.id).error
        assert set(made.rows("dwd.fo")) == {1, 2}
        assert flow.error is None
    assert isinstance(flow.error, BlockedError), "so it says when it ends"


@soak
def test_a_running_flow_reads_anew_a_keyed_table_whose_changes_are_gone(world, monkeypatch):
    """The epoch that began cannot end with what it began with: of the table that is read anew it reads nothing."""
    made = owned(world, READER, Tier.HOT, key="id")
    hot = made.open.stores[Tier.HOT]
    forget(monkeypatch, hot, made.state.plan("owner")[1].tables["ods.fo"], first=4, once_at=5)
    with Running(made) as flow:
        flow.until(lambda: made.state.upstream.pins("reader"), "it did not look")
        made.file("data/2.parquet", [row(number) for number in (3, 4, 5)], **TYPES)
        made.run("owner")
        flow.asked()
        assert made.state.unfinished("reader", "main") is not None, "the epoch had begun"
        question = made.decide(grant=True)
        assert question.asks == "read ods.fo from its beginning into new versions of what is made of it"
        flow.until(lambda: set(made.rows("dwd.fo")) == {1, 2, 3, 4, 5}, "it does not go on")
        made.file("data/3.parquet", [row(6)], **TYPES)
        made.run("owner")
        flow.until(lambda: set(made.rows("dwd.fo")) == {1, 2, 3, 4, 5, 6}, "it does not read on")
    assert flow.error is None
    assert made.state.versions("reader")["dwd.fo"] == 2


@pytest.mark.parametrize(
    "more", [pytest.param("", id="one segment", marks=soak), pytest.param(APART, id="two segments")]
)
def test_a_running_flow_reads_anew_a_table_in_a_lake_whose_snapshots_expired(world, monkeypatch, more):
    made = owned(world, READER + more, Tier.WARM)
    warm = made.open.stores[Tier.WARM]
    table, hides = made.state.plan("owner")[1].tables["ods.fo"], [True]
    stands, end = warm.end(table), warm.end
    monkeypatch.setattr(warm, "end", lambda one: stands if hides and one.name == table.name else end(one))
    with Running(made) as flow:
        flow.until(lambda: made.state.upstream.pins("reader"), "it did not look")
        for number in (3, 4, 5):
            made.write(id=[number], n=[10 * number], note=["c"], gone=["z"])
        expire(made)
        hides.clear()
        flow.asked()
        made.decide(grant=True)
        flow.until(lambda: set(made.rows("dwd.fo")) == {1, 2, 3, 4, 5}, "it does not go on")
        made.write(id=[6], n=[60], note=["c"], gone=["z"])
        flow.until(lambda: set(made.rows("dwd.fo")) == {1, 2, 3, 4, 5, 6}, "it does not read on")
        if more:
            flow.until(lambda: set(made.rows("dwd.apart")) == {1, 2, 3, 4, 5, 6}, "nor does the other segment")
    assert flow.error is None


# --- of a table that the flow writes itself, in another segment ------------------------------------


def apart(world, tier):
    """A flow whose second segment follows a table of the first, and that has read two rows."""
    made = world(TAKES.replace("writes: dwd.fo}", "writes: dwd.fo, isolate: true}"), tier=tier, source=PARQUET)
    made.file("data/1.parquet", ROWS, **TYPES)
    made.run()
    assert len(made.state.plan("reader")[1].segments) == 2
    assert set(made.rows("dwd.fo")) == {1, 2}
    return made


def append(made, tier, *numbers):
    """Rows of the flow's own log, each by a commit of its own, that its second segment has not read."""
    table = made.state.plan("reader")[1].tables["ods.so"]
    for number in numbers:
        rows = pa.Table.from_pylist([row(number)], schema=arrow_schema(table.columns))
        made.open.stores[tier].write(table, Changes(rows), WriteContext("somebody/else", number))
    return table


@soak
def test_rows_of_an_own_log_that_are_gone_before_another_segment_read_them(world, monkeypatch):
    made = apart(world, Tier.HOT)
    table = made.state.plan("reader")[1].tables["ods.so"]
    made.file("data/2.parquet", [row(number) for number in (3, 4, 5)], **TYPES)
    forget(monkeypatch, made.open.stores[Tier.HOT], table, first=4, once_at=5)
    with pytest.raises(RowsLostError, match="begins at 4"):
        made.run()
    with pytest.raises(BlockedError, match="dwd"):
        made.run()
    made.file("data/3.parquet", [row(6)], **TYPES)
    with pytest.raises(BlockedError):
        made.run()
    assert set(made.rows("dwd.fo")) == {1, 2}, "its reader waits"
    assert made.open.stores[Tier.HOT].end(table) == {"0": 6}, "and nobody else"
    question = made.decide(grant=True)
    assert question.asks == "go on behind the rows of ods.so that are gone"
    made.run()
    assert set(made.rows("dwd.fo")) == {1, 2, 5, 6}, "what came behind the gap is there"
    assert [r.status for r in made.state.upstream.events("reader")] == [EventStatus.APPLIED]
    assert made.losses() == ["0: 2 to 4"]
    assert plan_of(made.open.project, "reader") == made.state.plan("reader")[1]


def test_an_own_table_in_a_lake_whose_snapshots_expired_before_another_segment_read_them(world):
    made = apart(world, Tier.WARM)
    table = append(made, Tier.WARM, 3, 4, 5)
    expire(made, table)
    made.file("data/2.parquet", [row(6)], **TYPES)
    with pytest.raises(BlockedError):
        made.run()
    assert set(made.rows("ods.so")) == {1, 2, 3, 4, 5, 6}
    assert set(made.rows("dwd.fo")) == {1, 2}
    question = made.decide(grant=True)
    assert question.asks == "read ods.so from its beginning into new versions of what is made of it"
    made.run()
    assert made.column("dwd.fo", "n") == {number: 10 * number for number in range(1, 7)}
    assert made.state.versions("reader") == {"dwd.fo": 2}, "the table itself stays"
    made.file("data/3.parquet", [row(7)], **TYPES)
    made.run()
    assert set(made.rows("dwd.fo")) == {1, 2, 3, 4, 5, 6, 7}
    assert plan_of(made.open.project, "reader") == made.state.plan("reader")[1]
