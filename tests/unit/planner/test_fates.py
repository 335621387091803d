"""What became of proposals."""

from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from streamhouse.errors import StateConflictError
from streamhouse.planner.fates import Became, Fates
from streamhouse.planner.proposal import FileEdit, Proposal, Status
from streamhouse.planner.proposals import Event, Stored
from streamhouse.state.records import UnreadableChange

AT = datetime(2026, 3, 1, tzinfo=UTC)
PROPOSAL = Proposal(
    id="0123456789ab",
    wish="revenue per store",
    status=Status.PROPOSED,
    sentence="Revenue for each store.",
    table="dws.board",
    flow="shop",
    files=(FileEdit(path="flows/shop.yaml", before="old", after="new"),),
)


def unread(versions: dict[str, int] | None, flow: str = "shop") -> UnreadableChange:
    error = StateConflictError("change 7 is damaged", hint="give it up")
    return UnreadableChange(7, flow, "ready", "rebuild", versions, "trial", "me", AT, AT, error)


def fate(root: Path, state: SimpleNamespace, *places: str) -> Became:
    events = tuple(Event(at=AT, what="written", detail=place) for place in places)
    return Fates(SimpleNamespace(root=root), state).of(Stored(proposal=PROPOSAL, events=events))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "is_unknown"),
    [
        (unread({"dws.board": 1}), True),
        (unread(None), True),
        (unread({"dws.other": 1}), False),
        (unread(None, flow="other"), False),
    ],
)
def test_an_environment_that_cannot_be_read_may_have_the_table(
    tmp_path: Path, change: UnreadableChange, *, is_unknown: bool
) -> None:
    state = SimpleNamespace(plans=lambda _: {}, environments=lambda others: others.append(change) or [])
    (tmp_path / "flows").mkdir()
    (tmp_path / "flows" / "shop.yaml").write_text("new")
    became = fate(tmp_path, state, "the project")
    unknown = "whether environment trial has it is not known: change 7 is damaged"
    assert (became.what, became.detail) == (
        "written",
        unknown if is_unknown else "waits for: streamhouse apply shop",
    )


def test_files_of_another_folder_are_in_no_environment(tmp_path: Path) -> None:
    state = SimpleNamespace(plans=lambda _: {}, environments=lambda others: others.append(unread(None)) or [])
    assert fate(tmp_path, state, "/elsewhere").detail == "into /elsewhere"
    unknown = "whether environment trial has it is not known: change 7 is damaged"
    assert fate(tmp_path, state, "the project", "/elsewhere").detail == unknown
