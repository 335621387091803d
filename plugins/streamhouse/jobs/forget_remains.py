"""What may bring the rows of a forgotten person back, or has their values beside the tables."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from streamhouse.change.building import last_epochs
from streamhouse.compiler.reach import KeyReach, Obstacle
from streamhouse.engine.dead_letters import is_dead_letters
from streamhouse.errors import StreamhouseError
from streamhouse.ingest.base import KeyedSource
from streamhouse.ingest.kinds import open_source
from streamhouse.model.forgetting import Forgetting, KeyPart
from streamhouse.model.plan import PlannedSource
from streamhouse.model.types import Position
from streamhouse.model.version import table_name
from streamhouse.planner.proposal_folder import UNREADABLE
from streamhouse.planner.proposals import Proposals
from streamhouse.runtime.left_out import key_columns, matching
from streamhouse.runtime.open import Open
from streamhouse.spark.frame import arrow_frame
from streamhouse.spark.results import collected_rows
from streamhouse.state.proposals import RecordedProposal
from streamhouse.state.records import FlowEvent, UnreadableChange
from streamhouse.state.store import StateStore

_ROWS_AT_ONCE = 100_000
_MOST_ROWS = 5_000_000  # of a source; to search more takes longer than a person waits
_MOST_EVENTS = 100_000
_MOST_NAMED = 5  # files in one message
_LINE_END = re.compile(r"\\+n")
_QUOTING = re.compile(r"\\+")
_FOLDERS = {
    "replays": "requests to read dead letters again",
    UNREADABLE: "proposals of an earlier release that cannot be read",
    "logs": "logs",
}


@dataclass(frozen=True)
class Remains:
    """Something outside the tables that has, or may have, values of the person.

    Attributes:
        where: What has them.
        what: What was found.
        remedy: What a person can do, and until when it stays otherwise.
    """

    where: str
    what: str
    remedy: str


def remains(open_: Open, found: KeyReach, forgetting: Forgetting) -> list[Remains]:
    """Search sources, journals of captures, dead letters, files of the project with rows or messages, and events.

    Args:
        open_: Everything connected; only read.
        found: Where the key is.
        forgetting: Its values.
    """
    texts = _Texts.of(forgetting)
    flows = {flow for flow, _ in found.sources} | {
        flow for flow, plan in found.plans.items() if forgetting.tables.keys() & plan.tables.keys()
    }
    return [
        *_in_sources(open_, found, forgetting),
        *_in_events_of_sources(open_, found, texts),
        *in_copies(open_.project.state_dir / "tables", found),
        *_in_journals(open_.project.state_dir / "capture", texts),
        *_in_letters(open_, flows, texts),
        *_in_folders(open_.project.state_dir, texts),
        *_in_proposals(open_, texts),
        *_in_unreadable_changes(open_.state, found),
        *_in_events(open_.state.events(None, _MOST_EVENTS), flows, texts),
    ]


def followed(open_: Open, found: KeyReach, forgetting: Forgetting) -> list[Obstacle]:
    """Sources of changes by key that have rows of the persons where their flows stand.

    A later change of such a row would say what it was before, and tables would take that away a second time.

    Args:
        open_: Everything connected; only read.
        found: Where the key is.
        forgetting: Its values.
    """
    obstacles = []
    for flow, name in sorted(found.sources):
        planned = next(one for one in found.plans[flow].sources if one.name == name)
        source, parts = open_source(planned, open_.project.root), forgetting.sources[flow][name]
        read = [
            record.end[name] for record in last_epochs(open_.state, found.plans[flow]).values() if name in record.end
        ]
        if not isinstance(source, KeyedSource) or not read:
            continue
        if any(_count(open_, source.state(at, key_columns(parts)), planned, parts) for at in read):
            reason = f"{flow} follows the source {name}, in which the rows are not deleted as far as it has read"
            hint = f"delete them in the source, let the flow read that, then repeat: streamhouse run {flow} --once"
            table = next(step.writes.name for step in found.plans[flow].steps if name in step.follows)
            obstacles.append(Obstacle(table, reason, hint))
    return obstacles


@dataclass(frozen=True)
class _Texts:
    """How the values of a key look in text, `name: value`."""

    named: re.Pattern[str]

    @classmethod
    def of(cls, forgetting: Forgetting) -> "_Texts":
        every = list(forgetting.tables.values())
        every += [parts for sources in forgetting.sources.values() for parts in sources.values()]
        pairs = {(name, value) for parts in every for part in parts for name in part.columns for value in part.values}
        shown = "|".join(
            rf"{re.escape(name)}[\"'`]?\s*[:=]\s*[\"']?{re.escape(value)}(?![\w.-])" for name, value in sorted(pairs)
        )
        return cls(re.compile(rf"(?<!\w)({shown})", re.IGNORECASE | re.UNICODE))

    def count(self, lines: Iterator[str]) -> int:
        return sum(1 for line in lines if self.named.search(line))


def _in_sources(open_: Open, found: KeyReach, forgetting: Forgetting) -> Iterator[Remains]:
    for flow, name in sorted(found.sources):
        source = next(one for one in found.plans[flow].sources if one.name == name)
        where, parts = f"source {name} of {flow}", forgetting.sources[flow][name]
        again = "what is read from its beginning brings them back: a backfill, restore --rebuild, an edit that rebuilds"
        remedy = f"delete them there too; {again}"
        try:
            count = _source_rows(open_, source, parts)
        except StreamhouseError as error:
            yield Remains(where, f"it cannot be searched: {error.message}", remedy)
            continue
        if count is None:
            yield Remains(where, f"it has more than {_MOST_ROWS:,} rows and was not searched", remedy)
        elif count:
            yield Remains(where, f"{count:,} rows", remedy)


def in_copies(folder: Path, found: KeyReach) -> Iterator[Remains]:
    """Copies of tables of databases, except for the newest of each, which is searched as the source.

    Args:
        folder: Of all copies of a project.
        found: Where the key is.
    """
    for flow, name in sorted(found.sources):
        planned = next(one for one in found.plans[flow].sources if one.name == name)
        if planned.kind != "table":
            continue
        place = folder / str(planned.options["connection"]) / str(planned.options["table"])
        older = len(list(place.glob("*/*.parquet"))) - 1
        if older > 0:
            yield Remains(
                f"copies for the source {name} of {flow}",
                f"{older:,} older copies of the table were not searched",
                f"each later copy takes the place of one; or stop the flow and remove {place.name} in {folder}: the "
                "source is then another one, and the trigger asks what to do",
            )


def _in_events_of_sources(open_: Open, found: KeyReach, texts: _Texts) -> Iterator[Remains]:
    """Change events that name the persons, also where they come to no row any more."""
    for flow, name in sorted(found.sources):
        planned = next(one for one in found.plans[flow].sources if one.name == name)
        if planned.kind != "cdc" or "postgres" in planned.options:  # whose journal is searched
            continue
        where, remedy = f"change events of the source {name} of {flow}", "remove them where they are stored"
        if "kafka" in planned.options:
            yield from _in_topic(open_, where, planned, texts)
            continue
        if "path" not in planned.options:
            yield Remains(where, "they were not searched", f"{remedy}, or wait until the topic drops them")
            continue
        files = sorted(open_.project.root.glob(str(planned.options["path"])))
        count = sum(texts.count(_lines(file)) for file in files)
        if count:
            yield Remains(where, f"{count:,} events name it", f"{remedy}; read again, deleted rows stay deleted")


def _in_topic(open_: Open, where: str, planned: PlannedSource, texts: _Texts) -> Iterator[Remains]:
    """What the journal of a topic has; the topic itself is not searched."""
    topic = str(dict(planned.options["kafka"])["topic"])
    folder = open_.project.root / ".streamhouse" / "topics" / topic
    count = sum(texts.count(_lines(file)) for file in sorted(folder.rglob("*.jsonl")))
    yield Remains(where, f"the topic {topic} was not searched", "remove them there, or wait until the topic drops them")
    if count:
        remedy = f"stop the flow, remove .streamhouse/topics/{topic}, and let it read the topic from its beginning"
        yield Remains(f"journal of the topic {topic}", f"{count:,} events name it", remedy)


def _source_rows(open_: Open, planned: PlannedSource, parts: Sequence[KeyPart]) -> int | None:
    """Rows of persons that a source has by now; None: there are too many rows to search."""
    source, names = open_source(planned, open_.project.root), key_columns(parts)
    end = source.available()
    if isinstance(source, KeyedSource):
        return _count(open_, source.state(end, names), planned, parts)
    if source.rows_between({}, end) > _MOST_ROWS:
        return None
    count = 0
    at: Position = {}
    while at != end:
        further = source.advance(at, _ROWS_AT_ONCE)
        if further == at:
            break
        count += _count(open_, source.read(at, further, names), planned, parts)
        at = further
    return count


def _count(open_: Open, rows: pa.Table, planned: PlannedSource, parts: Sequence[KeyPart]) -> int:
    from pyspark.sql import functions as F  # noqa: N812  as everybody calls it

    matched = arrow_frame(open_.spark, rows).where(matching(parts, planned.columns))
    [(count,)] = collected_rows(matched.agg(F.count("*")))
    return int(count)


def _in_journals(folder: Path, texts: _Texts) -> Iterator[Remains]:
    for connection in sorted(folder.iterdir()) if folder.is_dir() else ():
        count = sum(texts.count(_lines(file)) for file in connection.rglob("*.jsonl"))
        if count:
            remedy = f"it is removed, and a new snapshot taken, by: streamhouse capture reset {connection.name}"
            yield Remains(f"journal of the capture {connection.name}", f"{count:,} change events", remedy)


def _in_letters(open_: Open, flows: set[str], texts: _Texts) -> Iterator[Remains]:
    plans = open_.state.running_plans()
    for table in (step.writes for flow in sorted(flows) for step in plans[flow].steps if is_dead_letters(step)):
        store = open_.stores[table.tiers.target]
        if store.columns(table.name) is None:
            continue
        raw = store.read_state(table, columns=("raw",)).column("raw").to_pylist()
        count = texts.count(one.decode(errors="replace") for one in raw if one is not None)
        if count:
            remedy = "they go when the source no longer has the rows, or reads them well"
            yield Remains(f"dead letters {table_name(table.name)}", f"{count:,} rows that could not be read", remedy)


def _in_folders(state_dir: Path, texts: _Texts) -> Iterator[Remains]:
    for name, what in _FOLDERS.items():
        folder = state_dir / name
        files = sorted(path for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else []
        named = [file for file in files if texts.count(_lines(file))]
        if named:
            places = ", ".join(str(file.relative_to(state_dir.parent)) for file in named[:_MOST_NAMED])
            more = f" and {len(named) - _MOST_NAMED:,} more" if len(named) > _MOST_NAMED else ""
            yield Remains(what, f"{len(named):,} files name it", f"delete them if they are not needed: {places}{more}")


def _in_proposals(open_: Open, texts: _Texts) -> Iterator[Remains]:
    """Proposals with rows of a preview or an example, and what was sent to models for wishes."""
    with Proposals(open_.project, open_.state).reading():  # what an earlier release has in files is there, too
        records = open_.state.proposals
    named = [one.id for one in records.all() if texts.count(_texts_of(one))]
    named += [name for name, one in records.all_sent() if texts.count(iter([_unescaped(one.requests)]))]
    if named := list(dict.fromkeys(named)):
        ids = ", ".join(named[:_MOST_NAMED])
        more = f" and {len(named) - _MOST_NAMED:,} more" if len(named) > _MOST_NAMED else ""
        remedy = f"remove them if they are not needed: streamhouse proposals ID --remove, of {ids}{more}"
        yield Remains("proposals, in the state store", f"{len(named):,} name it", remedy)


def _texts_of(record: RecordedProposal) -> Iterator[str]:
    yield _unescaped(record.body)
    yield from (event.detail for event in record.events)
    preview = json.loads(record.body).get("preview", {})
    for row in preview.get("rows", ()):
        yield from (f"{name}: {value}" for name, value in zip(preview["columns"], row, strict=False))


def _unescaped(text: str) -> str:
    """A text from JSON, which may hold other JSON, without the signs that quote its own."""
    return _QUOTING.sub("", _LINE_END.sub("\n", text))


def _in_unreadable_changes(state: StateStore, found: KeyReach) -> Iterator[Remains]:
    """Tables that a change may have built which was given up and cannot be read: no command drops or searches them."""
    for flow in sorted(found.plans):
        unreadable: list[UnreadableChange] = []
        state.left_behind(flow, unreadable)
        for one in unreadable:
            if one.built:
                what = f"it cannot be read, so what it built was not searched: {one.built}"
                yield Remains(f"change {one.id} of {flow}", what, "drop these tables in the stores, if they are there")


def _in_events(events: Sequence[FlowEvent], flows: set[str], texts: _Texts) -> Iterator[Remains]:
    for flow in sorted(flows):
        count = texts.count(one.text for one in events if one.flow == flow)
        if count:
            yield Remains(f"events of {flow}", f"{count:,} texts name it", "they stay in the state store")


def _lines(file: Path) -> Iterator[str]:
    with file.open(encoding="utf-8", errors="replace") as opened:
        yield from opened
