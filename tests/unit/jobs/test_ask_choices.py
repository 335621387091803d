"""Each choice of a question is tried, where that is quick."""

from types import SimpleNamespace

import pytest

from streamhouse.jobs import ask
from streamhouse.planner.request import Question, Understood


@pytest.mark.parametrize(("tables", "readings"), [(200, 3), (201, 1)])
def test_choices_are_tried_in_a_project_of_few_tables(monkeypatch, tables, readings):
    read = []

    def read_wish(wish, _space):
        read.append(wish)
        return Understood(questions=(Question(phrase="sales", text="which?", choices=("revenue", "orders")),))

    monkeypatch.setattr(ask, "read_wish", read_wish)
    space = SimpleNamespace(catalog=SimpleNamespace(tables=dict.fromkeys(range(tables))))
    found = ask._read_for_a_person("sales per day", space)
    assert len(read) == readings
    assert [len(one.choices) for one in found.questions] == [0 if readings > 1 else 2]
