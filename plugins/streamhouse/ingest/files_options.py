"""Options of the source `files`."""

import re
from datetime import timedelta
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from streamhouse.ingest.columnar import is_columnar
from streamhouse.ingest.csv_header import CsvRules
from streamhouse.ingest.csv_options import CSV_OPTIONS, CsvForm
from streamhouse.ingest.formats import Format, format_of
from streamhouse.ingest.not_null import NotNull
from streamhouse.ingest.options import refuse_odd_keys, stored_types
from streamhouse.model.bad_rows import OnBadRows
from streamhouse.model.object_connection import S3
from streamhouse.model.table import Column
from streamhouse.model.types import NAME, Pace

_EVERY = timedelta(seconds=10)
FileMetadata = Literal["file", "other_fields"]
_ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


class _AnyFiles(NotNull):
    path: str = Field(
        min_length=1,
        description="file or pattern (*, ?, [a-z], **), relative to the project; or of an object store: s3://BUCKET/…",
    )
    connection: str | None = Field(
        default=None,
        pattern=NAME,
        description="of an object store: its name under 'connections' in streamhouse.yaml",
    )
    every: Pace | None = Field(
        default=None, description="of an object store: how often its objects are listed; absent: 10s"
    )
    format: Format | None = Field(
        default=None, description="csv, json (an object in each line, or a list of objects), parquet or avro"
    )
    columns: dict[str, str] = Field(default_factory=dict, description="column: type; empty: as the first file has them")
    metadata: dict[str, FileMetadata] = Field(
        default_factory=dict,
        description="further column of text: file (its name), or other_fields (those that no column names, as JSON)",
    )
    on_bad_rows: OnBadRows = Field(default=OnBadRows(), description="fail or dead_letter, and a limit")


class FilesOptions(CsvForm, _AnyFiles):
    """Options of `files`."""

    _types_can_be_stored = field_validator("columns")(stored_types)

    @model_validator(mode="after")
    def _place_is_known(self) -> Self:
        if self.path.startswith(S3):
            if self.connection is None:
                raise ValueError(f"'{self.path}' is in an object store; name it: connection: NAME")
            if not self.path.removeprefix(S3).partition("/")[2]:
                raise ValueError(
                    f"'{self.path}' names no object; write s3://BUCKET/NAME, or a pattern after the bucket"
                )
        elif _ELSEWHERE.match(self.path):
            raise ValueError(f"'{self.path}' is no place that is read; files are in a folder, or at s3://BUCKET/…")
        elif self.connection is not None or self.every is not None:
            name = "every" if self.connection is None else "connection"
            raise ValueError(f"'{name}' is of files in an object store, and '{self.path}' is in a folder")
        return self

    @model_validator(mode="after")
    def _format_is_known(self) -> Self:
        if self.format is None and format_of(self.path) is None:
            raise ValueError(f"'{self.path}' does not show its format; add format: csv, json, parquet or avro")
        if self.kind != "csv":
            if others := [name for name in CSV_OPTIONS if name in self.model_fields_set]:
                raise ValueError(f"'{others[0]}' is an option of csv, and the files are {self.kind}")
            if self.kind == "json":
                refuse_odd_keys(self.columns)
            return self
        if not self.header and self.named("other_fields"):
            raise ValueError("other_fields need names: a file without a first line of names has columns alone")
        nested = [name for name, type_ in self.columns.items() if type_.endswith(">")]
        if nested:
            raise ValueError(f"column '{nested[0]}': CSV holds no {self.columns[nested[0]]}")
        return self

    @model_validator(mode="after")
    def _metadata_are_further_columns(self) -> Self:
        if twice := sorted(self.metadata.keys() & self.columns.keys()):
            raise ValueError(f"metadata names '{twice[0]}', which is among the columns")
        if unsure := sorted({*self.named("other_fields")} & {*self.not_null}):
            raise ValueError(f"not_null names '{unsure[0]}', which is NULL where a row has no other field")
        if self.named("other_fields") and is_columnar(self.kind):
            raise ValueError(
                f"other_fields are of csv and json; columns of {self.kind} have types: name them under columns"
            )
        return self

    def named(self, what: FileMetadata) -> list[str]:
        """The names of the columns of this metadata."""
        return [name for name, of in self.metadata.items() if of == what]

    @property
    def metadata_columns(self) -> tuple[Column, ...]:
        """Of the metadata; the name of the file is never NULL."""
        return tuple(Column(name=name, type="string", nullable=of != "file") for name, of in self.metadata.items())

    @property
    def listed_every_s(self) -> float:
        """Seconds for which a listing of an object store is not asked for again."""
        return (self.every or _EVERY).total_seconds()

    @property
    def kind(self) -> Format:
        """The format; the name of the files says it where it is not given."""
        found = self.format or format_of(self.path)
        assert found is not None, "it was checked"
        return found

    @property
    def csv(self) -> CsvRules:
        """How files of CSV are read."""
        form = CsvForm.model_construct(**{name: getattr(self, name) for name in CSV_OPTIONS})
        return CsvRules(form, () if self.header else tuple(self.columns))
