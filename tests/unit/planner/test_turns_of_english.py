# ruff: noqa: E501 - one wish a line
"""Turns of English over trades that no benchmark has: each rule with two wishes, and what may not be guessed."""

from pathlib import Path

import pytest

from streamhouse.planner.language.phrasing import rephrased
from streamhouse.planner.understand import understand
from tests.tables import each
from tests.unit.planner.compact_request import compact
from tests.unit.planner.wish_catalogs import CATALOGS

TURNS = Path(__file__).parent / "read" / "turns.txt"  # schema | wish, then what it is read as


def _turns() -> list[tuple[str, str, str]]:
    lines = TURNS.read_text(encoding="utf-8").splitlines()
    pairs = zip(lines[::2], lines[1::2], strict=True)
    return [(*map(str.strip, wish.split("|", 1)), found.strip()) for wish, found in pairs]  # type: ignore[misc]


@each(("schema", "wish", "wanted"), _turns(), ids=lambda part: part[:60])
def test_read_as(schema, wish, wanted):
    assert compact(understand(wish, CATALOGS[schema])) == wanted


NOT_GUESSED = [
    ("library", "phone numbers of members", "REFUSED", "phone numbers"),  # a head noun that is no column
    ("hotel", "fax numbers of all gold guests", "REFUSED", "fax numbers"),
    ("support", "agents who closed more than twice but never got a ticket", "REFUSED", "ticket"),  # said of the thing, not of a row
    ("library", "members who never borrowed a poetry book", "REFUSED", "never"),
    ("library", "the largest loan of each member", "ASKS", "by which figure"),  # no number of loans, and no highest key
    ("support", "the largest ticket of each agent", "ASKS", "by which figure"),
    ("library", "How many books were borrowed at each branch?", "ASKS", "different books"),
    ("library", "Number of books borrowed by children in March 2024", "ASKS", "different books"),
    ("library", "how many books have been lent in the last 7 days", "ASKS", "different books"),
    ("hotel", "the most expensive and the cheapest booking of each channel", "ASKS", "by which figure"),
    ("hotel", "unpaid bookings in dollars by channel", "REFUSED", "unpaid"),
    ("support", "what did accounts pay in May 2024?", "REFUSED", "pay"),
    ("library", "fines per month of issue", "REFUSED", "issue"),
    ("energy", "average usage per day for each meter", "ASKS", "single rows"),
    ("hotel", "number of cancelled bookings and total price per channel", "ASKS", "hold for total price"),
    ("support", "number of urgent tickets and total replies per agent", "ASKS", "hold for total replies"),
    ("hotel", "revenue in € per channel", "REFUSED", "USD"),
    ("support", "average number of replies per day for each agent", "ASKS", "single rows"),
    ("library", "members with fewer than two loans", "ASKS", "without any"),  # those without a loan have fewer, too
    ("support", "agents with less than 5 tickets", "ASKS", "without any"),
    ("hotel", "bookings by guests from Germany", "ASKS", "one for each of them"),
    ("hotel", "bookings cancelled on the same day", "REFUSED", "same day"),  # two times of one row are compared
    ("hotel", "bookings with a rating and the nights", "ASKS", "must it be there"),
    ("hotel", "monthly revenue per channel, only channels with at least 5 bookings", "ASKS", "in each month"),
    ("support", "average time to close a ticket in weeks per agent", "REFUSED", "weeks"),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "wish", "how", "named"), NOT_GUESSED)
def test_not_guessed(schema, wish, how, named):
    found = compact(understand(wish, CATALOGS[schema]))
    assert found.startswith(how)
    assert named in found


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ("# of rides via each channel", "number of rides for each channel"),
        ("avg. price of orders", "avg price of orders"),
        ("orders since 3.4.2024", "orders since 2024-04-03"),
        ("neither late nor lost", "not late or lost"),
        ("tickets called 'neither now nor never'", "tickets called 'neither now nor never'"),
    ],
)
def test_said_in_the_words_of_the_grammar(wish, said):
    assert rephrased(wish) == said
