"""What `renamed` says is never passed over: it is done, or it is an error with its place."""

import pytest

from streamhouse.compiler.compile import compile_flow
from streamhouse.compiler.diff import diff
from streamhouse.errors import OutputColumnError, UnknownColumnError
from streamhouse.model.outcome import Outcome
from streamhouse.model.table import Column
from streamhouse.registry.read_action import read_action
from streamhouse.registry.read_flow import read_flow

FLOW = """\
flow: f
sources: {rows: {files: {path: d/*.csv, columns: {id: int, a: int, b: int}}}}
steps: [{use: take, reads: {rows: rows}, writes: ods.t}]
tables: {ods.t: {tiers: {cold: forever}}}
"""
COLUMNS = tuple(Column(name=name, type="int") for name in ("id", "a", "b"))


class Only:
    def __init__(self, action):
        self._action = action

    def action(self, _):
        return self._action


def planned(select, renamed="{}"):
    text = (
        "/* ---\naction: take\nstep: ingest\ninputs: {rows: {id: int, a: int, b: int}}\n"
        f"output:\n  renamed: {renamed}\n--- */\nSELECT {select} FROM rows\n"
    )
    action = read_action(text, "actions/take.sql").action
    return compile_flow(read_flow(FLOW, "flows/f.yaml"), Only(action), {"rows": COLUMNS})


@pytest.mark.parametrize(
    ("select", "renamed", "told"),
    [
        ("id, a AS total, b AS a", "{total: a}", "total was called a, but a is a column of the result as well"),
        ("id, a AS b, b AS a", "{b: a, a: b}", "b was called a, but a is a column"),
        ("id, a AS A2, b AS a", "{a2: A}", "a2 was called A, but A is a column"),
        ("id, a", "{a: a}", "a was called a, but a is a column"),
        ("id, a AS x, b AS y", "{x: was, y: was}", "both x and y were called was"),
    ],
)
def test_a_name_that_cannot_have_been_given_up_is_an_error_with_its_place(select, renamed, told):
    with pytest.raises(Exception, match=told) as found:
        planned(select, renamed)
    error = getattr(found.value, "errors", (found.value,))[0]
    assert isinstance(error, OutputColumnError)
    assert (error.at.file, error.at.line) == ("actions/take.sql", 6)
    assert error.at.column > len("  renamed: {")


def test_a_name_of_no_column_is_told_at_its_place():
    with pytest.raises(UnknownColumnError, match="renamed names 'totl'") as found:
        planned("id, a AS total", "{totl: a}")
    assert (found.value.at.line, found.value.at.column) == (6, 19)


def test_a_name_that_another_column_has_in_what_is_applied_blocks():
    found = diff(planned("id, a, b"), planned("id, a AS b", "{b: a}"), {})
    assert found.outcome is Outcome.BLOCK
    [told] = [f for step in found.steps for f in step.findings if f.outcome is Outcome.BLOCK]
    assert "says that b was called a, but the table has had a b beside a" in told.proof


def test_what_was_renamed_once_may_still_be_told():
    assert diff(planned("id, a AS total"), planned("id, a AS total", "{total: a}"), {}).outcome is Outcome.NO_OP
