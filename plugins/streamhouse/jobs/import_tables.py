"""Makes a flow of the tables of others: a database's, a lake's, or the topics of a schema registry."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from streamhouse.capture.database import DatabaseAway
from streamhouse.capture.kinds import open_database
from streamhouse.errors import DefinitionErrors, ImportRefusedError, StoreUnavailableError, did_you_mean
from streamhouse.ingest.schema_registry import RegistryClient
from streamhouse.jobs.import_lakes import lake_tables
from streamhouse.jobs.import_topics import registered_topics
from streamhouse.jobs.write_target import check_folders
from streamhouse.model.connection import Connection
from streamhouse.model.object_connection import S3Connection
from streamhouse.model.schema_registry import SchemaRegistry
from streamhouse.model.types import NAME, StepKind
from streamhouse.planner.found_tables import FoundTable, TablePatterns
from streamhouse.planner.imported_flow import AS_IS, Ingest, flow_text
from streamhouse.planner.imported_joins import joined_actions
from streamhouse.planner.imported_tables import ImportedTable, NotImported, imported_tables
from streamhouse.planner.proposal import FileEdit
from streamhouse.planner.try_files import with_edits
from streamhouse.project.check import check_project, load_registry
from streamhouse.project.project import Project
from streamhouse.project.settings import FILE_NAME
from streamhouse.registry import Registry
from streamhouse.registry.files import read_files


@dataclass(frozen=True)
class ImportRequest:
    """What to import.

    Attributes:
        connection: A name under `connections` in streamhouse.yaml.
        patterns: Which tables, or topics.
        flow: Name of the new flow.
        joins: Whether foreign keys become actions that join.
        servers: Of Kafka; empty: none.
    """

    connection: str
    patterns: TablePatterns
    flow: str
    joins: bool = False
    servers: str = ""


@dataclass(frozen=True)
class Import:
    """What an import would write.

    Attributes:
        flow: Its name.
        files: New ones.
        tables: That the flow reads.
        joins: Tables that the flow has in `dwd`.
        left_out: Tables and columns that it does not read.
    """

    flow: str
    files: tuple[FileEdit, ...]
    tables: tuple[ImportedTable, ...]
    joins: tuple[str, ...]
    left_out: tuple[NotImported, ...]


def import_tables(project: Project, wanted: ImportRequest) -> Import:
    """The files of a flow that reads tables of others; they compile. Reads the catalog, and writes nothing.

    Args:
        project: Its settings have the connection.
        wanted: What to import.

    Raises:
        ImportRefusedError: there is no such connection, a pattern matches nothing, nothing can be read, or the flow
            exists or has no name that a flow can have.
        StoreUnavailableError: the database or the registry does not answer.
        CaptureFailedError, SourceError: it refuses us.
        EnvironmentProblem: a secret is not where the settings say, or a package is missing.
        DefinitionErrors: what was made does not compile beside the files of the project.
    """
    if not re.fullmatch(NAME, wanted.flow):
        raise ImportRefusedError(f"'{wanted.flow}' is no name of a flow", hint="use lower case letters, digits and _")
    files = read_files(project.root)
    registry = load_registry(project, files)
    path = f"flows/{wanted.flow}.yaml"
    if wanted.flow in {*registry.flows, *registry.broken_flows} or (project.root / path).exists():
        raise ImportRefusedError(f"there is a flow '{wanted.flow}' already", hint="name the new one: --flow")
    found = _found(project, wanted)
    tables, refused = imported_tables(found, _taken(registry), wanted.flow)
    if not tables:
        why = "; ".join(str(one) for one in refused[:3])
        raise ImportRefusedError("none of the tables can be read", hint=why)
    ingest, edits = _ingest(registry)
    joins = list(joined_actions(tables, registry.action_names)) if wanted.joins else []
    about = f"Tables of the connection {wanted.connection}."
    text = flow_text(wanted.flow, about, ingest, tables, refused, joins)
    edits += [FileEdit(path=action.path, after=action.text) for _, action in joins]
    edits.append(FileEdit(path=path, after=text))
    for edit in edits:
        if (project.root / edit.path).exists():
            raise ImportRefusedError(f"{edit.path} exists", hint="it is not overwritten; rename it")
    _check(project, edits)
    left_out = (*refused, *(one for table in tables for one in table.left_out))
    return Import(wanted.flow, tuple(edits), tables, tuple(f"dwd.{table.source}" for table, _ in joins), left_out)


def write_import(project: Project, found: Import) -> None:
    """Write the files of an import, the flow last.

    Raises:
        ImportRefusedError: one of them exists now; those before it are written.
        WriteTargetError: the folder of one is a link; nothing is written.
    """
    check_folders(project.root, [edit.path for edit in found.files])
    for edit in found.files:
        file = project.root / edit.path
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            with file.open("x", encoding="utf-8") as opened:
                opened.write(edit.after)
        except FileExistsError as error:
            raise ImportRefusedError(f"{edit.path} exists", hint="it is not overwritten; rename it") from error


def _found(project: Project, wanted: ImportRequest) -> list[FoundTable]:
    names: list[str] = []

    def is_wanted(name: str) -> bool:
        names.append(name)
        return wanted.patterns.match(name)

    found = _ask(project, wanted, is_wanted)
    for pattern in wanted.patterns.idle(names):
        hint = did_you_mean(pattern, names, f"there are: {', '.join(names[:10])}" if names else "there are no tables")
        raise ImportRefusedError(f"'{pattern}' matches no table that the user may see", hint=hint)
    if not found:
        raise ImportRefusedError("there are no tables", hint="see --tables, --exclude and what the user may read")
    return found


def _ask(project: Project, wanted: ImportRequest, is_wanted: Callable[[str], bool]) -> list[FoundTable]:
    known = project.settings.connections
    place = known.get(wanted.connection)
    if place is None:
        hint = did_you_mean(wanted.connection, tuple(known), f"name it under 'connections' in {FILE_NAME}")
        raise ImportRefusedError(f"there is no connection '{wanted.connection}'", hint=hint)
    if isinstance(place, Connection):
        if wanted.servers:
            raise ImportRefusedError(f"'{wanted.connection}' is a database", hint="leave --servers out")
        try:
            return open_database(wanted.connection, place, project.root).tables(is_wanted)
        except DatabaseAway as error:
            hint = f"{error.trouble.remedy} (it says {place.host}:{place.port_number})"
            raise StoreUnavailableError(f"connection '{wanted.connection}': {error}", hint=hint) from None
    if isinstance(place, S3Connection):
        hint = "streamhouse source infer finds the columns of files"
        raise ImportRefusedError(f"'{wanted.connection}' has files, and no tables", hint=hint)
    if not isinstance(place, SchemaRegistry):
        if wanted.servers:
            raise ImportRefusedError(f"'{wanted.connection}' is a lake", hint="leave --servers out")
        return lake_tables(wanted.connection, place, project.root, is_wanted)
    if not wanted.servers:
        raise ImportRefusedError("the servers of Kafka are not named", hint="--servers broker-1:9092,broker-2:9092")
    client = RegistryClient(wanted.connection, place, project.root)
    return registered_topics(client, wanted.connection, wanted.servers, is_wanted)


def _taken(registry: Registry) -> set[str]:
    return {table.partition(".")[2] for table in registry.writers() if table.startswith("ods.")}


def _ingest(registry: Registry) -> tuple[Ingest, list[FileEdit]]:
    """The action that takes rows as they are, and its file where the project has none."""
    for name in ("ingest_as_is", "import_as_is"):
        if name not in registry.action_names:
            path = f"actions/ingest/{name}.sql"
            return Ingest(name), [FileEdit(path=path, after=AS_IS.format(name=name))]
        action = registry.action(name)
        if action.step is StepKind.INGEST and len(action.inputs) == 1 and not any(action.inputs.values()):
            return Ingest(name, next(iter(action.inputs))), []
    raise ImportRefusedError("'ingest_as_is' and 'import_as_is' take other rows", hint="rename one of these actions")


def _check(project: Project, edits: Sequence[FileEdit]) -> None:
    new = {edit.path for edit in edits}
    checked = check_project(project, files=with_edits(read_files(project.root), edits))
    wrong = [one for one in (*checked.errors, *checked.meaning) if one.at is None or one.at.file in new]
    if wrong:
        raise DefinitionErrors(wrong)
