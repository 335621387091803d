# ruff: noqa: E501 - one wish a line
"""Questions that people ask in other words than the catalog's: each is read, and its near miss is asked back."""

import pytest

from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact
from tests.unit.planner.wish_catalogs import CATALOGS, catalog, table

AGENCY = catalog(
    table("ods.translators", ["translator_id"], None, ["translator_id:i", "translator_name:s", "native_language:s"],
          description="People who translate.", values={"native_language": {"de": ["German"], "en": ["English"]}}),
    table("ods.jobs", ["job_no"], "ordered_at",
          ["job_no:i", "translator_id:i>ods.translators.translator_id;who does it, empty while nobody is found", "source_language:s", "target_language:s",
           "words:i|length", "price_eur:f|price#EUR", "ordered_at:t|ordered", "due_at:t|due|deadline", "delivered_at:t|delivered;when it was delivered, empty while it is in work"],
          synonyms=["translation"], values={"source_language": {"de": ["German"], "en": ["English"]}, "target_language": {"de": ["German"], "en": ["English"]}},
          measures={"turnover": {"sql": "SUM(price_eur)", "unit": "EUR", "synonyms": ["money earned"]}}),
)  # fmt: skip
ALL = {**CATALOGS, "agency": AGENCY}

READ = [
    # each row is one of what the average is of
    ("library", "average number of pages per book", "ods.books; get avg(pages)"),
    ("library", "average number of renewals per loan", "dwd.loans; get avg(renewals)"),
    # how long until something is done
    ("support", "average number of days until a ticket is closed", "dwd.tickets; get avg(days(opened_at→closed_at))"),
    ("support", "how long does it take to close a ticket, in days?", "dwd.tickets; get avg(days(opened_at→closed_at))"),
    # the last of each
    ("library", "for each member the date of their last loan", "dwd.loans; last lent_at per member_id"),
    # stars before a thing, and one language to another
    ("hotel", "5-star hotels in Porto", "ods.hotels; where stars = 5 and city = Porto"),
    ("agency", "German to English jobs", "ods.jobs; where source_language = de and target_language = en"),
    # who does something is not what is done
    ("agency", "jobs that have no translator", "ods.jobs; where translator_id is null"),
    ("agency", "how many words did each translator translate in May 2026?", "ods.jobs; where ordered_at 2026-05-01..2026-06-01; by translator_id; get sum(words)"),
]  # fmt: skip

ASKED_BACK = [
    ("support", "number of days until a ticket is closed", "the average"),
    ("agency", "languages we translate into", "into"),
    ("agency", "please translate this text", "opinion"),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "wish", "wanted"), READ)
def test_read_as(schema, wish, wanted):
    assert compact(understand(wish, ALL[schema])) == wanted


@pytest.mark.parametrize(("schema", "wish", "word"), ASKED_BACK)
def test_asked_back_or_refused(schema, wish, word):
    found = understand(wish, ALL[schema])
    assert found.request is None
    assert word in compact(found)
