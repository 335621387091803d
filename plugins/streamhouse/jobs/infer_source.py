"""The columns of files as a contract: looked up, and written into the flow whose source reads them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from streamhouse.errors import DefinitionErrors, ImportRefusedError, SourceError, did_you_mean
from streamhouse.ingest.csv_options import CSV_OPTIONS
from streamhouse.ingest.files_options import FilesOptions
from streamhouse.ingest.formats import Format
from streamhouse.ingest.inferred_columns import InferredFiles, infer_files
from streamhouse.ingest.object_reader import connection_of
from streamhouse.ingest.options import check_options
from streamhouse.model.flow import Source
from streamhouse.model.object_connection import S3
from streamhouse.planner.proposal import FileEdit
from streamhouse.planner.try_files import with_edits
from streamhouse.project.check import check_project, load_registry
from streamhouse.project.project import Project
from streamhouse.registry.files import read_files
from streamhouse.registry.yaml_edits import with_added


@dataclass(frozen=True)
class InferredSource:
    """What was found.

    Attributes:
        path: Pattern of the files.
        found: Their columns.
        options: Of CSV, as the source must have them beside those that it has.
        edit: Of the flow that has the source, with its columns; None: no source was named.
    """

    path: str
    found: InferredFiles
    options: Mapping[str, Any]
    edit: FileEdit | None = None


def infer_source(
    project: Project,
    place: str,
    kind: Format | None,
    most_rows: int | None,
    written: Sequence[str] = (),
    *,
    edits: bool,
) -> InferredSource:
    """The columns of a source's files. Reads them, and writes nothing.

    Args:
        project: To whose folder paths are relative.
        place: `FLOW.SOURCE`, else the pattern of files.
        kind: Their format; None: as the source says, else by the ending of the pattern.
        most_rows: See `infer_files`.
        written: How CSV is written, as `option=value`, beside what the source says.
        edits: Whether the columns are to be written into the flow.

    Raises:
        ImportRefusedError: `edits` is asked for, and the place is no source, has columns, or no column can be read; or
            the source says itself what `written` says.
        SourceError: there is no such file, one is malformed, or an option is wrong.
        DefinitionErrors: the flow does not compile with these columns.
        FileFormatError: the layout of the flow's file does not allow the edit.
    """
    source, more = _source(project, place), _options(written)
    if source is None:
        if edits:
            raise ImportRefusedError(f"no flow has a source '{place}'", hint="write FLOW.SOURCE with --write")
        if not more:
            return InferredSource(place, infer_files(place, project.root, kind, most_rows), {})
        stored = {"connection": connection_of(place, project.root)} if place.startswith(S3) else {}
        checked = check_options(FilesOptions, "files", {"path": place, "format": kind, **stored, **more}, None)
        found = infer_files(place, project.root, checked.kind, most_rows, checked.csv)
        return InferredSource(place, found, _as_written(more, checked))
    if twice := more.keys() & source.options.keys():
        name = min(twice)
        hint = "change it there, or leave it out of the command"
        raise ImportRefusedError(f"'{place}' has the option '{name}' itself", at=source.at, hint=hint)
    checked = check_options(FilesOptions, "files", {**source.options, **more}, source.at)
    if edits and checked.columns:
        raise ImportRefusedError(f"'{place}' has columns", at=source.at, hint="they are not overwritten")
    found = infer_files(checked.path, project.root, kind or checked.kind, most_rows, checked.csv, checked.connection)
    options = _as_written(more, checked)
    return InferredSource(checked.path, found, options, _edit(project, source, found, options) if edits else None)


def _options(written: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in written:
        name, equals, value = one.partition("=")
        name = name.strip().replace("-", "_")
        if name not in CSV_OPTIONS:
            hint = did_you_mean(name, CSV_OPTIONS, f"options of csv: {', '.join(CSV_OPTIONS)}")
            raise SourceError(f"'{name}' is no option of csv", hint=hint)
        if not equals or name in found:
            what = "is there twice" if name in found else "has no value"
            raise SourceError(f"the option '{name}' {what}", hint=f"--option '{name}=…'")
        found[name] = value
    return found


def _as_written(more: Mapping[str, str], checked: FilesOptions) -> dict[str, Any]:
    """Options as YAML has them: those that are yes or no are no texts."""
    values = {name: getattr(checked, name) for name in more}
    return {name: value if isinstance(value, bool) else more[name] for name, value in values.items()}


def _source(project: Project, place: str) -> Source | None:
    flow, _, name = place.partition(".")
    defined = load_registry(project).flows.get(flow)
    source = defined.sources.get(name) if defined is not None else None
    if source is not None and source.kind != "files":
        hint = "a database or a registry says what it has: streamhouse import"
        raise ImportRefusedError(f"'{place}' reads no files, but {source.kind}", at=source.at, hint=hint)
    return source


def _edit(project: Project, source: Source, found: InferredFiles, options: Mapping[str, Any]) -> FileEdit:
    columns = {column.name: column.type for column in found.columns if column.type is not None}
    if not columns:
        raise ImportRefusedError(f"no column of '{source.name}' can be read", at=source.at, hint="see the notes")
    files = read_files(project.root)
    before = next(file.text() for file in files.flows if file.name == source.at.file)
    after = with_added(
        before, {"sources": {source.name: {"files": {**options, "columns": columns}}}}, file=source.at.file
    )
    edit = FileEdit(path=source.at.file, before=before, after=after)
    checked = check_project(project, files=with_edits(files, [edit]))
    if wrong := [one for one in checked.errors if one.at is None or one.at.file == edit.path]:
        raise DefinitionErrors(wrong)
    return edit
