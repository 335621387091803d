"""What a long piece of work reports while it runs, in a shape that a progress bar can show."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Stage:
    """What is being done now.

    Attributes:
        text: For a person, without a full stop, such as `fetching fluss-server 0.9.1-incubating`.
        fraction: How much of it is done, in `[0, 1]`; None: unknown.
    """

    text: str
    fraction: float | None = None


OnStage = Callable[[Stage], None]


def silent(stage: Stage) -> None:
    """Show nothing."""
