"""docs/trigger.md names every event and policy, and its examples are flows that the reader takes."""

import re
from pathlib import Path

from streamhouse.model.outcome import Outcome
from streamhouse.model.schema_change import SUBJECT_TO_POLICY, EventType, Policy
from streamhouse.model.upstream import Values
from streamhouse.registry.read_flow import read_flow
from streamhouse.upstream.decide import verdict
from streamhouse.upstream.reading_step import ColumnUse
from tests.tables import each
from tests.unit.upstream.test_decide import CASES

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


POLICIES = ("freeze", "lenient", "evolve", "try_evolve", "ignore", ("discard_row", "discard_value"))
DASH = "\N{EN DASH}"
UNREAD = {"not read", "not read, noted", "nothing"}


def _rows() -> dict[str, list[str]]:
    """Event → its cells in the table, of events that have one row."""
    found: dict[str, list[str]] = {}
    for line in re.findall(r"^\| `\w+`.*\|$", TEXT, re.MULTILINE):
        first, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        name = re.findall(r"`(\w+)`", first)[0]
        found[name] = [] if name in found or len(cells) != len(POLICIES) else cells
    return {name: cells for name, cells in found.items() if cells}


@each(
    ("kind", "policy", "cell"),
    [
        (kind, policy, cell)
        for kind, cells in _rows().items()
        for policies, cell in zip(POLICIES, cells, strict=True)
        for policy in ((policies,) if isinstance(policies, str) else policies)
        if cell in {"block", DASH, *UNREAD}
    ],
)
def test_a_cell_says_what_is_done(kind: str, policy: str, cell: str) -> None:
    cases = CASES[EventType(kind)].values()  # who does not read what was there goes on, whatever a cell says
    event, reader = next((e, r) for e, r in cases if e.was is None or e.now is None or r.uses is not ColumnUse.NOTHING)
    told = verdict(event, reader, Policy(policy))
    if cell == "block":
        assert told.outcome is Outcome.BLOCK
    elif cell == DASH:
        assert told == verdict(event, reader, Policy.LENIENT).model_copy(update={"policy": Policy(policy)})
    else:
        assert (told.outcome, told.pauses, told.spreads) == (Outcome.NO_OP, False, False)
        assert told.values is (Values.AS_BEFORE if cell == "nothing" else Values.UNREAD)
        assert bool(told.notes) or cell != "not read, noted"
