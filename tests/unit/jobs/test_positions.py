"""What a look at the positions of a flow reads."""

from collections import Counter
from types import SimpleNamespace

import pytest

from streamhouse.jobs.copies import tables_of_other_histories
from streamhouse.jobs.positions import PositionSearch
from streamhouse.model.types import Tier
from streamhouse.runtime.stores import warm_reader
from tests.unit.runtime.test_damaged_unread import EPOCHS, project

__all__ = ["project"]


@pytest.mark.parametrize("is_edited", [False, True])
def test_the_traces_of_a_table_are_read_once(project, monkeypatch, is_edited):
    reader = warm_reader(project)
    looked, each = Counter(), type(reader).last_commit

    def last_commit(store, table, writer):
        looked[table.name] += 1
        return each(store, table, writer)

    monkeypatch.setattr(type(reader), "last_commit", last_commit)
    with project.state() as state:
        plan = state.plan("f")[1]
        asked = plan.model_copy(update={"description": "an edit"}) if is_edited else plan
        open_ = SimpleNamespace(project=project, stores={Tier.WARM: reader}, state=state)
        search = PositionSearch(open_, asked, ())
        found = search.look()
        assert tables_of_other_histories(open_, found.stored, search.traces) == set()
    assert found.newest == {plan.segments[0].name: EPOCHS - 1}
    assert looked == {"ods.read": 1}
