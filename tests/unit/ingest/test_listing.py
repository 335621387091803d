"""Which files a pattern names."""

import pytest

from streamhouse.errors import SourceError
from streamhouse.ingest.listing import check_place, list_files


@pytest.fixture
def root(tmp_path):
    for name in ("data/a.csv", "data/1/b.csv", "data/1/2/c.csv"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("k\n1\n")
    return tmp_path


@pytest.mark.parametrize("pattern", ["data/**/*.csv", "data/**/**/*.csv"])
def test_a_file_is_named_once(root, pattern):
    assert list_files(pattern, root) == ["data/1/2/c.csv", "data/1/b.csv", "data/a.csv"]


@pytest.mark.parametrize("pattern", ["data/**/**/**/*.csv", "data/**/x/**/y/**/*.csv", "/".join(["**"] * 40)])
def test_a_pattern_that_takes_exponential_time_is_refused(root, pattern):
    for use in (lambda: list_files(pattern, root), lambda: check_place(pattern, root, None)):
        with pytest.raises(SourceError, match=r"more than 2 '\*\*'"):
            use()
