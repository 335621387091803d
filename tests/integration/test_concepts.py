"""Every command of the pages of docs/concepts/ does what its page shows; durations, rates and times are masked."""

from pathlib import Path

import pytest

from tests.console import before_spark, calls_of, masked, shell
from tests.gate.levels import deep
from tests.patience import SOAKING

pytestmark = deep(
    "one page stays; `make soak` has them all",
    only=(
        "test_each_command_shows_what_the_page_shows[actions-and-flows]",
        "test_each_command_shows_what_the_page_shows[lookups-and-joins]",
    ),
)

PAGES = {
    path.stem: calls
    for path in sorted((Path(__file__).parents[2] / "docs" / "concepts").glob("*.md"))
    if (calls := calls_of(path.read_text()))
}


def to_run(calls):
    return calls if SOAKING else before_spark(calls)


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("page", [name for name, calls in PAGES.items() if len(to_run(calls)) > 2 or SOAKING])
def test_each_command_shows_what_the_page_shows(page, tmp_path):
    run = shell(tmp_path)
    try:
        for command, shown in to_run(PAGES[page]):
            assert masked(run(command)) == masked(shown), command
    finally:
        if SOAKING:
            run("streamhouse services down")


def test_pages_have_commands_that_run_without_spark():
    assert sum(len(before_spark(calls)) > 2 for calls in PAGES.values()) >= 3
