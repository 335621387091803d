"""The columns of files as a contract: looked up, and written into the flow whose source reads them."""

from dataclasses import dataclass

from streamhouse.errors import DefinitionErrors, ImportRefusedError
from streamhouse.ingest.files_options import FilesOptions
from streamhouse.ingest.formats import Format
from streamhouse.ingest.inferred_columns import InferredFiles, infer_files
from streamhouse.ingest.options import check_options
from streamhouse.model.flow import Source
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
        edit: Of the flow that has the source, with its columns; None: no source was named.
    """

    path: str
    found: InferredFiles
    edit: FileEdit | None = None


def infer_source(
    project: Project, place: str, kind: Format | None, most_rows: int | None, *, edits: bool
) -> InferredSource:
    """The columns of a source's files. Reads them, and writes nothing.

    Args:
        project: To whose folder paths are relative.
        place: `FLOW.SOURCE`, else the pattern of files.
        kind: Their format; None: as the source says, else by the ending of the pattern.
        most_rows: See `infer_files`.
        edits: Whether the columns are to be written into the flow.

    Raises:
        ImportRefusedError: `edits` is asked for, and the place is no source, has columns, or no column can be read.
        SourceError: there is no such file, or one is malformed.
        DefinitionErrors: the flow does not compile with these columns.
        FileFormatError: the layout of the flow's file does not allow the edit.
    """
    source = _source(project, place)
    if source is None:
        if edits:
            raise ImportRefusedError(f"no flow has a source '{place}'", hint="write FLOW.SOURCE with --write")
        return InferredSource(place, infer_files(place, project.root, kind, most_rows))
    options = check_options(FilesOptions, "files", source.options, source.at)
    if edits and options.columns:
        raise ImportRefusedError(f"'{place}' has columns", at=source.at, hint="they are not overwritten")
    found = infer_files(options.path, project.root, kind or options.kind, most_rows, options.csv)
    return InferredSource(options.path, found, _edit(project, source, found) if edits else None)


def _source(project: Project, place: str) -> Source | None:
    flow, _, name = place.partition(".")
    defined = load_registry(project).flows.get(flow)
    source = defined.sources.get(name) if defined is not None else None
    if source is not None and source.kind != "files":
        hint = "a database or a registry says what it has: streamhouse import"
        raise ImportRefusedError(f"'{place}' reads no files, but {source.kind}", at=source.at, hint=hint)
    return source


def _edit(project: Project, source: Source, found: InferredFiles) -> FileEdit:
    columns = {column.name: column.type for column in found.columns if column.type is not None}
    if not columns:
        raise ImportRefusedError(f"no column of '{source.name}' can be read", at=source.at, hint="see the notes")
    files = read_files(project.root)
    before = next(file.text() for file in files.flows if file.name == source.at.file)
    after = with_added(before, {"sources": {source.name: {"files": {"columns": columns}}}}, file=source.at.file)
    edit = FileEdit(path=source.at.file, before=before, after=after)
    checked = check_project(project, files=with_edits(files, [edit]))
    if wrong := [one for one in checked.errors if one.at is None or one.at.file == edit.path]:
        raise DefinitionErrors(wrong)
    return edit
