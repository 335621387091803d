"""Of which image a piece of a project is, for the tests that play losses through the rules of `engine/loss.py`."""

from streamhouse.engine.loss import LaterEpoch, LossVerdict, StateRecord

GONE, OLD, NOW, NEWER = 0, 1, 2, 3
"""The piece is lost, from the older image, from the present one, or from a newer one; and the last epoch it has."""

TAKES = frozenset({LossVerdict.TAKE_OVER, LossVerdict.TAKE_OVER_AND_FILL})
"""The flow goes on behind the position that another record than the state store has."""

FILLS = frozenset({LossVerdict.FILL, LossVerdict.TAKE_OVER_AND_FILL})
"""Hot tables are filled from their copies, up to the position behind which the flow goes on."""


def recorded_of(state: int, *, is_half: bool) -> StateRecord:
    """What the state store says: the last epoch that it knows as done, and whether the next one is in hand."""
    if not state:
        return StateRecord.NOTHING
    return StateRecord.IN_HAND if is_half else StateRecord.DONE


def later_of(known: int, noted: int, logged: int) -> tuple[LaterEpoch, int | None]:
    """What other records say of a later epoch than `known`, and which epoch that is; None: they say nothing.

    Args:
        known: The last epoch of which the state store knows, done or in hand.
        noted: The last epoch that the tables have notes of.
        logged: The last epoch that Spark's log knows as done.
    """
    if noted > known:
        return LaterEpoch.DONE, noted
    return (LaterEpoch.LOGGED, logged) if logged > known else (LaterEpoch.NOT_LATER, None)
