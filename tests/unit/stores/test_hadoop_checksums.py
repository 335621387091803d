"""Hadoop's checksums, as this process writes and compares them."""

import os

import pytest

from streamhouse.errors import StoreError
from streamhouse.stores.iceberg.checksums import prove, record
from streamhouse.stores.iceberg.file_io import sink, source


def test_every_flipped_bit_and_every_length_is_seen(tmp_path):
    file, content = tmp_path / "a.avro", bytes(range(256)) * 5
    file.write_bytes(content)
    record(file)
    assert (tmp_path / ".a.avro.crc").read_bytes()[:8] == b"crc\x00\x00\x00\x02\x00"
    prove(file)
    for at in range(0, len(content), 77):
        flipped = bytearray(content)
        flipped[at] ^= 1 << at % 8
        file.write_bytes(flipped)
        with pytest.raises(StoreError, match=r"a\.avro"):
            prove(file)
    for size in (0, 1, 511, 512, len(content) - 1):
        file.write_bytes(content[:size])
        with pytest.raises(StoreError, match=r"a\.avro"):
            prove(file)
    file.write_bytes(content)
    prove(file)


def test_a_file_without_checksums_passes(tmp_path):
    file = tmp_path / "a"
    file.write_bytes(b"x")
    prove(file)


def test_what_this_process_writes_has_them(tmp_path):
    place = f"file:{tmp_path}/new/a.parquet"
    with sink(place, {}) as opened:
        opened.write(b"x" * 600)
    with source(place, {}) as opened:
        assert opened.read() == b"x" * 600
    (tmp_path / "new" / "a.parquet").write_bytes(b"y" * 600)
    with pytest.raises(StoreError, match=r"a\.parquet"), source(place, {}):
        pass


def test_a_file_that_was_damaged_and_has_its_old_time_is_compared_again(tmp_path):
    """Copies of backups keep the time of a file."""
    file = tmp_path / "a.avro"
    file.write_bytes(b"x" * 600)
    record(file)
    prove(file)
    before = file.stat()
    file.write_bytes(b"x" * 300 + b"y" + b"x" * 299)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(StoreError, match=r"a\.avro"):
        prove(file)
