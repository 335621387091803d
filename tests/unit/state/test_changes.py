from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import create_engine, inspect, text

from streamhouse.errors import LeaseLostError, StateConflictError
from streamhouse.model.forgetting import Forgetting, KeyPart
from streamhouse.model.outcome import Outcome
from streamhouse.model.review import AuditCheck, AuditVerdict, Review, SwapGate, TableReview
from streamhouse.model.version import at_versions, stored_name
from streamhouse.state.changes import Wish
from streamhouse.state.instants import to_ms
from streamhouse.state.records import EpochRecord, Move, Phase, UnreadableChange, VersionSince
from streamhouse.state.schema import SCHEMA_VERSION
from streamhouse.state.store import StateStore

OLD, NEW, NEWER = (f"SELECT id + {i} AS id FROM rows" for i in range(3))
TABLE = "ods.orders"


@pytest.fixture
def asked(store, flow_plan, lease):
    """A flow that was applied, and a change of it that builds its table anew."""
    store.save_plan(flow_plan(OLD))
    return store.ask_change(Wish(flow_plan(NEW), Outcome.REBUILD, frozenset({TABLE})), "ann")


def other_flow(flow_plan):
    """A flow that reads the table of the first."""
    plan = flow_plan(flow="other")
    [segment] = plan.segments
    [step] = segment.steps
    [read] = step.reads
    step = step.model_copy(
        update={
            "reads": (read.model_copy(update={"table": TABLE}),),
            "writes": step.writes.model_copy(update={"name": "dwd.copy"}),
        }
    )
    [table] = flow_plan().tables.values()
    return plan.model_copy(
        update={
            "sources": (),
            "external": (table,),
            "segments": (segment.model_copy(update={"steps": (step,)}),),
        }
    )


def test_the_same_wish_is_the_same_change(store, asked, flow_plan):
    again = store.ask_change(Wish(flow_plan(NEW), Outcome.REBUILD, frozenset({TABLE})), "bob")
    assert again == asked
    assert (asked.phase, asked.requested_by, asked.versions, asked.base) == (Phase.ASKED, "ann", {TABLE: 2}, 1)
    assert store.open_change("retail") == asked
    assert asked.candidate == f"retail-change-{asked.id}"


def test_a_later_wish_takes_the_place_of_an_earlier_one(store, asked, flow_plan):
    later = store.ask_change(Wish(flow_plan(NEWER), Outcome.REBUILD, frozenset({TABLE})), "bob")
    assert store.open_change("retail") == later
    assert store.change(asked.id).phase is Phase.WITHDRAWN
    assert later.versions == {TABLE: 3}  # never one that may hold something already
    assert [c.id for c in store.recent_changes("retail")] == [later.id, asked.id]


def test_the_change_that_was_applied_last_is_known_with_its_person(store, asked, flow_plan, lease):
    assert store.overview.newest_applied_change("retail") is None, "it is open"
    store.complete_change(lease, asked, at={TABLE: {}})
    done = store.overview.newest_applied_change("retail")
    assert (done.id, done.by, done.at) == (asked.id, "ann", store.change(asked.id).updated_at)
    store.ask_change(Wish(flow_plan(NEWER), Outcome.REBUILD, frozenset({TABLE})), "bob")
    assert store.overview.newest_applied_change("retail") == done
    assert store.overview.newest_applied_change("other") is None


def test_plan_versions_and_positions_change_at_once(store, asked, lease, flow_plan):
    record = EpochRecord("retail", "main", 7, 1, 1, 1, end={"orders": {"0": 5}}, ends={"ods.orders__v2": {"0": 9}})
    at = {"orders": {"0": 5}, TABLE: {"0": 3}, "ods.orders__v2": {"0": 9}}
    assert store.move_change(lease, asked, Phase.BUILDING)
    assert store.complete_change(lease, asked, [record], at)
    assert store.versions() == {TABLE: 2}
    assert store.plan("retail") == (2, flow_plan(NEW))
    assert store.last_epoch("retail", "main") == record
    assert store.open_change("retail") is None
    [old] = store.tables.retired()
    assert (old.table.name, old.version, old.positions) == (TABLE, 1, at)
    assert not store.complete_change(lease, asked, [record], at)  # a second time is none


def test_a_change_that_was_given_up_is_not_completed(store, asked, lease, flow_plan):
    store.withdraw_change("retail")
    assert not store.move_change(lease, asked, Phase.BUILDING)
    assert not store.complete_change(lease, asked)
    assert (store.versions(), store.plan("retail")) == ({}, (1, flow_plan(OLD)))


def test_only_the_holder_of_the_lease_completes(store, asked, lease, owner, now):
    store.acquire("retail", owner, timedelta(seconds=30), now)  # the owner itself, anew: the older one is void
    with pytest.raises(LeaseLostError):
        store.complete_change(lease, asked)
    assert store.versions() == {}


def test_readers_in_other_flows_are_asked_to_follow(store, asked, lease, flow_plan):
    store.save_plan(other_flow(flow_plan))
    store.complete_change(lease, asked, at={TABLE: {"0": 3}, "ods.orders__v2": {"0": 9}})
    assert store.versions("other") == {TABLE: 1}  # until it has followed
    found = store.running_plans()
    assert found == {flow: at_versions(plan, store.versions(flow)) for flow, (_, plan) in store.plans().items()}
    assert [t.name for t in found["other"].external] == [TABLE]
    assert list(found["retail"].tables) == [stored_name(TABLE, 2)]
    follow = store.open_change("other")
    assert follow.moves == {TABLE: Move(2, {"0": 3}, {"0": 9})}
    assert (follow.outcome, follow.versions) == (Outcome.SWAP, {})
    # What a person asks of that flow meanwhile does not lose it.
    wanted = other_flow(flow_plan).model_copy(update={"description": "edited"})
    asked_too = store.ask_change(Wish(wanted, Outcome.NO_OP), "ann")
    assert asked_too.moves == follow.moves


def test_a_new_flow_reads_what_serves(store, asked, lease, flow_plan):
    store.complete_change(lease, asked)
    store.save_plan(other_flow(flow_plan))
    assert store.versions("other") == {TABLE: 2}


def test_tables_of_followers_are_built_anew(store, flow_plan, lease):
    store.save_plan(flow_plan(OLD))
    store.save_plan(other_flow(flow_plan))
    wish = Wish(flow_plan(NEW), Outcome.REBUILD, frozenset({TABLE}), followers={"other": {"dwd.copy"}})
    store.complete_change(lease, store.ask_change(wish, "ann"), at={TABLE: {}, "ods.orders__v2": {}})
    assert store.open_change("other").versions == {"dwd.copy": 2}


def test_going_back_takes_the_version_that_served(store, asked, lease, flow_plan):
    at = {"orders": {"0": 5}, TABLE: {"0": 3}, "ods.orders__v2": {"0": 9}}
    store.complete_change(lease, asked, at=at)
    back = store.ask_change(Wish(flow_plan(OLD), Outcome.REBUILD, frozenset({TABLE})), "ann")
    assert back.versions == {TABLE: 1}
    store.complete_change(lease, back, at=at)
    assert store.versions() == {}
    assert [(one.table.name, one.version) for one in store.tables.retired()] == [(TABLE, 2)]
    other = store.ask_change(Wish(flow_plan(NEWER), Outcome.REBUILD, frozenset({TABLE})), "ann")
    assert other.versions == {TABLE: 3}


def test_a_dropped_version_is_not_gone_back_to(store, asked, lease, flow_plan):
    store.complete_change(lease, asked, at={"orders": {}, TABLE: {}, "ods.orders__v2": {}})
    store.tables.dropped(TABLE, 1)
    assert store.tables.retired() == []
    back = store.ask_change(Wish(flow_plan(OLD), Outcome.REBUILD, frozenset({TABLE})), "ann")
    assert back.versions == {TABLE: 3}


def review(verdict):
    check = AuditCheck(name="rows", verdict=verdict, text="it is empty")
    return Review(
        at_ms=1,
        tables=(TableReview(table=TABLE, old_version=1, new_version=2, old_rows=7, new_rows=0, checks=(check,)),),
    )


FAILED, PASSED = review(AuditVerdict.FAILED), review(AuditVerdict.PASSED)


def test_what_passes_its_audit_may_serve(store, asked, lease):
    assert store.judge(lease, asked, PASSED)
    assert store.change(asked.id).review == PASSED
    assert not store.change(asked.id).waits


def test_what_fails_its_audit_waits_for_a_person(store, asked, lease, flow_plan):
    assert not store.judge(lease, asked, FAILED)
    change = store.open_change("retail")
    assert (change.phase, change.error, change.is_open) == (Phase.WAITING, f"{TABLE}: it is empty", True)
    wish = Wish(flow_plan(NEW), Outcome.REBUILD, frozenset({TABLE}))
    assert store.ask_change(wish, "trigger") == change  # in passing
    again = store.ask_change(replace(wish, gate=SwapGate.AUDIT), "ann")
    assert (again.id, again.phase, again.error) == (asked.id, Phase.BUILDING, None)
    assert not store.judge(lease, asked, FAILED)
    let = store.let_serve(asked.id)
    assert (let.phase, let.gate, let.error) == (Phase.BUILDING, SwapGate.OPEN, None)
    assert store.judge(lease, asked, FAILED)
    assert store.complete_change(lease, asked)
    with pytest.raises(StateConflictError, match="applied already"):
        store.let_serve(asked.id)


def test_a_person_wants_to_see_it_first(store, lease, flow_plan):
    store.save_plan(flow_plan(OLD))
    wish = Wish(flow_plan(NEW), Outcome.REBUILD, frozenset({TABLE}), gate=SwapGate.PERSON)
    asked = store.ask_change(wish, "ann")
    assert not store.judge(lease, asked, PASSED)
    assert (store.change(asked.id).waits, store.change(asked.id).error) == (True, None)
    assert not store.ask_change(replace(wish, gate=SwapGate.AUDIT), "ann").waits
    assert store.judge(lease, asked, PASSED)


def test_what_was_given_up_leaves_something_behind_until_it_is_cleared(store, asked, lease):
    assert store.left_behind("retail") == []
    assert store.give_up(asked.id).phase is Phase.WITHDRAWN
    assert not store.judge(lease, asked, PASSED) or not store.complete_change(lease, asked)
    assert [change.id for change in store.left_behind("retail")] == [asked.id]
    store.cleared(asked)
    assert store.left_behind("retail") == []
    with pytest.raises(StateConflictError, match="withdrawn already"):
        store.give_up(asked.id)


def test_a_reader_that_waits_for_a_person_learns_of_new_tables(store, asked, lease, flow_plan):
    plan = other_flow(flow_plan)
    store.save_plan(plan)
    edited = plan.model_copy(update={"description": "edited"})
    waiting = store.ask_change(Wish(edited, Outcome.SWAP, gate=SwapGate.PERSON), "ann")
    store.complete_change(lease, asked, at={TABLE: {"0": 3}, "ods.orders__v2": {"0": 9}})
    follow = store.open_change("other")
    assert follow.moves == {TABLE: Move(2, {"0": 3}, {"0": 9})}
    assert (follow.plan, follow.gate) == (edited, SwapGate.PERSON)
    assert store.change(waiting.id).phase is Phase.WITHDRAWN


def test_a_reader_whose_change_is_given_up_unread_still_learns_of_new_tables(store, asked, lease, flow_plan, url):
    store.save_plan(other_flow(flow_plan))
    store.complete_change(lease, asked, at={TABLE: {"0": 3}, "ods.orders__v2": {"0": 9}})
    follow = store.open_change("other")
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE streamhouse_change SET body = '{}' WHERE id = :id"), {"id": follow.id})
    engine.dispose()
    given_up = store.give_up(follow.id)
    assert (type(given_up), given_up.phase) == (UnreadableChange, Phase.WITHDRAWN)
    again = store.open_change("other")
    assert again.id > follow.id
    assert (again.moves, again.plan, again.outcome, again.gate) == (
        follow.moves,
        follow.plan,
        Outcome.SWAP,
        follow.gate,
    )
    assert store.recent_changes("other", 2, unreadable := []) == [again]
    assert [one.id for one in unreadable] == [follow.id]


def test_an_environment_is_no_change_of_production(store, flow_plan, lease):
    store.save_plan(flow_plan(OLD))
    wish = Wish(flow_plan(NEW), Outcome.REBUILD, frozenset({TABLE}), environment="dev")
    built = store.ask_change(wish, "ann")
    assert store.open_change("retail") is None
    assert store.open_change("retail", "dev") == built
    assert store.environments() == [built]
    promoted = store.promote(built)
    assert store.open_change("retail") == promoted
    assert (promoted.id, promoted.versions, store.environments()) == (built.id, built.versions, [])


def test_production_that_moved_on_refuses_a_promotion(store, flow_plan, lease):
    store.save_plan(flow_plan(OLD))
    built = store.ask_change(Wish(flow_plan(NEW), Outcome.SWAP, environment="dev"), "ann")
    store.save_plan(flow_plan(NEWER))
    with pytest.raises(StateConflictError, match="'dev' was made from revision 1"):
        store.promote(built)
    assert store.open_change("retail") is None


def test_a_store_of_the_first_version_is_upgraded(sqlite_url, flow_plan):
    with StateStore(sqlite_url) as store:
        store.save_plan(flow_plan())
    engine = create_engine(sqlite_url)
    with engine.begin() as connection:
        for table in ("change", "change_review", "table_version", "retired_version", "read_version"):
            connection.execute(text(f"DROP TABLE streamhouse_{table}"))
        connection.execute(text("UPDATE streamhouse_schema SET version = 1"))
    with StateStore(sqlite_url) as store:
        assert store.plan("retail") == (1, flow_plan())
        assert store.versions() == {}
    with engine.connect() as connection:
        assert inspect(connection).has_table("streamhouse_change")
        assert connection.execute(text("SELECT version FROM streamhouse_schema")).scalar_one() == SCHEMA_VERSION
    engine.dispose()


def test_columns_of_two_meanings_are_kept_until_all_rows_are_computed_anew(store, lease, flow_plan):
    store.save_plan(flow_plan(OLD))
    change = store.ask_change(Wish(flow_plan(NEW), Outcome.FORWARD, marks={TABLE: ("id",)}), "ann")
    assert store.tables.meanings(TABLE) == {}
    assert store.complete_change(lease, change, [], {})
    [(column, meaning)] = store.tables.meanings(TABLE).items()
    assert (column, meaning.revision) == ("id", 2)
    copies = frozenset({TABLE})
    moved = store.ask_change(Wish(flow_plan(NEWER), Outcome.REBUILD, copies, copies=copies), "ann")
    assert moved.copies == copies
    assert store.complete_change(lease, moved, [], {})
    assert store.tables.meanings(TABLE) == {"id": meaning}
    anew = store.ask_change(Wish(flow_plan(OLD), Outcome.REBUILD, frozenset({TABLE})), "ann")
    assert store.complete_change(lease, anew, [], {})
    assert store.tables.meanings(TABLE) == {}


def test_a_change_that_is_undone_brings_its_meanings_back(store, lease, flow_plan):
    store.save_plan(flow_plan(OLD))
    assert store.complete_change(
        lease, store.ask_change(Wish(flow_plan(NEW), Outcome.FORWARD, marks={TABLE: ("id",)}), "ann")
    )
    [(column, meaning)] = store.tables.meanings(TABLE).items()
    at = {"orders": {"0": 5}, TABLE: {"0": 3}, "ods.orders__v2": {"0": 9}}
    anew = Wish(flow_plan(NEWER), Outcome.REBUILD, frozenset({TABLE}))
    assert store.complete_change(lease, store.ask_change(anew, "ann"), at=at)
    assert store.tables.meanings(TABLE) == {}
    # Going back, older rows are what they were: what the edit back would mark else counts for nothing.
    back = store.ask_change(replace(anew, plan=flow_plan(NEW), marks={TABLE: ("id", "more")}), "ann")
    assert back.versions == {TABLE: 1}
    assert store.complete_change(lease, back, at=at)
    assert store.tables.meanings(TABLE) == {column: meaning}
    forth = store.ask_change(anew, "ann")
    assert forth.versions == {TABLE: 2}
    assert store.complete_change(lease, forth, at=at)
    assert store.tables.meanings(TABLE) == {}
    store.tables.dropped(TABLE, 1)
    later = store.ask_change(replace(anew, plan=flow_plan(NEW)), "ann")
    assert later.versions == {TABLE: 3}
    assert store.complete_change(lease, later, at=at)
    assert store.tables.meanings(TABLE) == {}


def test_a_table_that_was_given_up_is_retired_when_its_name_means_another(store, lease, flow_plan):
    first = flow_plan(OLD)
    store.save_plan(first)
    [segment] = first.segments
    [step] = segment.steps
    other = step.model_copy(update={"writes": step.writes.model_copy(update={"name": "ods.others"})})
    without = first.model_copy(update={"segments": (segment.model_copy(update={"steps": (other,)}),)})
    assert store.complete_change(lease, store.ask_change(Wish(without, Outcome.SWAP), "ann"))
    assert store.tables.retired() == []  # it stays as it is
    again = store.ask_change(Wish(first, Outcome.REBUILD, frozenset({TABLE})), "ann")
    assert again.versions == {TABLE: 2}
    assert store.complete_change(lease, again, at={"orders": {"0": 5}})
    [old] = store.tables.retired()
    assert (old.table, old.version, old.positions) == (step.writes, 1, {})
    # It is not gone back to: it ends where it was given up.
    edited = store.ask_change(Wish(flow_plan(NEW), Outcome.REBUILD, frozenset({TABLE})), "ann")
    assert edited.versions == {TABLE: 3}
    undone = store.ask_change(Wish(first, Outcome.REBUILD, frozenset({TABLE})), "ann")
    assert undone.versions == {TABLE: 4}


def test_every_column_that_a_table_ever_had(store, flow_plan):
    store.save_plan(flow_plan(OLD))
    assert store.tables.columns_ever("retail")[TABLE] >= {"id"}
    assert store.tables.columns_ever("other") == {}


def test_what_was_given_up_of_a_table_is_not_so_of_another_version_whose_offsets_are_others(store, lease, flow_plan):
    store.save_plan(flow_plan(OLD))
    gone = {TABLE: {"0": ((10, 15),)}, "ods.others": {"0": ((1, 2),)}}
    store.save_plan(other_flow(flow_plan).model_copy(update={"given_up": gone}))
    anew = Wish(flow_plan(NEW).model_copy(update={"given_up": gone}), Outcome.REBUILD, frozenset({TABLE}))
    asked = store.ask_change(anew, "ann")
    assert asked.plan.given_up == {"ods.others": gone["ods.others"]}
    assert store.ask_change(anew, "ann") == asked, "the same wish is the same change"
    store.complete_change(lease, asked, at={TABLE: {"0": 30}, "ods.orders__v2": {"0": 9}})
    follow = store.open_change("other")
    assert follow.moves == {TABLE: Move(2, {"0": 30}, {"0": 9})}
    assert follow.plan.given_up == {"ods.others": gone["ods.others"]}
    later = Wish(other_flow(flow_plan).model_copy(update={"given_up": gone}), Outcome.NO_OP)
    assert store.ask_change(later, "ann").plan.given_up == {"ods.others": gone["ods.others"]}


def test_whom_a_change_forgets_is_in_the_journal_until_it_is_done(store, lease, flow_plan):
    person = Forgetting(tables={TABLE: (KeyPart(columns=("id",), values=("zoe-4711",)),)}, sources={})
    store.save_plan(flow_plan(OLD))
    rebuilt = store.ask_change(Wish(flow_plan(NEW), Outcome.REBUILD, frozenset({TABLE})), "ann")
    store.note_review(rebuilt, Review(at_ms=1, notes=("zoe-4711 differs",)))
    assert store.complete_change(lease, rebuilt, [], {})
    wish = Wish(flow_plan(NEW), Outcome.REBUILD, frozenset({TABLE}), forgetting=person)
    change = store.ask_change(wish, "forget")
    assert (change.forgetting, store.change(change.id).forgetting) == (person, person)
    assert change.versions == {TABLE: 3}, "it never goes back to a version that has the rows"
    assert store.complete_change(lease, change, [], {})
    assert store.change(change.id).forgetting is None
    assert store.change(rebuilt.id).review is None, "a comparison may show rows of the person"
    given_up = store.ask_change(wish, "forget")
    store.give_up(given_up.id)
    assert store.change(given_up.id).forgetting is None
    store.tables.remove_deleted()


def test_what_served_when_is_recorded(store, asked, flow_plan, lease):
    assert store.tables.served() == {TABLE: (VersionSince(1),)}, "what is asked for does not serve"
    at = {TABLE: {"0": 3}, "ods.orders__v2": {"0": 9}, "orders": {"0": 3}}
    store.complete_change(lease, asked, at=at)
    first = to_ms(store.change(asked.id).updated_at)
    assert store.tables.served() == {TABLE: (VersionSince(1), VersionSince(2, first))}
    back = store.ask_change(Wish(flow_plan(OLD), Outcome.REBUILD, frozenset({TABLE})), "ann")
    store.complete_change(lease, back, at=at)
    again = to_ms(store.change(back.id).updated_at)
    assert back.versions == {TABLE: 1}
    assert store.tables.served() == {TABLE: (VersionSince(1), VersionSince(2, first), VersionSince(1, again))}


def test_a_number_that_a_change_took_in_vain_is_no_version_that_served(store, asked, flow_plan, lease):
    second = store.ask_change(Wish(flow_plan(NEWER), Outcome.REBUILD, frozenset({TABLE})), "bob")
    assert store.tables.served() == {TABLE: (VersionSince(1),)}
    store.complete_change(lease, second, at={TABLE: {}})
    since = VersionSince(3, to_ms(store.change(second.id).updated_at))
    assert store.tables.served() == {TABLE: (VersionSince(1), since)}
    store.tables.dropped(TABLE, 1)
    assert store.tables.served() == {TABLE: (VersionSince(0), since)}, "nobody knows which one it was"


def test_a_version_that_the_tables_told_of_has_no_past(store, asked, flow_plan, lease):
    store.restore(lease, flow_plan(NEW), {TABLE: 2}, {})
    assert store.tables.served() == {TABLE: (VersionSince(0), store.tables.served()[TABLE][-1])}
    assert store.tables.served()[TABLE][-1].version == 2
