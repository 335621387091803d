import errno
from pathlib import Path

import pytest

from streamhouse.errors import DiskFullError, EnvironmentProblem
from streamhouse.install.disk import require_room, writing_to


def test_a_write_that_finds_no_room_is_told_in_one_line(tmp_path):
    # The kernel's own full disk.
    with pytest.raises(DiskFullError) as told, writing_to(tmp_path), Path("/dev/full").open("w") as full:
        full.write("x")
    assert told.value.message == f"no room left at {tmp_path}"
    assert "make room" in told.value.hint


def test_a_file_where_a_folder_should_be_is_told_with_its_name(tmp_path):
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(EnvironmentProblem, match=rf"cannot write to {tmp_path}/file/folder: Not a directory"),
        writing_to(tmp_path),
    ):
        (tmp_path / "file" / "folder").mkdir()


def test_other_errors_pass_unchanged(tmp_path):
    with pytest.raises(OSError, match="odd") as told, writing_to(tmp_path):
        raise OSError(errno.EIO, "odd")
    assert not isinstance(told.value, EnvironmentProblem)


def test_room_is_required_in_bytes(tmp_path):
    require_room(tmp_path, 0)
    with pytest.raises(DiskFullError, match=r"has [\d,]+ MiB free, 4,398,046,511,104 MiB are needed"):
        require_room(tmp_path, 2**62)
