"""Keys are added to YAML where they belong, and not a character of what stands there changes."""

import difflib

import pytest
import yaml

from streamhouse.registry.yaml_edits import with_added

TEXT = """\
# a flow
flow: a   # its name
steps:
  - {use: x}   # one

tables:   # options

  ods.a: {primary_key: [id], tiers: {hot: 1d}}   # why
  ods.b:
    buckets: 2
    # a note on columns
    columns:
      x: {unit: km}   # far
      y: plain
    # behind
  ods.c: {}
  ods.d: {tiers: {hot: 1d},
    columns: {z: {unit: m}}}
# the end
"""


@pytest.mark.parametrize(
    "added",
    [
        {"tables": {"ods.a": {"columns": {"id": {"description": "a: b", "values": {"1": "yes", "no": "n"}}}}}},
        {"tables": {"ods.b": {"columns": {"x": {"description": "it's"}, "w": {"synonyms": ["q"]}}}}},
        {"tables": {"ods.b": {"measures": {"m": {"sql": "SUM(a) / 100"}}, "description": "über # all"}}},
        {"tables": {"ods.c": {"description": "d"}, "ods.e": {"description": "new"}}},
        {"tables": {"ods.d": {"columns": {"z": {"description": "x" * 90}, "long": {"description": "y" * 90}}}}},
        {"owner": "me"},
        {"tables": {"ods.a": {"columns": {f"c{i}": {"description": "word " * 9, "unit": "km"} for i in range(9)}}}},
    ],
)
def test_what_is_added_is_there_and_nothing_else_changes(added: dict) -> None:
    after = with_added(TEXT, added)

    def merged(one: dict, two: dict) -> dict:
        both = {
            k: merged(one[k], v) if isinstance(one.get(k), dict) and isinstance(v, dict) else v for k, v in two.items()
        }
        return {**one, **both}

    assert yaml.safe_load(after) == merged(yaml.safe_load(TEXT), added)
    removed = [
        op for op in difflib.SequenceMatcher(None, TEXT, after, autojunk=False).get_opcodes() if op[0] == "delete"
    ]
    assert removed == []
    assert [line for line in TEXT.split("\n") if line.strip().startswith("#")] == [
        line for line in after.split("\n") if line.strip().startswith("#")
    ]


def test_what_is_there_stays() -> None:
    assert (
        with_added(TEXT, {"flow": "b", "tables": {"ods.b": {"columns": {"x": {"unit": "m"}, "y": {"unit": "m"}}}}})
        == TEXT
    )


def test_new_keys_stand_behind_those_they_belong_to() -> None:
    text = "a: 1\nb: |\n  text\n  more\nc: 3\n"
    assert with_added(text, {"d": 4}, after=("a", "b")) == "a: 1\nb: |\n  text\n  more\nd: 4\nc: 3\n"
