"""To forget a person beside a flow that reads a version which no longer serves."""

from types import SimpleNamespace

import pytest

from streamhouse.compiler.reach import reach
from streamhouse.errors import ForgetRefusedError
from streamhouse.jobs.forget import ForgetRequest, _Forget, _forgetting
from streamhouse.model.outcome import Outcome
from streamhouse.state.changes import Wish
from streamhouse.state.records import Phase
from tests.unit.state.conftest import flow_plan, lease, now, owner, sqlite_url, store, url
from tests.unit.state.test_changes import NEW, TABLE
from tests.unit.state.test_outdated_reads import reader, reader_lease, swapped

__all__ = ["flow_plan", "lease", "now", "owner", "reader", "reader_lease", "sqlite_url", "store", "url"]


@pytest.fixture
def job(store, reader):
    plans = {flow: plan for flow, (_, plan) in store.plans().items()}
    request = ForgetRequest(TABLE, {"id": ("7",)})
    found = reach(plans, request.table, request.key, request.also)
    return _Forget(SimpleNamespace(state=store), request, found, _forgetting(found, request), lambda _: None)


def test_it_is_refused_and_the_version_stays(store, lease, reader_lease, flow_plan, job):
    follow = swapped(store, lease, flow_plan(NEW))
    store.move_change(reader_lease, follow, Phase.FAILED, "it does not fit")
    for one in (lease, reader_lease):
        store.release(one)
    with pytest.raises(ForgetRefusedError, match=f"other reads version 1 of {TABLE}, which no longer serves") as why:
        job._refuse_busy(["retail", "other"])
    assert "streamhouse run other" in why.value.hint


def test_it_is_not_where_the_flow_is_asked_to_leave_out_the_person(store, lease, reader_lease, flow_plan, job):
    """What a command that was killed asked for is carried out first."""
    wish = Wish(flow_plan(NEW), Outcome.REBUILD, frozenset({TABLE}), forgetting=job.forgetting)
    assert store.complete_change(lease, store.ask_change(wish, "forget"), at={TABLE: {}, "ods.orders__v2": {}})
    assert store.open_change("other").forgetting == job.forgetting
    for one in (lease, reader_lease):
        store.release(one)
    job._refuse_busy(["retail", "other"])
