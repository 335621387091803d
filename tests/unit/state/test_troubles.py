"""What fails with a tier is kept until it goes well."""

from streamhouse.errors import StoreError, TableLostError
from streamhouse.model.types import Tier

LOST = TableLostError("dwd.sales in the warm tier is gone", hint="bring it back")
TO_WARM = ("retail", "dwd.sales", Tier.WARM, "tiering")


def test_a_failure_is_new_once_and_counted(store):
    assert store.troubles.failed(*TO_WARM, LOST)
    assert not store.troubles.failed(*TO_WARM, LOST)
    (one,) = store.troubles.current()
    assert (one.code, one.times, one.hint) == ("SH406", 2, "bring it back")
    assert one.since <= one.last
    assert str(one) == "tiering of dwd.sales to warm fails: SH406 dwd.sales in the warm tier is gone"


def test_another_error_of_the_same_tier_is_new_and_began_with_the_first(store):
    store.troubles.failed(*TO_WARM, LOST)
    (first,) = store.troubles.current("retail")
    assert store.troubles.failed(*TO_WARM, StoreError("the disk is full"))
    (one,) = store.troubles.current("retail")
    assert (one.code, one.text, one.since, one.times) == ("SH400", "the disk is full", first.since, 2)


def test_a_success_of_the_same_job_clears_it(store):
    store.troubles.failed(*TO_WARM, LOST)
    store.troubles.failed(*TO_WARM[:3], "upkeep", LOST)
    assert store.troubles.mended(*TO_WARM)
    assert not store.troubles.mended(*TO_WARM)
    assert [one.job for one in store.troubles.current()] == ["upkeep"]


def test_what_a_flow_has_no_more_is_forgotten(store):
    for table in ("dwd.sales", "dwd.returns"):
        store.troubles.failed("retail", table, Tier.WARM, "tiering", LOST)
        store.troubles.failed("other", table, Tier.WARM, "tiering", LOST)
    store.troubles.forget_others("retail", "tiering", [("dwd.sales", Tier.WARM), ("dwd.returns", Tier.COLD)])
    assert [one.table for one in store.troubles.current("retail")] == ["dwd.sales"]
    assert len(store.troubles.current("other")) == 2


def test_a_new_failure_and_its_end_are_events_of_the_flow(store):
    for error in (LOST, LOST, StoreError("the disk is full")):
        store.troubles.failed(*TO_WARM, error)
    store.troubles.failed(*TO_WARM[:3], "upkeep", LOST)
    for _ in range(2):
        store.troubles.mended(*TO_WARM)
    store.troubles.forget_others("retail", "upkeep", [])
    assert [(event.kind, event.text) for event in store.events("retail")] == [
        ("tiering", "dwd.sales to warm: SH406 dwd.sales in the warm tier is gone"),
        ("tiering", "dwd.sales to warm: SH400 the disk is full"),
        ("upkeep", "dwd.sales in warm: SH406 dwd.sales in the warm tier is gone"),
        ("tiering", "dwd.sales to warm: is filled again"),
    ]
