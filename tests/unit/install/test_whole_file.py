"""Files that are replaced as a whole."""

import os
import stat
import threading

import pytest

from streamhouse.install import whole_file
from streamhouse.install.whole_file import write_whole


def names_in(folder):
    return [one.name for one in folder.iterdir()]


def mode_of(file):
    return stat.S_IMODE(file.stat().st_mode)


def test_a_file_and_its_folders_are_made(tmp_path):
    file = tmp_path / "a" / "b" / "c.json"
    assert write_whole(file, "ü")
    assert file.read_bytes() == "ü".encode()
    assert names_in(file.parent) == ["c.json"]


def test_what_is_there_is_replaced_and_its_mode_stays(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text("old")
    file.chmod(0o640)
    assert write_whole(file, b"new")
    assert (file.read_text(), mode_of(file)) == ("new", 0o640)


def test_a_private_file_is_read_by_this_user_alone(tmp_path):
    file = tmp_path / "secrets.json"
    file.write_text("old")
    file.chmod(0o644)
    write_whole(file, "new", private=True)
    assert (file.read_text(), mode_of(file)) == ("new", 0o600)


def test_a_link_is_replaced_and_what_it_leads_to_stays(tmp_path):
    other = tmp_path / "other"
    other.write_text("theirs")
    other.chmod(0o666)
    link = tmp_path / "a.txt"
    link.symlink_to(other)
    write_whole(link, "ours", private=True)
    assert (link.is_symlink(), link.read_text(), other.read_text()) == (False, "ours", "theirs")


def test_the_content_is_on_the_disk_before_the_file_has_its_name(tmp_path, monkeypatch):
    file = tmp_path / "a.txt"
    file.write_text("old")
    synced = []

    def fsync(handle):
        synced.append((os.fstat(handle).st_size, file.read_text()))

    monkeypatch.setattr(whole_file.os, "fsync", fsync)
    write_whole(file, "the new text")
    assert synced == [(12, "old")]


def test_a_file_that_may_not_be_replaced_any_more_stays(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text("theirs")
    assert not write_whole(file, "ours", only_if=lambda: file.read_text() == "old")
    assert (file.read_text(), names_in(tmp_path)) == ("theirs", ["a.yaml"])


def test_where_the_disk_is_full_what_was_there_stays_alone(tmp_path, monkeypatch):
    file = tmp_path / "a.yaml"
    file.write_text("old")

    def fsync(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(whole_file.os, "fsync", fsync)
    with pytest.raises(OSError, match="No space left"):
        write_whole(file, "new")
    assert (file.read_text(), names_in(tmp_path)) == ("old", ["a.yaml"])


def test_of_many_who_write_at_once_the_content_of_one_is_there(tmp_path):
    file = tmp_path / "a.txt"
    texts = {character * 100_000 for character in "abcdefgh"}
    begin = threading.Barrier(len(texts))

    def write(text):
        begin.wait()
        write_whole(file, text)

    writers = [threading.Thread(target=write, args=(text,)) for text in texts]
    for one in writers:
        one.start()
    for one in writers:
        one.join()
    assert file.read_text() in texts
    assert names_in(tmp_path) == ["a.txt"]
