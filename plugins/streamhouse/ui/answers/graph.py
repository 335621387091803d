"""A flow as a graph."""

from typing import Literal

from streamhouse.model.outcome import Outcome
from streamhouse.ui.answers.base import Answer
from streamhouse.ui.answers.flows import TierTrouble


class TierRetention(Answer):
    """A tier of a table, and how long it keeps rows."""

    tier: str
    kept: str


class NodeStep(Answer):
    """A step that writes a table of the graph."""

    step: str
    action: str
    version: str
    strategy: str
    segment: str
    part: tuple[str, ...] = ()


class GraphNode(Answer):
    """A source or a table."""

    id: str
    kind: Literal["source", "table", "external", "quarantine"]
    name: str
    layer: str  # `source` for sources
    detail: str = ""  # the kind of a source
    tiers: tuple[TierRetention, ...] = ()
    steps: tuple[NodeStep, ...] = ()
    columns: int = 0
    rows: int = 0
    rows_per_second: float = 0
    outcome: Outcome | None = None  # of the change that waits in the files; None: it is as applied
    stands: bool = False  # until a person decides
    new: bool = False  # a proposal would make it
    troubles: tuple[TierTrouble, ...] = ()


class GraphEdge(Answer):
    """What a table is made of."""

    source: str
    target: str
    mode: str  # changes, lookup, quarantine
    columns: tuple[str, ...] = ()


class GraphSegment(Answer):
    """Steps that share one clock."""

    name: str
    pace: str
    tables: tuple[str, ...]


class Graph(Answer):
    """A flow as its plan has it."""

    flow: str
    shows: Literal["applied", "files"]
    revision: int | None
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    segments: tuple[GraphSegment, ...]
