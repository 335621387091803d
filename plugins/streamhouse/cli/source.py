"""`streamhouse source`: what the rows of a source are."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import click

from streamhouse.cli.app import App, shared_options
from streamhouse.cli.lazy import LazyGroup

if TYPE_CHECKING:
    from streamhouse.ingest.formats import Format
    from streamhouse.ingest.inferred_columns import InferredFiles
    from streamhouse.jobs.infer_source import InferredSource


@click.group(cls=LazyGroup, short_help="Find out the columns of files.")
@shared_options
def source() -> None:
    """Find out what the rows of a source are."""


@source.command(
    short_help="Find out the columns and types of files.",
    epilog="""\b
Examples:
  streamhouse source infer 'data/orders-*.csv'
  streamhouse source infer 'data/orders-*.csv' --option separator=';' --option decimal=,
  streamhouse source infer orders.lines --write
  streamhouse source infer /srv/landing/events.jsonl --rows 100000 --json
""",
)
@click.argument("place", metavar="FLOW.SOURCE|PATH")
@click.option(
    "--format", "kind", type=click.Choice(("csv", "json", "parquet", "avro")), help="Of the files. [default: by name]"
)
@click.option(
    "--option",
    "options",
    metavar="NAME=VALUE",
    multiple=True,
    help="How CSV is written, as the options of a source say it: separator, quote, escape, encoding, decimal, "
    "date_format, timestamp_format, header, comment, null_value, multi_line. May be repeated.",
)
@click.option("--rows", type=click.IntRange(min=1), metavar="N", help="Look at the first N rows only; proves nothing.")
@click.option(
    "--write", is_flag=True, help="Write the columns, and the options, into the flow of FLOW.SOURCE, which has none."
)
@shared_options
@click.pass_obj
def infer(app: App, place: str, kind: str | None, options: tuple[str, ...], rows: int | None, write: bool) -> None:
    """Print the 'columns' of a source: what the files of FLOW.SOURCE, or of the pattern PATH, have.

    All rows of all files are looked at, and then read as the source reads them: a type that is printed fits all of
    them. With --rows, later rows may not fit. A column without one type for all of its values is left out, and named.
    """
    from streamhouse.jobs.infer_source import infer_source

    form = cast("Format | None", kind)
    found = infer_source(app.project, place, form, rows, options, edits=write)
    if found.edit is not None:
        (app.project.root / found.edit.path).write_text(found.edit.after, encoding="utf-8", newline="\n")
    if app.as_json:
        app.output.document(_document(found))
        return
    for line in _lines(found.found, found.options):
        app.output.line(line)
    if found.edit is not None:
        app.output.line(f"wrote {found.edit.path}", style="green")


def _lines(found: "InferredFiles", options: Mapping[str, Any]) -> list[str]:
    from streamhouse.registry.yaml_edits.write import scalar

    counted = f"{found.rows:,} rows of {found.files:,} file{'' if found.files == 1 else 's'}"
    about = "types that all have: " if found.is_proved else "types of the first rows, later ones may not fit: "
    shown = (f"{name}: {scalar(value)}" for name, value in options.items())
    lines = [f"# {about}{counted}", *shown, "columns:"]
    for column in found.columns:
        note = " ".join(column.note.split())
        if column.type is None:
            lines.append(f"  # left out: {' '.join(column.name.split())}: {note}")
        else:
            lines.append(f"  {scalar(column.name)}: {scalar(column.type)}{f'  # {note}' if note else ''}")
    return lines


def _document(found: "InferredSource") -> dict[str, Any]:
    return {
        "path": found.path,
        "files": found.found.files,
        "rows": found.found.rows,
        "proved": found.found.is_proved,
        "options": dict(found.options),
        "columns": {column.name: column.type for column in found.found.columns if column.type is not None},
        "left_out": {column.name: column.note for column in found.found.columns if column.type is None},
        "notes": {
            column.name: column.note for column in found.found.columns if column.type is not None and column.note
        },
        "written": found.edit.path if found.edit is not None else None,
    }
