"""Opens a source by the name of its kind."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from streamhouse.errors import Location, SourceError, did_you_mean
from streamhouse.ingest.base import RowSource as OpenSource
from streamhouse.ingest.truncations import Truncations
from streamhouse.ingest.wrong_option import at_the_option
from streamhouse.model.bad_rows import KIND, OPTION, base_options, policy_of
from streamhouse.model.flow import Source
from streamhouse.model.plan import PlannedSource
from streamhouse.model.types import Frozen

if TYPE_CHECKING:
    from streamhouse.ingest.bad_rows import LetterSource

Opener = Callable[[Mapping[str, Any], Path, PlannedSource | None, Location | None], OpenSource]


def kinds() -> tuple[str, ...]:
    """The kinds of source a flow may name, in alphabetical order."""
    return tuple(sorted(_OPENERS))


def option_models() -> dict[str, type[Frozen]]:
    """Kind of source → the model of its options. Loads the modules of all kinds, which takes some 0.3 s."""
    from streamhouse.ingest.cdc_options import CdcOptions
    from streamhouse.ingest.files_options import FilesOptions
    from streamhouse.ingest.kafka_options import KafkaOptions
    from streamhouse.ingest.replay import ReplayOptions
    from streamhouse.ingest.tables.options import OtherTableOptions

    return {
        "files": FilesOptions,
        "kafka": KafkaOptions,
        "cdc": CdcOptions,
        "table": OtherTableOptions,
        "replay": ReplayOptions,
    }


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
    if source.kind == KIND and isinstance(source, PlannedSource):
        return _letters(source, root)
    opener = _OPENERS.get(source.kind)
    if opener is None:
        raise SourceError(
            f"source '{source.name}' is of unknown kind '{source.kind}'",
            at=at,
            hint=did_you_mean(source.kind, kinds(), f"known kinds: {', '.join(kinds())}"),
        )
    with at_the_option(source):
        opened = opener(source.options, root, source if isinstance(source, PlannedSource) else None, at)
    table = policy_of(source.options).table
    if isinstance(source, Source) and table is not None:
        hint = "leave 'table' out: it is ods.FLOW_SOURCE__dead_letters"
        place = source.place_of(OPTION)
        raise SourceError(f"source '{source.name}' names its dead-letter table", at=place, hint=hint)
    return opened if table is None else _with_replays(opened, root, table)


def _with_replays(opened: OpenSource, root: Path, table: str) -> OpenSource:
    """A source whose bad rows go to a dead-letter table, with those that are read again."""
    from streamhouse.ingest.bad_rows import SplitSource
    from streamhouse.ingest.dead_letters import with_replays
    from streamhouse.ingest.replays import Replays

    # Of changes by key, the source itself knows which are outdated.
    return with_replays(opened, Replays(root, table)) if isinstance(opened, SplitSource) else opened


def _letters(source: PlannedSource, root: Path) -> OpenSource:
    from streamhouse.ingest.dead_letters import dead_letters
    from streamhouse.ingest.replays import Replays

    if "base" in source.options:
        base = PlannedSource.model_validate(source.options["base"])
    else:  # only who reads rows needs the columns that a plan has
        kind, options = base_options(source.options)
        base = PlannedSource(name=source.name, kind=kind, options=options, columns=())
    opened = cast("LetterSource", _OPENERS[base.kind](base.options, root, base, None))
    table = policy_of(base.options).table
    assert table is not None, "the plan of a flow names it"
    return dead_letters(opened, Replays(root, table))


def _cdc(options: Mapping[str, Any], root: Path, planned: PlannedSource | None, at: Location | None) -> OpenSource:
    from streamhouse.ingest.cdc import open_cdc

    if options.get("mode") == "append":
        from streamhouse.ingest.change_rows import open_change_rows

        return open_change_rows(options, root, planned, at)
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


def _kafka(options: Mapping[str, Any], root: Path, planned: PlannedSource | None, at: Location | None) -> OpenSource:
    from streamhouse.ingest.kafka import open_kafka

    if planned is None:
        return open_kafka(options, root, at=at)
    return open_kafka(options, root, columns=planned.columns, skipped_ranges=planned.given_up, at=at)


def _table(options: Mapping[str, Any], root: Path, planned: PlannedSource | None, at: Location | None) -> OpenSource:
    from streamhouse.ingest.tables.open import open_table

    if planned is None:
        return open_table(options, root, at=at)
    return open_table(options, root, columns=planned.columns, skipped_ranges=planned.given_up, at=at)


_OPENERS: dict[str, Opener] = {"cdc": _cdc, "files": _files, "kafka": _kafka, "replay": _replay, "table": _table}
