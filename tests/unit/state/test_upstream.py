from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import create_engine, text

from streamhouse.errors import ApprovalClosedError, UnknownApprovalError
from streamhouse.model.outcome import Outcome
from streamhouse.model.schema_change import QUESTION_LIFETIME, EventType, Policy
from streamhouse.model.table import Column
from streamhouse.model.upstream import Decision, UpstreamEvent, Values, Verdict
from streamhouse.state.approvals import ApprovalState
from streamhouse.state.store import StateStore
from streamhouse.state.upstream import EventStatus


def event(name="tax", after="2", **more):
    return UpstreamEvent(
        type=EventType.ADD_COLUMN,
        object="dwd.sales",
        before="1",
        after=after,
        now=Column(name=name, type="int"),
        **more,
    )


def decision(seen, step="dws.totals", *, pauses=True):
    return Decision(
        event=seen,
        verdicts=(
            Verdict(
                flow="retail",
                step=step,
                table=step,
                policy=Policy.FREEZE,
                said="default",
                outcome=Outcome.BLOCK,
                values=Values.WAIT,
                pauses=pauses,
                asks="follow",
            ),
        ),
    )


def test_the_id_is_of_what_changed_and_nothing_else():
    assert event().id == event(detail="seen twice", tier=None).id
    others = {event("price").id, event(after="3").id, event().model_copy(update={"object": "dwd.x"}).id}
    others.add(event().model_copy(update={"type": EventType.UNKNOWN_FIELD}).id)
    others.add(event().model_copy(update={"before": "0"}).id)
    assert len(others | {event().id}) == 6


def test_the_same_change_twice_is_one_row(store, now):
    store.upstream.record("retail", [event()], now)
    (again,) = store.upstream.record("retail", [event(detail="again")], now + timedelta(hours=1))
    assert (again.status, again.observed_at) == (EventStatus.SEEN, now)
    assert len(store.upstream.events()) == 1
    store.upstream.record("other", [event()], now)
    assert [r.flow for r in store.upstream.events()] == ["other", "retail"]


def test_many_that_see_it_at_once_make_one_row(url):
    def see(_):
        with StateStore(url) as own:
            return own.upstream.record("retail", [event()])[0].event.id

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(see, range(16))) == {event().id}
    with StateStore(url) as own:
        assert len(own.upstream.events("retail")) == 1


def test_what_is_not_so_any_more_is_outdated_and_comes_back(store, now):
    store.upstream.record("retail", [event(), event("price")], now)
    store.upstream.settle("retail", event("price").id, EventStatus.APPLIED, plan="abc", now=now)
    store.upstream.record("retail", [], now)
    assert {r.event.column: r.status for r in store.upstream.events()} == {
        "tax": EventStatus.OUTDATED,
        "price": EventStatus.APPLIED,
    }
    (back,) = store.upstream.record("retail", [event()], now)
    assert back.status is EventStatus.SEEN


def test_what_could_not_be_looked_at_is_not_outdated(store, now):
    store.upstream.record("retail", [event()], now)
    store.upstream.record("retail", [], now, unseen=["dwd.sales"])
    assert [r.status for r in store.upstream.open("retail")] == [EventStatus.SEEN]
    store.upstream.record("retail", [], now, unseen=["dwd.others"])
    assert store.upstream.open("retail") == []


def test_what_became_of_a_change(store, now):
    store.upstream.record("retail", [event()], now)
    later = now + timedelta(seconds=5)
    store.upstream.settle("retail", event().id, EventStatus.WAITING, decision=decision(event()), note="why", now=later)
    (found,) = store.upstream.events("retail")
    assert (found.status, found.since, found.note) == (EventStatus.WAITING, later, "why")
    assert found.decision == decision(event())
    store.upstream.settle("retail", event().id, EventStatus.WAITING, decision=decision(event()), note="so", now=now)
    assert store.upstream.events("retail")[0].since == later
    assert store.upstream.paused("retail") == {"dws.totals"}
    assert store.upstream.paused("other") == set()


def test_what_would_become_another_stands_with_what_waits(store):
    waits = decision(event())
    [verdict] = waits.verdicts
    told = [
        verdict,
        verdict.model_copy(update={"step": "ods.sales", "outcome": Outcome.SWAP, "pauses": False}),
        verdict.model_copy(update={"step": "ods.other", "outcome": Outcome.NO_OP, "pauses": False}),
        verdict.model_copy(update={"flow": "other", "step": "dwd.other", "outcome": Outcome.SWAP, "pauses": False}),
    ]
    waits = waits.model_copy(update={"verdicts": tuple(told)})
    assert waits.waiting("retail") == {"dws.totals", "ods.sales"}
    assert waits.waiting("other") == set(), "nobody there waits: it is asked by itself"
    store.upstream.record("retail", [waits.event])
    store.upstream.settle("retail", waits.event.id, EventStatus.WAITING, decision=waits)
    assert store.upstream.waiting("retail") == {"dws.totals", "ods.sales"}
    assert store.upstream.paused("retail") == {"dws.totals"}
    store.upstream.settle("retail", waits.event.id, EventStatus.APPLIED, decision=waits)
    assert store.upstream.waiting("retail") == set()
    store.upstream.settle("retail", event().id, EventStatus.APPLIED, decision=decision(event()))
    assert store.upstream.paused("retail") == set()


def test_a_reader_of_another_flow_waits_too(store):
    store.upstream.record("source", [event()])
    store.upstream.settle("source", event().id, EventStatus.WAITING, decision=decision(event()))
    assert store.upstream.paused("retail") == {"dws.totals"}


def test_pins_are_what_was_saved_last(store):
    store.upstream.save_pins("retail", {"a": "1", "b": "2"})
    store.upstream.save_pins("retail", {"a": "3"}, keep=["b"])
    assert store.upstream.pins("retail") == {"a": "3", "b": "2"}
    store.upstream.save_pins("retail", {"a": "3"})
    assert store.upstream.pins("retail") == {"a": "3"}
    assert store.upstream.pins("other") == {}


def ask(store, now, subject="e1", **more):
    return store.approvals.ask("retail", subject, "drop amount", "it is used", {"a": 1}, now=now, **more)


def test_a_question_is_asked_once(store, now):
    first = ask(store, now)
    assert (first.state, first.asks, first.document) == (ApprovalState.OPEN, "drop amount", {"a": 1})
    assert first.expires_at == now + QUESTION_LIFETIME
    assert ask(store, now + timedelta(days=1)) == first
    assert store.approvals.list("retail", now=now) == [first]
    assert store.approvals.list("other", now=now) == []


@pytest.mark.parametrize(("grant", "state"), [(True, ApprovalState.GRANTED), (False, ApprovalState.REFUSED)])
def test_an_answer_stays(store, now, grant, state):
    name = ask(store, now).id
    later = now + timedelta(hours=1)
    done = store.approvals.decide(name, grant=grant, by="ada@alpha", reason="checked", now=later)
    assert (done.state, done.decided_by, done.decided_at, done.reason) == (state, "ada@alpha", later, "checked")
    assert store.approvals.get(name[:5], now) == done
    assert ask(store, now + QUESTION_LIFETIME * 2) == done, "what was decided stays decided"
    with pytest.raises(ApprovalClosedError, match=f"was {state} by ada@alpha"):
        store.approvals.decide(name, grant=not grant, by="bob", now=later)
    assert store.approvals.list(now=now) == []
    assert store.approvals.list(every=True, now=now) == [done]


def test_a_question_that_nobody_answered_is_asked_anew(store, now):
    first = ask(store, now, lifetime=timedelta(hours=1))
    late = now + timedelta(hours=2)
    assert store.approvals.get(first.id, late).state is ApprovalState.EXPIRED
    with pytest.raises(ApprovalClosedError, match="expired"):
        store.approvals.decide(first.id, grant=True, by="ada", now=late)
    second = ask(store, late)
    assert second.id != first.id
    assert store.approvals.about("retail", "e1", late) == second
    assert [one.id for one in store.approvals.list(now=late)] == [second.id]


def test_of_two_who_answer_at_once_one_is_heard(url, now):
    with StateStore(url) as own:
        name = ask(own, now).id

    def answer(grant):
        with StateStore(url) as own:
            try:
                return own.approvals.decide(name, grant=grant, by=str(grant), now=now).state
            except ApprovalClosedError:
                return None

    with ThreadPoolExecutor(8) as pool:
        heard = [state for state in pool.map(answer, [True, False] * 8) if state is not None]
    assert len(heard) == 1


def test_an_unknown_question(store, now):
    name = ask(store, now).id
    with pytest.raises(UnknownApprovalError) as refused:
        store.approvals.get(f"{name[:-1]}x")
    assert name in (refused.value.hint or "")
    with pytest.raises(UnknownApprovalError):
        store.approvals.get("")


def test_a_store_from_before_these_tables_gets_them(sqlite_url):
    with StateStore(sqlite_url) as own:
        own.append_event("retail", "note", "kept")
    engine = create_engine(sqlite_url)
    with engine.begin() as connection:
        for name in ("streamhouse_upstream_event", "streamhouse_approval", "streamhouse_pin"):
            connection.execute(text("DROP TABLE " + name))
        connection.execute(text("UPDATE streamhouse_schema SET version = 1"))
    engine.dispose()
    with StateStore(sqlite_url) as own:
        assert own.upstream.events() == []
        assert own.approvals.list() == []
        assert [one.text for one in own.events()] == ["kept"]
