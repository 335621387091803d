"""Entries of the journal of `apply` as the state store has them, and as values."""

import json
from collections.abc import Iterable
from zlib import crc32

from pydantic import ValidationError
from sqlalchemy import Row, Select, select

from streamhouse.errors import StateConflictError
from streamhouse.model.forgetting import Forgetting
from streamhouse.model.outcome import Outcome
from streamhouse.model.plan import FlowPlan
from streamhouse.model.review import Review, SwapGate
from streamhouse.state.change_sums import is_whole, marks_of
from streamhouse.state.damage import damaged, parsing, unreadable
from streamhouse.state.instants import from_ms
from streamhouse.state.records import OVER, Change, Move, Phase, UnreadableChange
from streamhouse.state.schema import change as changes
from streamhouse.state.schema import forgetting as forgettings
from streamhouse.state.schema import review as reviews

QUERY: Select[tuple[object, ...]] = select(
    changes, reviews.c.gate, reviews.c.body.label("review"), forgettings.c.body.label("forgetting")
).select_from(
    changes.outerjoin(reviews, reviews.c.change == changes.c.id).outerjoin(
        forgettings, forgettings.c.change == changes.c.id
    )
)
_SUM = "sum"
IS_OPEN = changes.c.phase.not_in([phase.value for phase in OVER])
"""Whether something of a change is still to be done. A damaged phase is none of those that end it."""


def read_changes(rows: Iterable[Row[tuple[object, ...]]], unreadable: list[UnreadableChange] | None) -> list[Change]:
    """The changes of some rows of `QUERY`.

    Args:
        rows: Of `QUERY`.
        unreadable: Gets those that cannot be read, which the result lacks; None: the error of the first one is raised.

    Raises:
        OtherVersionError, DamagedStateError: a change cannot be read.
    """
    found: list[Change] = []
    for row in rows:
        try:
            found.append(change_of(row))
        except StateConflictError as error:
            if unreadable is None:
                raise
            unreadable.append(_unreadable(row, error))
    return found


def _unreadable(row: Row[tuple[object, ...]], error: StateConflictError) -> UnreadableChange:
    return UnreadableChange(
        id=row.id,
        flow=row.flow,
        phase=row.phase,
        outcome=row.outcome,
        versions=dict(row.versions) if isinstance(row.versions, dict) else None,
        environment=row.environment,
        requested_by=row.asked_by,
        requested_at=from_ms(row.asked_ms),
        updated_at=from_ms(row.updated_ms),
        error=error,
    )


def _give_up_hint(row: Row[tuple[object, ...]]) -> str:
    """What to do about a change that cannot be read; the command is one that need not read it."""
    if row.phase in OVER:
        return "nothing waits for it: it is over"
    if row.environment is not None:
        again = f"streamhouse apply {row.flow} --env {row.environment}"
        return f"give it up: streamhouse env discard {row.flow} {row.environment}; then build it again: {again}"
    return f"give it up: streamhouse changes {row.id} --withdraw; then ask again: streamhouse apply {row.flow}"


def change_of(row: Row[tuple[object, ...]]) -> Change:
    """The change of a row of `QUERY`.

    Raises:
        OtherVersionError, DamagedStateError: it cannot be read.
    """
    what, hint = f"change {row.id} of flow '{row.flow}'", _give_up_hint(row)
    if row.environment is not None:
        what = f"{what} in environment '{row.environment}'"
    try:
        plan = FlowPlan.model_validate_json(row.body)
    except ValidationError as error:
        raise unreadable(what, error, hint=hint, damaged_hint=hint) from error
    if not is_whole(row):
        raise damaged(what, hint=hint)
    with parsing(what, hint=hint):
        return Change(
            id=row.id,
            flow=row.flow,
            plan=plan,
            outcome=Outcome(row.outcome),
            phase=Phase(row.phase),
            versions=dict(row.versions),
            moves={table: Move(**move) for table, move in row.moves.items()},
            followers=dict(row.followers),
            copies=frozenset(row.copies),
            marks=marks_of(row),
            requested_by=row.asked_by,
            requested_at=from_ms(row.asked_ms),
            updated_at=from_ms(row.updated_ms),
            base=row.base,
            environment=row.environment,
            error=row.error,
            gate=SwapGate(row.gate) if row.gate is not None else SwapGate.AUDIT,  # None: asked before there were audits
            review=Review.model_validate_json(row.review) if row.review is not None else None,
            forgetting=persons_of(row.forgetting) if row.forgetting is not None else None,
        )


def persons_text(forgetting: Forgetting) -> str:
    """Text that `persons_of` reads, with a checksum: another letter is another person."""
    said = forgetting.model_dump(mode="json")
    return json.dumps({**said, _SUM: _sum_of(said)})


def persons_of(text: str) -> Forgetting:
    """Whose rows a change leaves out; texts of earlier versions have no checksum.

    Raises:
        ValueError, AttributeError: it is not as it was recorded.
    """
    said = json.loads(text)
    recorded = said.pop(_SUM, None)
    if recorded is not None and recorded != _sum_of(said):
        raise ValueError("another checksum")
    return Forgetting.model_validate_json(json.dumps(said))


def _sum_of(said: object) -> int:
    return crc32(json.dumps(said, sort_keys=True).encode())
