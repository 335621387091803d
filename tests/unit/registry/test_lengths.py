"""Names and paths that a store would refuse are refused when they are written, with their place."""

import pytest

from streamhouse.errors import StreamhouseError
from streamhouse.registry.lengths import NAME_LENGTH, PART_BYTES, PATH_LENGTH
from streamhouse.registry.read_action import read_action
from streamhouse.registry.read_flow import read_flow

FLOW = """flow: {flow}
sources: {{{source}: {{files: {{path: {path}}}}}}}
steps:
  - {{use: {use}, reads: {{{port}: {source}}}, writes: ods.{table}}}
tables: {{ods.{table}: {{tiers: {{warm: 30d}}}}}}
"""
ACTION = """/* ---
action: {action}
step: ingest
inputs: {{{port}: {{{column}: bigint}}}}
params: {{{param}: {{type: bigint, default: 1}}}}
--- */
SELECT {column} AS {alias}, :{param} AS p FROM {port}
"""
GIVEN = {"flow": "f", "source": "s", "path": "data/x", "use": "u", "port": "i", "table": "t"}
ACTION_GIVEN = {"action": "a", "port": "i", "column": "c", "param": "q", "alias": "b"}
CASES = [
    *((read_flow, FLOW, GIVEN, name) for name in GIVEN if name != "path"),
    *((read_action, ACTION, ACTION_GIVEN, name) for name in ACTION_GIVEN),
]


@pytest.mark.parametrize(("read", "text", "given", "name"), CASES, ids=[f"{c[0].__name__}-{c[3]}" for c in CASES])
def test_a_name_has_so_many_letters_at_most(read, text, given, name):
    read(text.format(**{**given, name: "x" * NAME_LENGTH}), "file")
    with pytest.raises(StreamhouseError, match=f"{NAME_LENGTH + 1} letters; a name may have {NAME_LENGTH}") as refused:
        read(text.format(**{**given, name: "x" * (NAME_LENGTH + 1)}), "file")
    assert "file:" in str(refused.value)
    assert "hint: shorten it" in str(refused.value)
    assert len(str(refused.value)) < 2_000


def test_a_path_has_so_many_letters_at_most():
    def read(path):
        read_flow(FLOW.format(**{**GIVEN, "path": path}), "file")

    read("/".join("x" * 99 for _ in range(10)))
    with pytest.raises(StreamhouseError, match=f"it may have {PATH_LENGTH}"):
        read("x/" * PATH_LENGTH)
    with pytest.raises(StreamhouseError, match=f"file systems take {PART_BYTES}"):
        read("data/" + "ä" * 128)
