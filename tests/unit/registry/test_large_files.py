"""A file that no person writes is refused before anything reads it."""

import pytest

from streamhouse.errors import FileFormatError
from streamhouse.registry import read_flow as read_flow_module
from streamhouse.registry.files import MOST_BYTES, read_files
from streamhouse.registry.read_flow import read_flow


@pytest.mark.parametrize("name", ["actions/a.sql", "flows/a.yaml"])
def test_a_file_has_so_many_bytes_at_most(tmp_path, name):
    file = tmp_path / name
    file.parent.mkdir()
    for size in (MOST_BYTES, MOST_BYTES + 1):
        file.write_bytes(b"#" * size)
        files = read_files(tmp_path)
        [found] = (*files.actions, *files.flows)
        assert (found.content is not None) == (size <= MOST_BYTES)
    with pytest.raises(FileFormatError, match=r"a\.\w+:1:1: SH101 the file cannot be read: it has 1,000,001 bytes"):
        found.text()


def test_a_sparse_file_of_many_gigabytes_is_not_read(tmp_path):
    (tmp_path / "flows").mkdir()
    with (tmp_path / "flows" / "a.yaml").open("wb") as opened:
        opened.truncate(1 << 40)
    [found] = read_files(tmp_path).flows
    assert found.content is None
    assert "more than" in found.cause


def test_a_flow_has_so_many_steps_at_most(monkeypatch):
    assert read_flow_module.STEPS_MOST == 3_000  # reading them takes seconds
    monkeypatch.setattr(read_flow_module, "STEPS_MOST", 100)

    def flow(count):
        steps = [f"  - {{use: a, writes: ods.t{number}}}" for number in range(count)]
        return read_flow("\n".join(["flow: f", "steps:", *steps]), "f.yaml")

    assert len(flow(100).steps) == 100
    with pytest.raises(FileFormatError, match=r"f\.yaml:2:1: SH101 a flow has at most 100 steps, this one has 101"):
        flow(101)


def test_aliases_that_multiply_are_counted():
    bomb = ["a: &a [x, x, x, x, x, x, x, x, x, x]"]
    bomb += [f"{n}: &{n} [{', '.join([f'*{before}'] * 10)}]" for before, n in zip("abcdefgh", "bcdefghi", strict=True)]
    with pytest.raises(FileFormatError, match="more than 100,000 values"):
        read_flow("\n".join(bomb), "f.yaml")
