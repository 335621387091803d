"""Times of changes of a database that notes when a statement began: they never fall in the order of the log."""

import json
import random
from itertools import pairwise

import pytest

from streamhouse.ingest.kinds import open_source
from streamhouse.model.flow import Source
from tests.journals import Journal

METADATA = {"at": "committed_at", "change": "number"}
OPTIONS = {"mode": "append", "primary_key": ["id"], "columns": {"id": "bigint", "name": "string"}, "metadata": METADATA}
PLACES = [{"path": "*.jsonl"}, {"mariadb": {"connection": "shop", "table": "public.orders"}}]


def event(second, name="a", op="u", connector="mariadb", **more):
    """As Debezium writes it; DDL has no `op`."""
    times = {"ts_ms": second * 1000, "snapshot": "false", "db": "public", "sequence": None, "ts_us": second * 1_000_000}
    source = {"connector": connector, **times, "ts_ns": second * 10**9, "table": "orders", "server_id": 1}
    row = {"id": 1, "name": name}
    states = {"before": row, "after": None if op in "dt" else row}
    later = {"ts_ms": 9_000_000, "ts_us": 9_000_000_000, "ts_ns": 9_000_000_000_000}
    return {**states, "source": source, "op": op, **later, **more}


class Files:
    """Files of events, or segments of a capture's journal."""

    def __init__(self, root, place):
        self.root, self._place = root, place
        self._journal = None if "path" in place else Journal(root)
        self._count = 0

    def add(self, *events):
        self._count += 1
        if self._journal is None:
            file = self.root / f"{self._count}.jsonl"
            file.write_text("".join(json.dumps(one) + "\n" for one in events))
        else:
            texts = [{"key": {"id": 1}, "value": one, "headers": []} for one in events]
            self._journal(*(json.dumps(one, separators=(",", ":")) for one in texts))

    def source(self, **more):
        return open_source(Source(name="changes", kind="cdc", options=OPTIONS | self._place | more), self.root)


@pytest.fixture(params=PLACES, ids=["files", "journal"])
def files(tmp_path, request):
    return Files(tmp_path, request.param)


def seconds(rows):
    return [int(one["at"].timestamp()) for one in rows]


def read(source, start=None, end=None):
    return source.read(start or {}, end or source.available()).to_pylist()


def test_a_statement_that_waited_for_a_lock_is_not_before_the_change_it_waited_for(files):
    # Two transactions change one row: the second began at 101, and waited until the first had ended at 103.
    files.add(event(100, "A1"), event(103, "A2"), event(101, "B"))
    found = read(files.source())
    assert [one["name"] for one in sorted(found, key=lambda one: (one["at"], one["change"]))] == ["A1", "A2", "B"]
    assert seconds(found) == [100, 103, 103]


def test_the_time_of_a_change_does_not_depend_on_what_is_read_with_it(files):
    chance = random.Random(7)
    for _ in range(4):
        files.add(*(event(100 + chance.randint(0, 50)) for _ in range(chance.randint(1, 9))))
    source = files.source()
    whole = seconds(read(source))
    assert all(one <= other for one, other in pairwise(whole))
    places, at = [{}], {}
    while (further := source.advance(at, 2)) != at:
        places.append(further)
        at = further
    parts = [(source, start, end) for start, end in pairwise(places)]
    assert [second for one in parts for second in seconds(read(*one))] == whole
    chance.shuffle(parts)
    again = {str(start): seconds(read(files.source(), start, end)) for _, start, end in parts}
    shuffled = {str(start): seconds(read(source, start, end)) for _, start, end in parts}
    assert again == shuffled
    assert [second for start in places[:-1] for second in again[str(start)]] == whole


def test_statements_that_change_no_row_and_removals_count_alike_wherever_a_read_begins(files):
    ddl = {"source": event(500)["source"], "ts_ms": 1, "ddl": "ALTER TABLE orders ADD x int"}
    files.add(event(100), ddl, event(101), event(300, op="t"), event(102))
    source = files.source()
    whole = read(source)
    assert seconds(whole) == [100, 101, 300, 300]
    last = source.advance({}, 4)
    assert seconds(read(files.source(), last)) == [300]


def test_times_of_commits_stay_as_they_are(tmp_path):
    files = Files(tmp_path, PLACES[0])
    files.add(event(103, connector="postgresql"), event(101, connector="postgresql"))
    assert seconds(read(files.source())) == [103, 101]


def test_a_column_that_is_called_as_a_time_of_the_source_is_none(tmp_path):
    files = Files(tmp_path, PLACES[1])
    row = {"id": 1, "name": "a", "ts_us": 10**15, "ts_ns": 10**18, "table": "orders"}
    files.add(event(100, after=row), event(101))
    source = files.source()
    assert seconds(read(source, source.advance({}, 1))) == [101]
