"""What is decided and cannot be done must end in a question, never in nothing."""

import pytest

from streamhouse.model.outcome import Outcome
from streamhouse.model.plan import PlannedSource
from streamhouse.model.schema_change import Policy
from streamhouse.model.table import Column
from streamhouse.model.upstream import UpstreamEvent, Values
from streamhouse.trigger.ability import is_able
from streamhouse.trigger.decide import verdict
from streamhouse.trigger.impact import in_question
from streamhouse.trigger.reader import Reader
from tests.unit.trigger.test_decide import ALL

JSON = PlannedSource(name="r", kind="files", options={"path": "d/*.json"}, columns=(Column(name="id", type="int"),))
CSV = JSON.model_copy(update={"options": {"path": "d/*.csv"}})
DONE = {Values.AS_BEFORE, Values.UNREAD, Values.COUNTED, Values.TAKEN, Values.NULL, Values.WAIT}


@pytest.mark.parametrize(("seen", "by", "policy"), ALL)
@pytest.mark.parametrize("source", [JSON, CSV, None], ids=["json", "csv", "table"])
def test_every_cell(source: PlannedSource | None, seen: UpstreamEvent, by: Reader, policy: Policy) -> None:
    told = verdict(seen, by, policy)
    if is_able(told, seen, source):
        field = seen.was is None and told.values in (Values.RESCUED, Values.VALUE_DISCARDED)
        assert told.values in DONE or field
        if source is None:
            assert not told.tiers, "tables of other flows are not altered from here"
        if source is not JSON and told.values is Values.NULL:
            assert told.spreads, "a column that is absent is not read as NULL there"
    else:
        asked = in_question(told, seen, "why")
        assert (asked.outcome, asked.pauses, bool(asked.asks)) == (Outcome.BLOCK, True, True)
