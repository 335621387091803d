"""Every command of the pages of docs/howto/ that begin with a new project, and need no Spark, does what it shows."""

from pathlib import Path

import pytest

from tests.console import before_spark, calls_of, masked, shell

PAGES = {
    path.stem: calls
    for path in sorted((Path(__file__).parents[2] / "docs" / "howto").glob("*.md"))
    if (calls := calls_of(path.read_text()))
    and calls[0][0].startswith("streamhouse init ")
    and before_spark(calls) == calls
}


@pytest.mark.parametrize("page", PAGES)
def test_each_command_shows_what_the_page_shows(page, tmp_path):
    run = shell(tmp_path)
    for command, shown in PAGES[page]:
        assert masked(run(command)) == masked(shown), command


def test_there_are_such_pages():
    assert {"keep-the-history-of-a-dimension", "mask-personal-data"} <= set(PAGES)
