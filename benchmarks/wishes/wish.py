"""The wishes of a file, with what a right answer is."""

from collections import Counter
from pathlib import Path
from typing import Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

HERE = Path(__file__).parent
SCHEMAS = HERE / "schemas"

Kind = Literal[
    "one-block",
    "join",
    "rows",
    "top-n",
    "top-n-per-group",
    "first-last",
    "share",
    "change",
    "running",
    "moving",
    "anti",
    "nested",
    "ratio",
    "session",
    "alert",
]
Refusal = Literal["missing column", "missing source", "contradictory", "hostile", "ambiguous", "unsupported"]

PLAIN_ROWS: frozenset[str] = frozenset({"rows", "first-last", "anti"})
"""Kinds whose results are rows of a table, so that further columns do no harm."""


class Wish(BaseModel):
    """One wish.

    Attributes:
        sql: Reference queries, each of them right; none of a wish to refuse.
        refuse: Why the planner must not answer.
        words: Each must be named in the refusal or the question; `a|b` is either.
        one_of: Groups of the reference's columns of which one is enough, such as a station's number and its name.
        optional: Columns of the reference that the result may lack.
        or_times: Column of the reference → factor by which its values may differ as a whole, such as cents for dollars.
        ordered: Whether the order of the rows counts.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    schema_name: str = Field(alias="schema")
    wish: str
    sql: tuple[str, ...] = ()
    kind: Kind | None = None
    refuse: Refusal | None = None
    words: tuple[str, ...] = ()
    one_of: tuple[tuple[str, ...], ...] = ()
    optional: tuple[str, ...] = ()
    or_times: dict[str, float] = Field(default_factory=dict)
    ordered: bool = False

    @field_validator("sql", mode="before")
    @classmethod
    def _one_or_several(cls, given: str | list[str]) -> list[str]:
        return [given] if isinstance(given, str) else given

    @model_validator(mode="after")
    def _answer_or_refusal(self) -> Self:
        if (self.refuse is None) != (bool(self.sql) and self.kind is not None):
            raise ValueError(f"{self.id}: either sql and kind, or refuse")
        if self.refuse and not self.words:
            raise ValueError(f"{self.id}: a refusal must name something")
        return self

    @property
    def group(self) -> str:
        """What figures are added up by: its kind, or that it is to be refused."""
        return self.kind or f"refuse: {self.refuse}"


def read_wishes(name: str) -> list[Wish]:
    """Those of `dev.yaml`, `held.yaml` …, by name without the ending; none when there is no such file."""
    file = HERE / f"{name}.yaml"
    if not file.exists():
        return []
    wishes = [Wish.model_validate(entry) for entry in yaml.safe_load(file.read_text(encoding="utf-8"))]
    if twice := [id_ for id_, times in Counter(wish.id for wish in wishes).items() if times > 1]:
        raise ValueError(f"{file.name}: ids come twice: {', '.join(twice)}")
    return wishes
