"""A flipped bit in the file of a state store, wherever it is: no row is lost without an error that says so.

A database finds rows by their keys. A key that became another one, or one of bytes, is a row that no query finds.
"""

import random
import sqlite3
from contextlib import closing

import pytest

from streamhouse.errors import StreamhouseError
from streamhouse.state.schema import metadata
from streamhouse.state.store import StateStore
from tests.gate.levels import deep
from tests.unit.state.test_damaged_values import fill

pytestmark = deep("looks for bits of each key of each table; one key stays", stays=("test_a_key_that_no_query_finds",))

SEED, FLIPS = 31, 400
KEYS = {table.name: ", ".join(f'"{one.name}"' for one in table.primary_key) for table in metadata.sorted_tables}


@pytest.fixture
def file(sqlite_url, tmp_path, owner, now, flow_plan):
    with StateStore(sqlite_url) as store:
        fill(store, owner, now, flow_plan)
    return tmp_path / "deep" / "state.db"


def keys_of(file):
    """The keys of every table, in the table and in its index; None: SQLite itself refuses the file."""
    try:
        with closing(sqlite3.connect(file)) as connection:
            connection.text_factory = lambda text: text.decode(errors="replace")
            return {
                name: [
                    sorted(connection.execute(f"SELECT {keys} FROM {name} {index}"), key=repr)
                    for index in ("NOT INDEXED", "")
                ]
                for name, keys in KEYS.items()
            }
    except (sqlite3.Error, UnicodeDecodeError):
        return None


def opened(url):
    """The error of a store that is opened and read; None: there is none."""
    with StateStore(url) as store:
        try:
            store.flows()
            store.events()
        except StreamhouseError as error:
            return error
    return None


def replaced(file, content):
    for old in file.parent.glob("state.db-*"):
        old.unlink(missing_ok=True)
    file.write_bytes(content)


def test_a_key_that_no_query_finds(file, sqlite_url):
    """One bit of a letter of a key, in the table or in its index."""
    whole, right = file.read_bytes(), keys_of(file)
    for at in places(whole, b"retail"):
        replaced(file, whole[:at] + b"s" + whole[at + 1 :])
        if keys_of(file) not in (None, right):
            break
    assert "SH504 the state store is damaged" in str(opened(sqlite_url))


def test_no_flipped_bit_changes_the_keys_of_a_table_unseen(file, sqlite_url):
    whole, right, chance, found, other = file.read_bytes(), keys_of(file), random.Random(SEED), [], 0
    used = [at for at, byte in enumerate(whole) if byte]
    for at in chance.sample(used, FLIPS):
        content = bytearray(whole)
        content[at] ^= 1 << chance.randrange(8)
        replaced(file, content)
        if keys_of(file) == right:
            continue
        other += 1
        if opened(sqlite_url) is None:
            found.append((at, whole[at - 20 : at + 20]))
    assert found == []
    assert other > FLIPS / 10


def test_every_key_that_a_bit_makes_another_one_is_named(file, sqlite_url):
    """One bit of a letter of each key that has letters, in the table or in its index."""
    whole, right, tried = file.read_bytes(), keys_of(file), set()
    texts = {one for keys, _ in right.values() for key in keys for one in key if isinstance(one, str)}
    for at in sorted({at for text in texts for at in places(whole, text.encode())}):
        content = bytearray(whole)
        content[at] ^= 1
        replaced(file, content)
        found = keys_of(file)
        if found is not None and (others := {name for name, keys in found.items() if keys != right[name]}) - tried:
            tried |= others
            assert "SH504 the state store is damaged" in str(opened(sqlite_url)), others
    assert tried == {name for name, (keys, _) in right.items() if any(isinstance(one, str) for one in sum(keys, ()))}


def places(whole, text):
    at = whole.find(text)
    while at >= 0:
        yield at
        at = whole.find(text, at + 1)


@pytest.mark.parametrize("name", [b"streamhouse_event", b"at_ms"], ids=["table", "column"])
def test_a_name_of_the_schema_that_became_another_one_is_damage(file, sqlite_url, name):
    whole = file.read_bytes()
    replaced(file, whole.replace(name, name[:-1] + bytes([name[-1] ^ 1])))
    assert "SH504 the state store is damaged" in str(opened(sqlite_url))
