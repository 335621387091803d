"""Which tables of a connection are to be captured: each flow that reads one leaves a note beside the journal."""

from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from streamhouse.ingest.cdc_options import CdcOptions
from streamhouse.install.whole_file import write_whole
from streamhouse.model.connection import DATABASES
from streamhouse.model.types import Frozen


class WantedTable(Frozen):
    """A table as a flow reads it.

    Attributes:
        connection: Name of the connection.
        table: `schema.table`, or `database.table`.
        primary_key: As declared.
        columns: Column → Spark SQL type, as declared.
    """

    connection: str
    table: str
    primary_key: tuple[str, ...]
    columns: dict[str, str]


def wanted_of(kind: str, options: Mapping[str, Any]) -> WantedTable | None:
    """What a source wants of a database; None: it reads none, or its options are wrong."""
    if kind != "cdc" or not set(DATABASES) & set(options):
        return None
    try:
        checked = CdcOptions.model_validate(dict(options))
    except ValidationError:
        return None
    place = checked.captured
    assert place is not None
    return WantedTable(
        connection=place.connection, table=place.table, primary_key=checked.primary_key, columns=checked.columns
    )


def note(folder: Path, wanted: Iterable[WantedTable]) -> None:
    """Leave a note for each; the same one again changes nothing."""
    notes = folder / "wanted"
    notes.mkdir(parents=True, exist_ok=True)
    for one in wanted:
        text = one.model_dump_json()
        file = notes / f"{sha256(text.encode()).hexdigest()[:16]}.json"
        if not file.exists():
            write_whole(file, text)


def noted(folder: Path) -> list[WantedTable]:
    """All that is wanted, by table; what cannot be read is passed over."""
    found = []
    for file in sorted((folder / "wanted").glob("*.json")):
        try:
            found.append(WantedTable.model_validate_json(file.read_bytes()))
        except (OSError, ValidationError):
            continue
    return sorted(found, key=lambda one: one.table)
