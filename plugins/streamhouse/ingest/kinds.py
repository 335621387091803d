"""Opens a source by the name of its kind."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from streamhouse.errors import Location, SourceError, did_you_mean
from streamhouse.ingest.base import Source as OpenSource
from streamhouse.ingest.truncations import Truncations
from streamhouse.model.flow import Source
from streamhouse.model.plan import PlannedSource

Opener = Callable[[Mapping[str, Any], Path, PlannedSource | None, Location | None], OpenSource]


def kinds() -> tuple[str, ...]:
    """The kinds of source a flow may name, in alphabetical order."""
    return tuple(sorted(_OPENERS))


def open_source(source: Source | PlannedSource, root: Path) -> OpenSource:
    """Open a source; its data is not read yet.

    Args:
        source: As a person wrote it; or as a plan holds it: then errors have no place, and columns
            that would be inferred are those of the plan.
        root: The project's folder, to which paths are relative.

    Raises:
        SourceError: the kind or an option is unknown or wrong, or what they name does not exist.
        MissingPackageError: a package that holds the data is not installed.
    """
    at = source.at if isinstance(source, Source) and source.at.file else None
    opener = _OPENERS.get(source.kind)
    if opener is None:
        raise SourceError(
            f"source '{source.name}' is of unknown kind '{source.kind}'",
            at=at,
            hint=did_you_mean(source.kind, kinds(), f"known kinds: {', '.join(kinds())}"),
        )
    return opener(source.options, root, source if isinstance(source, PlannedSource) else None, at)


def _cdc(options: Mapping[str, Any], root: Path, planned: PlannedSource | None, at: Location | None) -> OpenSource:
    from streamhouse.ingest.cdc import open_cdc

    if planned is None:
        return open_cdc(options, root, at=at)
    truncations = Truncations(planned.truncations, planned.truncated)
    return open_cdc(options, root, columns=planned.columns, truncations=truncations, loose=planned.optional, at=at)


def _replay(options: Mapping[str, Any], _root: Path, _planned: PlannedSource | None, at: Location | None) -> OpenSource:
    from streamhouse.ingest.replay import open_replay  # a kind's libraries load when it is used

    return open_replay(options, at=at)


def _files(options: Mapping[str, Any], root: Path, planned: PlannedSource | None, at: Location | None) -> OpenSource:
    from streamhouse.ingest.files import open_files

    if planned is None:
        return open_files(options, root, at=at)
    return open_files(options, root, columns=planned.columns, optional=planned.optional, at=at)


def _kafka(options: Mapping[str, Any], _root: Path, planned: PlannedSource | None, at: Location | None) -> OpenSource:
    from streamhouse.ingest.kafka import open_kafka

    if planned is None:
        return open_kafka(options, at=at)
    return open_kafka(options, columns=planned.columns, given_up=planned.given_up, at=at)


_OPENERS: dict[str, Opener] = {"cdc": _cdc, "files": _files, "kafka": _kafka, "replay": _replay}
