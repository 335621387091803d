"""Which version of a table a moment belongs to; a moment that no stored version has is refused here. Pure.

Another version of a table counts its snapshots from 1, and its rows were committed when it was filled. So it answers
only for moments since it serves. Moments before belong to the versions that served then.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from streamhouse.errors import RowsLostError
from streamhouse.model.table import Table
from streamhouse.model.types import Tier
from streamhouse.model.version import stored_name, table_at, version_of
from streamhouse.query.epoch_positions import Epochs
from streamhouse.query.moments import Moment, MomentKind, time_text
from streamhouse.state.plans import Unreadable
from streamhouse.state.records import RetiredVersion, VersionSince

Catalog = Mapping[str, Table]
"""`layer.table` → the table: all that a query may read."""


@dataclass(frozen=True)
class ServedVersion:
    """A version of a table, for as long as it served.

    Attributes:
        version: Its number; 0: not recorded.
        table: Under the name that stores hold; None: it is not stored any more.
        since_ms: When it began to serve; None: when the table was made.
        made_ms: When what is stored was made; None: not recorded.
    """

    version: int
    table: Table | None
    since_ms: int | None = None
    made_ms: int | None = None

    @property
    def readable_ms(self) -> int | None:
        """The first moment that it answers for; None: there is no limit."""
        known = [at for at in (self.since_ms, self.made_ms) if at is not None]
        return max(known) if known else None


@dataclass(frozen=True)
class TableHistory:
    """The versions of a table, oldest first; the last one serves."""

    name: str
    served: tuple[ServedVersion, ...]

    @property
    def several(self) -> bool:
        """Whether the table has had more than one version."""
        return len({one.version for one in self.served}) > 1

    def at(self, moment: Moment, title: str) -> Table:
        """The table as it is stored in the version to which a moment belongs, which is no epoch.

        Raises:
            RowsLostError: no version is stored that has the moment, or the moment does not say of which version it is.
        """
        if moment.kind is MomentKind.TIMESTAMP:
            return self._stored(self._serving_at(moment.value), moment, title)
        if moment.table_version is None:
            if self.several:
                raise self._refused(moment, title, "each version of the table counts its snapshots from 1")
            return self._stored(self.served[-1], moment, title)
        found = [one for one in self.served if one.version == moment.table_version]
        if not found:
            raise self._refused(moment, title, f"the table has had no version {moment.table_version}")
        return self._stored(found[-1], moment, title)

    def of_epoch(self, stored: Iterable[str], moment: Moment, title: str) -> Table:
        """The table as it is stored in the version of which an epoch says where it ended.

        Raises:
            RowsLostError: it is not stored any more, or the table had no version then.
        """
        names = set(stored)
        for one in reversed(self.served):
            if one.table is not None and one.table.name in names:
                return one.table
        why = "the version that served then is not stored any more" if names else "the table was not there then"
        raise self._refused(moment, title, why)

    def apart(self, since: Moment, until: Moment | None, title: str) -> RowsLostError:
        """The error for changes that begin in one version and end in another."""
        end = "now" if until is None else str(until)
        return self._refused(since, title, f"another version serves at {end}, and the changes of each are its own")

    def _serving_at(self, at_ms: int) -> ServedVersion:
        found = [one for one in self.served if one.since_ms is None or one.since_ms <= at_ms]
        return found[-1] if found else self.served[0]

    def _stored(self, one: ServedVersion, moment: Moment, title: str) -> Table:
        is_time = moment.kind is MomentKind.TIMESTAMP
        if one.table is None:
            what = f"version {one.version}, which served then," if one.version else "the version that served then"
            raise self._refused(moment, title, f"{what} is not stored any more")
        if is_time and one.readable_ms is not None and moment.value < one.readable_ms:
            raise self._refused(moment, title, f"what is stored of it was made at {time_text(one.readable_ms)}")
        return one.table

    def _refused(self, moment: Moment, title: str, why: str) -> RowsLostError:
        last, since, more = self.served[-1], "", ""
        if self.several and last.since_ms is not None:
            since = f"; version {last.version} serves since {time_text(last.since_ms)}"
        if self.several:
            number = moment.value if moment.kind is MomentKind.VERSION else 3
            more = (
                f"; or for a snapshot of one version: VERSION AS OF 'v{last.version}.{number}'; "
                "keep_old_versions in streamhouse.yaml says how long a version is stored that serves no more"
            )
        spans = [self._span(one, after) for one, after in pairwise((*self.served, None)) if one and one.table]
        return RowsLostError(
            f"{title} cannot be read as of {moment}: {why}{since}",
            at=moment.at,
            hint=f"ask for TIMESTAMP AS OF in what is stored: {', '.join(spans)}{more}",
        )

    @staticmethod
    def _span(one: ServedVersion, after: ServedVersion | None) -> str:
        begin = "its beginning" if one.readable_ms is None else time_text(one.readable_ms)
        end = "now" if after is None or after.since_ms is None else time_text(after.since_ms)
        return f"version {one.version} from {begin} to {end}"


def history_of_one(name: str, table: Table) -> TableHistory:
    """The history of a table of which nothing is recorded but the version that serves."""
    return TableHistory(name, (ServedVersion(1, table),))


@dataclass(frozen=True)
class KnownPast:
    """What is recorded of the past of a project's tables.

    Attributes:
        histories: Table → its versions; of others only what serves is known.
        epochs: None: none are known here, and epochs are looked up when the query is answered.
    """

    histories: Mapping[str, TableHistory] = field(default_factory=dict)
    epochs: Callable[[], Epochs] | None = None

    def history(self, name: str, table: Table) -> TableHistory:
        """The versions of a table that the catalog has."""
        return self.histories.get(name) or history_of_one(name, table)

    def epoch_names(self, names: Iterable[str], moment: Moment | None) -> dict[str, frozenset[str]]:
        """Table → the stored names of which an epoch says where they ended; empty: epochs are not known here.

        Raises:
            QueryRefusedError, RowsLostError: see `Epochs.positions`.
        """
        wanted = list(dict.fromkeys(names))
        if self.epochs is None or moment is None or not wanted:
            return {}
        return self.epochs().stored_names(wanted, moment)


def histories(
    tables: Catalog,
    served: Mapping[str, Sequence[VersionSince]],
    retired: Iterable[RetiredVersion],
    made: Mapping[str, Mapping[Tier, int]],
) -> dict[str, TableHistory]:
    """The versions of tables.

    Args:
        tables: `layer.table` → the table under the name that stores hold, as a query reads it now.
        served: Table → the versions that served, oldest first.
        retired: Versions that serve no more and are stored.
        made: Stored name → tier → when what is there was made, in milliseconds.
    """
    bodies = {(one.table.name, one.version): one.table for one in retired}

    def one(name: str, serving: VersionSince) -> ServedVersion:
        version, now = serving.version, tables[name]
        if stored_name(name, version) == now.name:
            table: Table | None = now
        else:
            body = bodies.get((name, version))
            table = table_at(body, {name: version}) if body is not None else None
        made_ms = made.get(table.name, {}).get(table.tiers.target) if table is not None else None
        return ServedVersion(version, table, serving.since_ms, made_ms)

    found = {}
    for name, table in tables.items():
        chain = served.get(name, ())
        if not chain or stored_name(name, chain[-1].version) != table.name:  # of an environment, which has one version
            chain = (VersionSince(version_of(table.name)),)
        found[name] = TableHistory(name, tuple(one(name, serving) for serving in chain))
    return found


class CatalogWithPast(dict[str, Table]):
    """A catalog of a project, with what is recorded of the past of its tables.

    Args:
        tables: Name → table.
        past: Of the tables.
        unreadable: Flow → why its plan cannot be read: tables of such a flow are missing.
    """

    def __init__(self, tables: Catalog, past: KnownPast, unreadable: Unreadable | None = None) -> None:
        super().__init__(tables)
        self.past = past
        self.unreadable = unreadable or {}


def unreadable_of(catalog: Catalog) -> Unreadable:
    """Flow → why its plan cannot be read, so that a catalog lacks its tables; of a plain mapping it lacks none."""
    return catalog.unreadable if isinstance(catalog, CatalogWithPast) else {}


def past_of(catalog: Catalog) -> KnownPast:
    """What is recorded of the past of a catalog's tables; of a plain mapping nothing is."""
    return catalog.past if isinstance(catalog, CatalogWithPast) else KnownPast()
