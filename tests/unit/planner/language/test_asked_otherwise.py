# ruff: noqa: E501 - one wish a line
"""Questions that people ask in other words than the catalog's: each is read, and its near miss is asked back."""

import pytest

from streamhouse.planner.understand import understand
from tests.tables import each
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
SCHOOL = catalog(
    table("ods.pupils", ["pupil_id"], None, ["pupil_id:i", "pupil_name:s"]),
    table("ods.lessons", ["lesson_id"], "starts_at", ["lesson_id:i", "starts_at:t", "room:s"]),
    table("ods.absences", ["absence_id"], None, ["absence_id:i", "pupil_id:i>ods.pupils.pupil_id", "lesson_id:i>ods.lessons.lesson_id"], synonyms=["missed lesson"]),
    table("ods.laptops", ["laptop_no"], None, ["laptop_no:i", "pupil_id:i>ods.pupils.pupil_id", "is_lost:b|lost"]),
)  # fmt: skip
DEPOT = catalog(
    table("ods.drivers", ["driver_id"], None, ["driver_id:i", "driver_name:s", "wage_eur:f#EUR;pay for an hour"]),
    table("ods.loads", ["load_id"], "weighed_at", ["load_id:i", "driver_id:i>ods.drivers.driver_id", "weighed_at:t", "material:s", "net_kg:f|weight#kg"],
          values={"material": {"G": ["glass"], "P": ["paper"]}}),
)  # fmt: skip
SHOP = catalog(
    table("ods.visitors", ["visitor_id"], None, ["visitor_id:i", "visitor_name:s", "joined_on:d", "left_on:d|left", "wants_mail:b|letters"], description="People who come."),
    table("ods.exhibitions", ["exhibition_id"], None, ["exhibition_id:i", "title:s", "starts_on:d|start", "closed_on:d|closed;last day, empty while it runs"]),
    table("ods.tickets", ["ticket_no"], "sold_at",
          ["ticket_no:i", "visitor_id:i>ods.visitors.visitor_id", "exhibition_id:i>ods.exhibitions.exhibition_id", "sold_at:t|sold|bought", "channel:s", "buyer_kind:s", "price_cents:i|price#cents"],
          values={"channel": {"WEB": ["online"], "DSK": ["desk"]}, "buyer_kind": {"A": ["adult"], "C": ["child"]}}, measures={"takings": {"sql": "SUM(price_cents) / 100", "unit": "EUR", "synonyms": ["money earned"]}}),
)  # fmt: skip
ALL = {**CATALOGS, "agency": AGENCY, "school": SCHOOL, "depot": DEPOT, "shop": SHOP}

READ = [
    # each row is one of what the average is of
    ("library", "average number of pages per book", "ods.books; get avg(pages)"),
    ("library", "average number of renewals per loan", "dwd.loans; get avg(renewals)"),
    # how long until something is done
    ("support", "average number of days until a ticket is closed", "dwd.tickets; get avg(days(opened_at→closed_at))"),
    ("support", "how long does it take to close a ticket, in days?", "dwd.tickets; get avg(days(opened_at→closed_at))"),
    # the last of each
    ("library", "for each member the date of their last loan", "dwd.loans; last lent_at per member_id; show member_id, lent_at"),
    # stars before a thing, and one language to another
    ("hotel", "5-star hotels in Porto", "ods.hotels; where stars = 5 and city = Porto"),
    ("agency", "German to English jobs", "ods.jobs; where source_language = de and target_language = en"),
    # who does something is not what is done
    ("agency", "jobs that have no translator", "ods.jobs; where translator_id is null"),
    ("agency", "how many words did each translator translate in May 2026?", "ods.jobs; where ordered_at 2026-05-01..2026-06-01; by translator_id; get sum(words)"),
    # a time of a row against its deadline
    ("agency", "how many jobs were delivered late?", "ods.jobs; where delivered_at > due_at; get count(*)"),
    ("agency", "share of jobs delivered on time per translator", "ods.jobs; by translator_id; get -count(*), -count(*) if delivered_at <= due_at; then ratio(count(*) if delivered_at <= due_at, count(*))"),
    # a verb for a sum of money
    ("agency", "how much money did we earn in May 2026?", "ods.jobs; where ordered_at 2026-05-01..2026-06-01; get turnover"),
    # a verb that says which things
    ("school", "pupils who missed more than 3 lessons", "ods.absences; by pupil_id; get count(*); having lesson_count > 3"),
    ("school", "pupils who lost a laptop", "ods.pupils; where ods.laptops by pupil_id where is_lost = True"),
    # a denied verb for rows that point to a thing
    ("library", "members who have not borrowed anything", "ods.members; where no dwd.loans by member_id"),
    ("library", "members who have not borrowed in May 2024", "ods.members; where no dwd.loans by member_id where lent_at 2024-05-01..2024-06-01"),
    ("library", "members that did not borrow anything in May 2024", "ods.members; where no dwd.loans by member_id where lent_at 2024-05-01..2024-06-01"),
    # a unit for what is in it
    ("energy", "kWh used per household", "dwd.readings; join meter=ods.meters; by meter.household_id; get sum(usage_kwh)"),
    ("depot", "tonnes of glass collected per month", "ods.loads; where material = G; by month(weighed_at); get sum((net_kg / 1000))"),
    ("depot", "total kg in May 2024", "ods.loads; where weighed_at 2024-05-01..2024-06-01; get sum(net_kg)"),
    # a price of something
    ("depot", "drivers who earn more than 30 euros an hour", "ods.drivers; where wage_eur > 30"),
    # verbs that only name the rows
    ("library", "how often was each book borrowed in May 2024?", "dwd.loans; where lent_at 2024-05-01..2024-06-01; by book_id; get count(*)"),
    ("agency", "how many jobs did we deliver in May 2026?", "ods.jobs; where delivered_at 2026-05-01..2026-06-01; get count(*)"),
    ("shop", "share of tickets that were sold online", "ods.tickets; get -count(*), -count(*) if channel = WEB; then ratio(count(*) if channel = WEB, count(*))"),
    ("shop", "which visitor bought the most tickets?", "ods.tickets; by visitor_id; get count(*); top 1 ticket_count ties"),
    ("shop", "the 5 visitors who spent the most on tickets", "ods.tickets; by visitor_id; get takings; top 5 takings"),
    ("shop", "which exhibition earned the most money?", "ods.tickets; by exhibition_id; get takings; top 1 takings ties"),
    ("agency", "how many translators have more than 5 jobs?", "[ods.jobs; where translator_id is not null; by translator_id; get count(*); having job_count > 5]; get count(*)"),
    # what things want
    ("shop", "visitors without tickets who want letters", "ods.visitors; where no ods.tickets by visitor_id and wants_mail = True"),
    # rows that have one amount
    ("shop", "average ticket per channel", "ods.tickets; by channel; get avg(price_cents)"),
    ("shop", "average ticket value", "ods.tickets; get avg(price_cents)"),
    ("shop", "the 3 most valuable tickets", "ods.tickets; top 3 price_cents"),
    # things that only did it
    ("shop", "how much did visitors spend on tickets in May 2026?", "ods.tickets; where sold_at 2026-05-01..2026-06-01; get takings"),
    # verbs in other forms
    ("shop", "visitors that left us in 2025", "ods.visitors; where left_on 2025-01-01..2026-01-01"),
    ("shop", "current exhibitions", "ods.exhibitions; where closed_on is null"),
    ("shop", "exhibitions starting in May 2026", "ods.exhibitions; where starts_on 2026-05-01..2026-06-01"),
]  # fmt: skip

ASKED_BACK = [
    ("support", "number of days until a ticket is closed", "the average"),
    ("agency", "languages we translate into", "into"),
    ("agency", "jobs not delivered on time", "no later than"),
    ("library", "how much was borrowed in May 2024", ""),
    ("school", "pupils who never missed a lesson", "missed"),
    ("hotel", "rooms that have not been booked in May 2024", "without any then"),
    ("shop", "average ticket per visitor", "the totals"),
    # values of a column are no things
    ("shop", "how many buyers did we have in May 2026?", "different values"),
    ("library", "which member borrowed the most books?", "borrowed"),
    ("shop", "average price per exhibition and in total", "in total"),
    ("agency", "please translate this text", "opinion"),
]  # fmt: skip


@each(("schema", "wish", "wanted"), READ)
def test_read_as(schema, wish, wanted):
    assert compact(understand(wish, ALL[schema])) == wanted


@pytest.mark.parametrize(("schema", "wish", "word"), ASKED_BACK)
def test_asked_back_or_refused(schema, wish, word):
    found = understand(wish, ALL[schema])
    assert found.request is None
    assert word in compact(found)
