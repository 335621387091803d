from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import create_engine, text

from streamhouse.errors import Location
from streamhouse.model.notice import Notice
from streamhouse.model.outcome import Outcome
from streamhouse.model.plan import Segment, fingerprint_of
from streamhouse.model.table import Tiers
from streamhouse.model.types import Tier
from streamhouse.state.changes import Wish
from streamhouse.state.damage import DamagedStateError, OtherVersionError
from streamhouse.state.store import StateStore


def test_the_same_plan_is_no_new_revision(store, flow_plan):
    assert store.save_plan(flow_plan()) == 1
    assert store.save_plan(flow_plan()) == 1
    assert [r.revision for r in store.history("retail")] == [1]


def test_a_plan_comes_back_as_it_was(store, flow_plan):
    plan = flow_plan()
    store.save_plan(plan)
    assert store.plan("retail") == (1, plan)
    assert store.plan("retail")[1].fingerprint == plan.fingerprint


def test_remarks_on_a_query_make_no_other_plan(store, flow_plan):
    """What is stored is compared with what is compiled, and remarks are not stored."""
    plan = flow_plan()
    (step,) = plan.steps
    remarked = step.model_copy(
        update={"notices": (Notice("rows are deleted for good", Location("a.yaml"), "keep them"),)}
    )
    compiled = plan.model_copy(update={"segments": (Segment(name="main", steps=(remarked,)),)})
    store.save_plan(compiled)
    assert store.plan("retail")[1] == compiled
    assert remarked != step.model_copy(update={"reason": "another"})


def test_going_back_to_an_older_plan_is_a_revision_of_its_own(store, flow_plan, now):
    old, new = flow_plan(), flow_plan("SELECT id + 1 AS id FROM rows")
    revisions = [store.save_plan(plan, now + timedelta(hours=i)) for i, plan in enumerate((old, new, old))]
    assert revisions == [1, 2, 3]
    assert store.plan("retail") == (3, old)
    history = store.history("retail")
    assert [r.fingerprint for r in history] == [old.fingerprint, new.fingerprint, old.fingerprint]
    assert history[1].applied_at == now + timedelta(hours=1)


def test_plans_gives_the_newest_of_each_flow(store, flow_plan):
    store.save_plan(flow_plan(flow="b"))
    store.save_plan(flow_plan(flow="a"))
    store.save_plan(flow_plan("SELECT 1 AS id FROM rows", flow="a"))
    assert [(flow, revision) for flow, (revision, _) in store.plans().items()] == [("a", 2), ("b", 1)]
    assert store.flows() == ["a", "b"]


def test_since_when_a_table_has_had_a_tier(store, flow_plan):
    def plan(**tiers):
        made = flow_plan()
        (step,) = made.steps
        writes = step.writes.model_copy(update={"tiers": Tiers(**tiers)})
        return made.model_copy(
            update={"segments": (Segment(name="main", steps=(step.model_copy(update={"writes": writes}),)),)}
        )

    now = datetime.now(UTC)
    for days, tiers in [(9, {"warm": "1d"}), (8, {}), (3, {"warm": "1d"}), (1, {"warm": "2d", "cold": "9d"})]:
        store.save_plan(plan(hot="1h", **tiers), now - timedelta(days=days))
    assert round(store.tables.tier_age("retail", "ods.orders", Tier.WARM) / timedelta(days=1)) == 3
    assert round(store.tables.tier_age("retail", "ods.orders", Tier.COLD) / timedelta(days=1)) == 1
    assert store.tables.tier_age("retail", "ods.others", Tier.WARM) is None


def test_an_unknown_flow_has_no_plan(store):
    assert store.plan("nothing") is None
    assert store.plans() == {}
    assert store.history("nothing") == []


def test_a_plan_of_another_version_is_refused_in_words(store, url, flow_plan):
    store.save_plan(flow_plan())
    rewrite(url, '{"flow": 1}', fingerprint_of('{"flow": 1}'))
    with pytest.raises(OtherVersionError, match="revision 1 of flow 'retail' was recorded by another version"):
        store.plan("retail")
    assert store.tables.tier_age("retail", "ods.orders", Tier.HOT) is None


@pytest.mark.parametrize("body", ['{"flow": 1}', "{", '{"flow": "retail", "segments": []}'])
def test_a_plan_whose_text_is_another_one_is_damage_whatever_it_is(store, url, flow_plan, body):
    store.save_plan(flow_plan())
    rewrite(url, body, flow_plan().fingerprint)
    for read in (
        lambda: store.plan("retail"),
        lambda: store.tables.tier_age("retail", "ods.orders", Tier.HOT),
    ):
        with pytest.raises(DamagedStateError, match="revision 1 of flow 'retail' is not as it was recorded"):
            read()


def rewrite(url, body, fingerprint):
    with create_engine(url).begin() as connection:
        words = text("UPDATE streamhouse_plan SET body = :body, fingerprint = :fingerprint")
        connection.execute(words, {"body": body, "fingerprint": fingerprint})


def test_what_is_no_json_was_recorded_by_no_version(store, url, flow_plan):
    store.save_plan(flow_plan())
    store.ask_change(Wish(flow_plan("SELECT 2 AS id"), Outcome.REBUILD, frozenset({"ods.orders"})), "ann")
    for body, error in (('{"flow": 1}', OtherVersionError), ('{"flow": 1', DamagedStateError)):
        with create_engine(url).begin() as connection:
            connection.execute(text("UPDATE streamhouse_change SET body = :body"), {"body": body})
        with pytest.raises(error):
            store.open_change("retail")


def test_threads_and_objects_agree_on_revisions(url, flow_plan):
    plans = [flow_plan(f"SELECT id + {i} AS id FROM rows") for i in range(8)]

    def save(plan):
        with StateStore(url) as store:
            return store.save_plan(plan)

    with ThreadPoolExecutor(8) as threads:
        assert sorted(threads.map(save, plans)) == list(range(1, 9))
