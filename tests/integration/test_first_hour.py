"""Every command of docs/first-hour.md does what the page shows; durations and rates are masked."""

from pathlib import Path

import pytest

from tests.console import before_spark, calls_of, masked, shell
from tests.patience import SOAKING

CALLS = calls_of((Path(__file__).parents[2] / "docs" / "first-hour.md").read_text())


def test_the_page_starts_with_commands_without_spark():
    assert [command for command, _ in before_spark(CALLS)][-1] == "streamhouse validate"


@pytest.mark.timeout(1800)
def test_each_command_shows_what_the_page_shows(tmp_path):
    run = shell(tmp_path)
    try:
        for command, shown in CALLS if SOAKING else before_spark(CALLS):
            assert masked(run(command)) == masked(shown), command
    finally:
        if SOAKING:
            run("streamhouse runner stop; streamhouse services down")  # of a call that failed, too
