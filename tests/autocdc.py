"""Cases that the tests of Spark's AutoCDC publish, in our own words, for the ready actions over changes.

Their names are those of github.com/apache/spark (Apache-2.0), sql/pipelines/src/test/scala/…/pipelines/{autocdc,graph}.
A change is (key, name, sequence); its name is None when it is a delete. What the cases expect of auxiliary tables
has no counterpart here: `recompute` has all rows of a key.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from streamhouse.model.action import Action
from streamhouse.planner.ready_actions import READY, ReadyRequest, text_of
from streamhouse.registry.read_action import read_action
from tests.ready import columns

TYPES = {"id": "bigint not null", "at": "timestamp not null", "op": "string", "name": "string"}
"""Of the table of changes."""
REQUEST = ReadyRequest(columns(TYPES), ("id",), "at", op="op")
ACTIONS = ("cdc_apply", "scd2", "deduplicate_latest")
_BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
_KEYS_OF_A_CASE = 100
Change = tuple[int, str | None, int]


@dataclass(frozen=True)
class Case:
    """One case.

    Attributes:
        batches: Changes, in the order in which they come.
        history: (key, name, from, until) of each version; None: it is valid now.
        latest: (key, name) of each key that is there; None: the versions of the history that are valid now.
        replaced: Sequence → the kind of a change there, where it is another one than the name says.
    """

    batches: list[list[Change]]
    history: list[tuple[int, str, int, int | None]]
    latest: list[tuple[int, str]] | None = None
    replaced: dict[int, str | None] = field(default_factory=dict)

    @property
    def now(self) -> list[tuple[int, str]]:
        """(key, name) of each key that is there."""
        current = [(key, name) for key, name, _, until in self.history if until is None]
        return current if self.latest is None else self.latest


HANDLER = {
    "inserting a new key creates an open current record": Case([[(1, "a", 10)]], [(1, "a", 10, None)]),
    "two updates to a key in one batch produce a closed record followed by the open record": Case(
        [[(1, "a", 10), (1, "b", 20)]], [(1, "a", 10, 20), (1, "b", 20, None)]
    ),
    "an insert and a later delete in the same batch leave a single closed record": Case(
        [[(1, "a", 10), (1, None, 20)]], [(1, "a", 10, 20)]
    ),
    "an insert, update, delete, and re-insert for one key in a batch build the full history": Case(
        [[(1, "a", 10), (1, "b", 20), (1, None, 30), (1, "c", 40)]],
        [(1, "a", 10, 20), (1, "b", 20, 30), (1, "c", 40, None)],
    ),
    "repeating a key's value keeps one current record effective from its first occurrence": Case(
        [[(1, "a", 10), (1, "a", 20)]], [(1, "a", 10, None)]
    ),
    "deleting a key that has no current record leaves the dimension table empty": Case([[(1, None, 5)]], []),
    "updating an existing key closes its current record and opens a new one": Case(
        [[(1, "a", 10)], [(1, "b", 20)]], [(1, "a", 10, 20), (1, "b", 20, None)]
    ),
    "deleting an existing key closes its current record with no open record remaining": Case(
        [[(1, "a", 10)], [(1, None, 20)]], [(1, "a", 10, 20)]
    ),
    "an update preserves already-closed historical records": Case(
        [[(1, "a", 5)], [(1, "b", 10)], [(1, "c", 20)]], [(1, "a", 5, 10), (1, "b", 10, 20), (1, "c", 20, None)]
    ),
    "a late event older than all existing history is inserted as the earliest record": Case(
        [[(1, "a", 10)], [(1, "b", 5)]], [(1, "b", 5, 10), (1, "a", 10, None)]
    ),
    "a late update landing inside an existing record splits it around the new value": Case(
        [[(1, "a", 10), (1, "c", 20)], [(1, "b", 15)]], [(1, "a", 10, 15), (1, "b", 15, 20), (1, "c", 20, None)]
    ),
    "a late delete landing inside an existing record shortens it to end at the deletion": Case(
        [[(1, "a", 10), (1, "b", 30)], [(1, None, 20)]], [(1, "a", 10, 20), (1, "b", 30, None)]
    ),
    "a late delete bisecting a trailing closed record promotes the surviving tail to a tombstone": Case(
        [[(1, "a", 10), (1, None, 20)], [(1, None, 15)]], [(1, "a", 10, 15)]
    ),
    "two late events in one batch each bisect a distinct closed target row": Case(
        [[(1, "a", 1), (1, "b", 5), (1, "c", 10), (1, "d", 20)], [(1, "x", 7), (1, "y", 15)]],
        [(1, "a", 1, 5), (1, "b", 5, 7), (1, "x", 7, 10), (1, "c", 10, 15), (1, "y", 15, 20), (1, "d", 20, None)],
    ),
    "re-inserting a key after it was deleted opens a new current record": Case(
        [[(1, None, 20)], [(1, "x", 30)]], [(1, "x", 30, None)]
    ),
    "a value repeated across batches stays one record until a later change closes it": Case(
        [[(1, "a", 10)], [(1, "a", 20)], [(1, "b", 30)]], [(1, "a", 10, 30), (1, "b", 30, None)]
    ),
    "a late event arriving within an unchanged period splits the surrounding history": Case(
        [[(1, "ann", 5), (1, "ann", 10), (1, "ann", 15)], [(1, "joe", 20)], [(1, "bob", 12)]],
        [(1, "ann", 5, 12), (1, "bob", 12, 15), (1, "ann", 15, 20), (1, "joe", 20, None)],
    ),
    "reprocessing a microbatch of repeated values leaves both tables unchanged": Case(
        [[(1, "a", 10), (1, "a", 20), (1, "a", 30)]] * 2, [(1, "a", 10, None)]
    ),
    "reprocessing an update microbatch leaves both tables unchanged": Case(
        [[(1, "a", 10)], [(1, "b", 20)], [(1, "b", 20)]], [(1, "a", 10, 20), (1, "b", 20, None)]
    ),
    "reprocessing a delete microbatch leaves both tables unchanged": Case(
        [[(1, "a", 10)], [(1, None, 20)], [(1, None, 20)]], [(1, "a", 10, 20)]
    ),
    "reprocessing a delete of an unknown key leaves both tables unchanged": Case([[(1, None, 5)]] * 2, []),
    "recovering after a crash that logically deleted a pre-existing aux row converges": Case(
        [[(1, None, 20)], [(1, "x", 10)], [(1, "x", 10)]], [(1, "x", 10, 20)]
    ),
    "the auxiliary merge's own writes do not duplicate the rows the target merge reads": Case(
        [[(1, "a", 5), (1, "a", 10), (1, "b", 20)], [(1, "a", 15)]], [(1, "a", 5, 20), (1, "b", 20, None)]
    ),
    "a demoted row's two copies reconcile even when they disagree on where the run starts": Case(
        [[(1, "a", 10), (1, "b", 20)], [(1, "a", 5), (1, "a", 15)]], [(1, "a", 5, 20), (1, "b", 20, None)]
    ),
    "duplicate events at the same key and sequence in one microbatch collapse to one record": Case(
        [[(1, "a", 10), (1, "a", 10)]], [(1, "a", 10, None)]
    ),
    # Spark leaves open which of the two it is; here it is the highest.
    "events sharing key and sequence but differing in value still collapse to one record": Case(
        [[(1, "a", 10), (1, "b", 10)]], [(1, "b", 10, None)]
    ),
    "a later microbatch event sharing key and sequence but differing in value is absorbed": Case(
        [[(1, "b", 10)], [(1, "a", 10)]], [(1, "b", 10, None)]
    ),
    # For a history the delete counts; "latest" is of the suite of SCD type 1, where the upsert does.
    "an upsert and a delete at the same sequence resolve in favor of the delete": Case(
        [[(1, "a", 10), (1, None, 10)]], [], latest=[(1, "a")]
    ),
    "redelivering the same event in a later microbatch leaves both tables unchanged": Case(
        [[(1, "a", 10)], [(1, "a", 10)]], [(1, "a", 10, None)]
    ),
    "a late event predating a recorded deletion becomes a record ending at the deletion": Case(
        [[(1, None, 20)], [(1, "x", 10)]], [(1, "x", 10, 20)]
    ),
    "a logically-deleted tombstone is physically garbage-collected by a later unrelated batch": Case(
        [[(1, None, 20)], [(1, "x", 10)], [(2, "y", 30)]], [(1, "x", 10, 20), (2, "y", 30, None)]
    ),
    "updates, deletes, and inserts for different keys in one batch reconcile independently": Case(
        [[(1, "a", 10), (2, "p", 10)], [(1, "b", 20), (2, None, 20), (3, "z", 20)]],
        [(1, "a", 10, 20), (1, "b", 20, None), (2, "p", 10, 20), (3, "z", 20, None)],
    ),
    "an event after a deletion leaves the run the deletion closed exactly as it was": Case(
        [[(1, "a", 10), (1, "a", 11)], [(1, None, 12)], [(1, "b", 20)]], [(1, "a", 10, 12), (1, "b", 20, None)]
    ),
    "changing a tracked column opens a new historical record": Case(
        [[(1, "ann", 10), (1, "bob", 20)], [(1, "eve", 30)]],
        [(1, "ann", 10, 20), (1, "bob", 20, 30), (1, "eve", 30, None)],
    ),
    "multiple new keys in one batch each build their own history independently": Case(
        [[(1, "a", 10), (2, "p", 10), (1, "b", 20), (2, "p", 20)]],
        [(1, "a", 10, 20), (1, "b", 20, None), (2, "p", 10, None)],
    ),
}
"""Of Scd2ForeachBatchHandlerSuite; what Scd1ForeachBatchHandlerSuite has of the same changes is `now`."""
OTHERS = {
    "consecutive upsert, delete, and re-upsert events for the same key in one run converge to the latest event": Case(
        [[(1, "a", 1), (1, None, 2), (1, "b", 3)]], [(1, "a", 1, 2), (1, "b", 3, None)]
    ),
    "reconciles out-of-order events when ExcludeColumns hides the sequencing column": Case(
        [
            [(1, "ann", 1), (1, "bob", 3)],
            [(1, "joe", 2)],
            [(1, "eve", 4)],
            [(1, None, 2)],
            [(1, None, 5)],
            [(1, "old", 4)],
        ],
        [(1, "ann", 1, 2), (1, "bob", 3, 4), (1, "old", 4, 5)],
    ),
    "drops stale microbatch rows using auxiliary tombstones and writes fresh upserts": Case(
        [[(1, None, 10)], [(1, "old", 5), (2, "new", 20)]], [(1, "old", 5, 10), (2, "new", 20, None)]
    ),
    "ignores a late-arriving lower-seq delete but still records the aux tombstone": Case(
        [[(1, "a", 5)], [(1, None, 2)]], [(1, "a", 5, None)]
    ),
    "resolves a within-batch delete and higher-sequenced upsert as an upsert insert": Case(
        [[(1, None, 2), (1, "b", 3)]], [(1, "b", 3, None)]
    ),
    "preprocessMicrobatch treats null deleteCondition results as upsert (__END_AT stays null)": Case(
        [[(1, "a", 10), (1, "b", 20)]], [(1, "a", 10, 20), (1, "b", 20, None)], replaced={20: None}
    ),
    # Ours: no published case has values that differ at one sequence beside a value that was there before.
    "of two values at one sequence the one that changes nothing opens no record": Case(
        [[(1, "b", 10), (1, "a", 20), (1, "b", 20)], [(1, "c", 30)]], [(1, "b", 10, 30), (1, "c", 30, None)]
    ),
    "a delete that has the values of the row before it is a delete": Case(
        [[(1, "a", 10), (1, "a", 20)]], [(1, "a", 10, 20)], replaced={20: "d"}
    ),
    "a delete with values at the time of its row": Case(
        [[(1, "a", 10), (1, "b", 20)], [(1, None, 20)]], [(1, "a", 10, 20)], latest=[(1, "b")]
    ),
}
"""Of Scd1ForeachBatchHandlerSuite, Scd1BatchProcessorSuite, Scd2BatchProcessorSuite, AutoCdcScd1SinglePipelineSuite."""
CASES = HANDLER | OTHERS


def action(name: str) -> Action:
    """A ready action over the changes; `deduplicate_latest` knows no deletes."""
    wanted = REQUEST if name != "deduplicate_latest" else ReadyRequest(columns(TYPES), ("id",), "at")
    return read_action(text_of(READY[name], name, wanted), f"{name}.sql").action


def at(sequence: int | None) -> datetime | None:
    """The time that stands for a sequence."""
    return None if sequence is None else _BEGAN + timedelta(seconds=sequence)


def row(change: Change, replaced: dict[int, str | None]) -> dict[str, Any]:
    """A change as the table has it."""
    key, name, sequence = change
    op = replaced.get(sequence, "d" if name is None else "u")
    return {"id": key, "at": at(sequence), "op": op, "name": name}


def batches(cases: dict[str, Case]) -> list[list[dict[str, Any]]]:
    """The changes of all cases, each with keys of its own: the first batches of all, the second ones, and so on."""
    longest = max(len(case.batches) for case in cases.values())
    return [
        [
            row((_key(number, key), name, sequence), case.replaced)
            for number, case in enumerate(cases.values())
            for key, name, sequence in (case.batches[place] if place < len(case.batches) else [])
        ]
        for place in range(longest)
    ]


def wanted_history(cases: dict[str, Case], name: str) -> list[tuple[Any, ...]]:
    """(key, name, from, until, whether it is valid now) of each version that a case expects, in order."""
    number = list(cases).index(name)
    versions = [(_key(number, key), value, at(begin), at(end)) for key, value, begin, end in cases[name].history]
    return sorted([(*version, version[-1] is None) for version in versions], key=str)


def wanted_latest(cases: dict[str, Case], name: str) -> list[tuple[Any, ...]]:
    """(key, name) of each key that a case expects, in order."""
    number = list(cases).index(name)
    return sorted([(_key(number, key), value) for key, value in cases[name].now], key=str)


def history(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Rows of `scd2` in the form of `wanted_history`."""
    return [(r["id"], r["name"], r["valid_from"], r["valid_to"], r["is_current"]) for r in rows]


def latest(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Rows of `cdc_apply` in the form of `wanted_latest`."""
    return [(r["id"], r["name"]) for r in rows]


def of_case(cases: dict[str, Case], name: str, rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Those rows of a result that are of the keys of one case, in order."""
    number = list(cases).index(name)
    return sorted([row for row in rows if row[0] // _KEYS_OF_A_CASE == number], key=str)


def _key(number: int, key: int) -> int:
    return number * _KEYS_OF_A_CASE + key
