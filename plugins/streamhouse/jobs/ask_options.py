"""What a person says beside a wish."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from streamhouse.model.types import Layer

Say = Callable[[str], None]
"""Is called with what is being waited for."""


@dataclass(frozen=True)
class Options:
    """What a person says beside the wish.

    Attributes:
        answers: Phrase of a question → the choice that takes its place.
        flow: That gets the step.
        name: Of the result's table, without the layer.
        examples: Whether examples are computed on real rows, which starts Spark; None: where tables have rows.
        preview: So many rows of the answer are shown.
        environment: Whose tables the preview and the examples read; None: those that serve.
        build_in: The environment in which the new tables are to be built; it may not be there yet.
        alone: Only an action is wanted.
        model: `provider:name` of a language model that reads the wish; `on`: that of the settings; None: that of the
            settings, where the wish cannot be read offline; `off`: none.
    """

    answers: Mapping[str, str] = field(default_factory=dict)
    flow: str | None = None
    name: str | None = None
    layer: Layer | None = None
    freshness: timedelta | None = None
    examples: bool | None = False
    preview: int = 0
    environment: str | None = None
    build_in: str | None = None
    alone: bool = False
    model: str | None = "off"
