"""Upkeep keeps the journals of topics short: it replaces segments that no reader needs by a base."""

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import cast

from streamhouse.capture.journal import size_of
from streamhouse.capture.readers import JournalReader, all_readers
from streamhouse.capture.shorten import is_worth_it, past_all
from streamhouse.capture.upkeep import flows_with_files
from streamhouse.errors import StoreError, StreamhouseError
from streamhouse.ingest.cdc_options import CdcOptions
from streamhouse.ingest.cdc_topic import CdcTopic, journal_of
from streamhouse.ingest.journal_base import files_of, remove_replaced
from streamhouse.ingest.kinds import open_source
from streamhouse.ingest.options import check_options
from streamhouse.ingest.topic_journal import TopicJournal, folder_of
from streamhouse.ingest.topic_shorten import shorten
from streamhouse.ingest.topic_start import TopicStart
from streamhouse.install.sync import only_writer
from streamhouse.model.bad_rows import KIND, base_options
from streamhouse.model.plan import FlowPlan, PlannedSource
from streamhouse.project.project import Project
from streamhouse.runtime.owner import is_alive
from streamhouse.state.store import StateStore


@dataclass(frozen=True)
class ShortenedTopics:
    """What was done to journals; each is named by its folder, relative to the project.

    Attributes:
        shortened: Bytes before and after.
        failed: Why one could not be shortened.
        flows: That read it, of each one that failed.
    """

    shortened: dict[str, tuple[int, int]] = field(default_factory=dict)
    failed: dict[str, StreamhouseError] = field(default_factory=dict)
    flows: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def fail(self, journal: str, flows: Iterable[str], error: StreamhouseError) -> None:
        """Take note of one that could not be shortened."""
        self.failed[journal], self.flows[journal] = error, tuple(sorted(flows))


def reads_topics(plan: FlowPlan) -> bool:
    """Whether a source of a plan reads changes of a topic."""
    return any(source.kind == "cdc" and "kafka" in source.options for source in plan.sources)


def shorten_topics(
    project: Project, state: StateStore, flows: Collection[str], is_over: Callable[[], bool] = lambda: False
) -> ShortenedTopics:
    """Shorten the journal of each topic that some flows read, as far as no reader needs it.

    May be killed at any point and called again. Where another process shortens a journal, that one is left alone.

    Args:
        project: Of the flows.
        state: Of the project.
        flows: Their names.
        is_over: Whether the process is to end.
    """
    done = ShortenedTopics()
    for journal, reading in _journals(project, state, flows):
        name = journal.folder.relative_to(project.root).as_posix()
        try:
            with only_writer(journal.folder / "shortening.lock") as alone:
                if alone and (sizes := _shorten(project, state, journal, is_over)) is not None:
                    done.shortened[name] = sizes
        except StreamhouseError as error:
            done.fail(name, reading, error)
        except OSError as error:
            done.fail(name, reading, StoreError(f"the disk says: {error}"))
    return done


def _journals(project: Project, state: StateStore, flows: Collection[str]) -> list[tuple[TopicJournal, set[str]]]:
    """Those of the flows' topics that are there, and which flows read each; topics of two clusters have one each."""
    found: dict[tuple[str, str], tuple[TopicJournal, set[str]]] = {}
    reading = [(flow, one) for flow, (_, plan) in state.plans({}).items() if flow in flows for one in plan.sources]
    for flow, source in reading:
        with suppress(StreamhouseError):  # such as a registry that the settings have no more: the flow says so
            if (options := _topic_options(source)) is not None and options.kafka is not None:
                journal = journal_of(options, project.root)
                found.setdefault((str(journal.folder), options.kafka.servers), (journal, set()))[1].add(flow)
    return [one for one in found.values() if one[0].group() is not None]


def _shorten(
    project: Project, state: StateStore, journal: TopicJournal, is_over: Callable[[], bool]
) -> tuple[int, int] | None:
    """Replace what no reader needs; gives the bytes before and after, None where nothing was replaced."""
    found = journal.group()
    assert found is not None, "the caller looked"
    folder, group = found
    remove_replaced(folder)
    readers = [
        one
        for one in all_readers(state, lambda plan: _sources(plan, project), flows_with_files(project), is_alive)
        if one.table == str(journal.folder) and not _is_of_another_cluster(one, folder.name, group.servers)
    ]
    names = past_all(journal.names()[:-1], readers, {str(journal.folder): journal})
    base = files_of(folder).base
    if not is_worth_it([journal.folder / name for name in names], base):
        return None
    sources = [opened for one in _different(readers) if isinstance(opened := open_source(one, project.root), CdcTopic)]
    before = size_of(folder)
    return (before, size_of(folder)) if sources and shorten(sources, names, is_over) else None


def _is_of_another_cluster(reader: JournalReader, group: str, servers: str) -> bool:
    """Whether a reader reads a topic of the same name elsewhere: it has read some of that, and nothing of this."""
    options = _topic_options(reader.source) if reader.source is not None else None
    read = {name.partition("/")[0] for name, taken in (reader.position or {}).items() if taken and "/" in name}
    is_elsewhere = options is not None and options.kafka is not None and options.kafka.servers != servers
    return is_elsewhere and bool(read) and group not in read


def _different(readers: Iterable[JournalReader]) -> list[PlannedSource]:
    """The sources of readers, those that are read alike once; what has dead letters is beside its source."""
    found: dict[str, PlannedSource] = {}
    for reader in readers:
        if reader.source is not None and reader.source.kind != KIND:
            alike = reader.source.model_copy(update={"name": "", "loads_first": False})
            found.setdefault(alike.model_dump_json(), reader.source)
    return list(found.values())


def _sources(plan: FlowPlan, project: Project) -> Mapping[str, tuple[PlannedSource, str]]:
    """Source → as it is opened, and the folder of its journal; of those that read a topic."""
    found: dict[str, tuple[PlannedSource, str]] = {}
    for source in plan.sources:
        options = _topic_options(source)
        if options is not None and options.kafka is not None:
            folder = str(folder_of(project.root, options.kafka.topic, TopicStart(options.kafka.start)))
            found[source.name] = (cast("PlannedSource", plan.as_there(source)), folder)
    return found


def _topic_options(source: PlannedSource) -> CdcOptions | None:
    """Of a source that reads changes of a topic, or their dead letters; None: it does not.

    Raises:
        SourceError: this version does not know an option of it.
    """
    kind, options = base_options(source.options) if source.kind == KIND else (source.kind, source.options)
    if kind != "cdc" or "kafka" not in options:
        return None
    return check_options(CdcOptions, "cdc", options, None)
