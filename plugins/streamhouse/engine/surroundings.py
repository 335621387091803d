"""What all segments of a flow share while a process carries it, and what each of them reports."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from streamhouse.engine.lease import LeaseGuard
from streamhouse.model.plan import FlowPlan
from streamhouse.model.types import Tier
from streamhouse.state.records import EpochRecord
from streamhouse.state.store import StateStore
from streamhouse.stores.base import Store
from streamhouse.stores.places import Places

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Beat:
    """What a segment reports after each epoch.

    Attributes:
        record: The epoch as the state store has it.
        read_rows: Rows read from the segment's inputs since this run began.
        waiting_rows: Rows that waited there when this run began; of a drain the total.
    """

    record: EpochRecord
    read_rows: int
    waiting_rows: int


@dataclass(frozen=True)
class Surroundings:
    """What all segments of a flow share while it is carried.

    Attributes:
        checkpoints: Folder of Spark's logs of all flows.
        cache: Folder of the states that segments of all flows hold.
        stop: Set when the runner is to end.
        is_paused: Whether a segment must not read on for now.
        before_epoch: Is called with the name of a segment whose next epoch is about to begin; returns when it may.
        rows_lost: Is called with the name of a segment that needs rows that are gone; returns when somebody has looked.
        patience: How long failures that may pass by themselves may go on.
        on_wait: Is called once, in words for a person, when such failures begin.
    """

    plan: FlowPlan
    spark: "SparkSession"
    stores: Mapping[Tier, Store]
    places: Places
    state: StateStore
    lease: LeaseGuard
    checkpoints: Path
    cache: Path
    stop: threading.Event
    is_paused: Callable[[str], bool]
    before_epoch: Callable[[str], None]
    rows_lost: Callable[[str], None]
    on_beat: Callable[[Beat], None]
    patience: timedelta
    on_wait: Callable[[str], None]
