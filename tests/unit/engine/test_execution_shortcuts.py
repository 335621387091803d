"""A shortcut that its probe refused is told once, as an event of the flow."""

from types import SimpleNamespace

from streamhouse.engine import execution
from streamhouse.engine.execution import FlowExecution
from streamhouse.spark.shortcuts import Shortcut, Shortcuts


class Events:
    """The events of a state store."""

    def __init__(self):
        self.all = []

    def events(self, flow, limit):
        return self.all[-limit:]

    def append_event(self, flow, kind, text):
        self.all.append(SimpleNamespace(flow=flow, kind=kind, text=text))


def test_one_event_as_long_as_it_stays_so(monkeypatch):
    refused = {Shortcut.CARRIER: "2 of 3 rows"}
    monkeypatch.setattr(execution, "shortcuts_of", lambda _: Shortcuts(frozenset(), refused))
    state = Events()
    carried = SimpleNamespace(plan=SimpleNamespace(flow="orders"), _state=state, _spark=None)
    for _ in range(2):
        FlowExecution._tell_refused_shortcuts(carried)
    [event] = state.all
    assert (event.flow, event.kind) == ("orders", "shortcut")
    assert event.text == "shortcut carrier is off, Spark's public way is taken instead: 2 of 3 rows"
    refused[Shortcut.CARRIER] = "no such class"
    FlowExecution._tell_refused_shortcuts(carried)
    assert len(state.all) == 2
