"""What a run reports while it runs and when it ends."""

from dataclasses import dataclass, field

from streamhouse.errors import StreamhouseError
from streamhouse.model.types import Layer
from streamhouse.state.troubles import TableTrouble


@dataclass(frozen=True)
class RunProgress:
    """How far a run is, after an epoch or while it waits.

    Attributes:
        epoch: Number of the last finished epoch; -1 before the first.
        rows: Rows taken from the sources since the run began.
        total_rows: Rows to take in this run when that is known (`--once`); None: it has no end.
        rows_per_second: Over the last few seconds.
        freshness_ms: Layer → how long the last epoch's rows took from the source to readable there.
        stage: What it is doing, in words for a person, such as `starting Fluss` or `running`.
    """

    epoch: int
    rows: int
    total_rows: int | None
    rows_per_second: float
    freshness_ms: dict[Layer, int] = field(default_factory=dict)
    stage: str = "running"


@dataclass(frozen=True)
class Summary:
    """What a run did, when it ended by itself or was asked to.

    Attributes:
        epochs: Finished by this run; 0: there was nothing new to read.
        rows: Table written → rows written by this run.
        seconds: From the first epoch's begin to the last one's end; 0 without epochs.
        freshness_ms: Layer → median over the run's last 1,000 epochs.
        warnings: What the run took over from edited files that leaves older rows as they were.
        troubles: What goes wrong with the tiers of its tables meanwhile.
        behind: Versions that the flow reads and that get no more rows, as no change has moved it on, with what to do.
    """

    flow: str
    epochs: int
    rows: dict[str, int]
    seconds: float
    freshness_ms: dict[Layer, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    troubles: tuple[TableTrouble, ...] = ()
    behind: tuple[str, ...] = ()


@dataclass(frozen=True)
class FailedFlow:
    """Why a flow of several did not run to its end; the others did."""

    flow: str
    error: StreamhouseError
