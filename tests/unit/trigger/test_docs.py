"""docs/trigger.md names every event and policy, and its examples are flows that the reader takes."""

import re
from pathlib import Path

from streamhouse.model.schema_change import SUBJECT_TO_POLICY, Policy
from streamhouse.registry.read_flow import read_flow

TEXT = (Path(__file__).parents[3] / "docs/trigger.md").read_text(encoding="utf-8")
STEPS = "steps:\n  - {use: a, reads: {rows: ods.orders}, writes: dwd.orders}\n"


def test_every_event_and_policy_is_told() -> None:
    rows = set(re.findall(r"^\| `(\w+)`", TEXT, re.MULTILINE))
    assert {kind.value for kind in SUBJECT_TO_POLICY} <= rows
    assert all(f"`{policy}`" in TEXT for policy in Policy)


def test_the_examples_are_taken() -> None:
    examples = re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
    assert len(examples) == 2
    for example in examples:
        read_flow(f"flow: orders\n{example}{STEPS}", "flows/orders.yaml")
