"""Options of a source that reads a table of others."""

from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from streamhouse.ingest.not_null import NotNull
from streamhouse.ingest.options import stored_types
from streamhouse.model.table import NO_KEY_TYPES
from streamhouse.model.types import NAME, Pace

_PART = r"[A-Za-z0-9_][A-Za-z0-9_-]{0,254}"

Mode = Literal["append", "upsert", "snapshot_diff"]


class OtherTableOptions(NotNull):
    """Options of `table`."""

    connection: str = Field(pattern=NAME, description="its name under 'connections' in streamhouse.yaml")
    table: str = Field(
        pattern=rf"^{_PART}(\.{_PART}){{1,8}}$", description="database.table, such as sales.orders; it is only read"
    )
    mode: Mode = Field(
        default="append",
        description="append: rows that are added; upsert: changes as the table's changelog has them; "
        "snapshot_diff: changes found by comparing two snapshots; the last two need primary_key",
    )
    primary_key: tuple[str, ...] = Field(
        default=(), description="the columns that identify a row: [id]; of mode upsert those of the table"
    )
    columns: dict[str, str] = Field(
        default_factory=dict, description="what to take of each row: {id: bigint, name: string}; absent: all"
    )

    every: Pace | None = Field(
        default=None, description="of a table of a database: how often it is copied and compared; absent: 1m"
    )

    _types_can_be_stored = field_validator("columns")(stored_types)

    @model_validator(mode="after")
    def _key_fits_the_mode(self) -> Self:
        if self.mode == "append" and self.primary_key:
            raise ValueError("mode append adds rows and has no primary_key; write 'mode: snapshot_diff' or 'upsert'")
        if self.mode != "append" and not self.primary_key:
            raise ValueError(f"mode {self.mode} needs 'primary_key', the columns that identify a row")
        if len(set(self.primary_key)) != len(self.primary_key):
            raise ValueError("primary_key names a column twice")
        for name in self.primary_key if self.columns else ():
            if name not in self.columns:
                raise ValueError(f"primary_key names '{name}', which is not among the columns")
            if self.columns[name].startswith(NO_KEY_TYPES):
                raise ValueError(f"'{name}' is {self.columns[name]} and cannot be part of a primary key")
        return self
