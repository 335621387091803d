# ruff: noqa: E501 - one wish, or one column, a line
"""Bare numbers with a bound, bounds behind a flag, how long things take, sums of a period, and values that were not noted."""

import pytest

from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact
from tests.unit.planner.wish_catalogs import catalog, table

CAMPSITE = catalog(
    table("ods.pitches", ["pitch_no"], None,
          ["pitch_no:i", "pitch_kind:s|kind of pitch", "price_eur:f|price|price per night#EUR", "at_lake:b|at the lake|lake;whether it is at the lake", "has_power:b|power;whether there is electricity", "area_m2:f|area#m2", "boat_place:b|place for a boat", "given_up_on:d|gave up|taken out of use;day since which it is no longer let; empty while it is let"],
          synonyms=["place"], values={"pitch_kind": {"TNT": ["tent", "tents"], "CAR": ["caravan", "caravans"]}}),
    table("ods.guests", ["guest_no"], None,
          ["guest_no:i", "guest_name:s", "country:s", "gave_notice_on:d|gave notice;day on which the guest gave notice; empty if not", "signed_up_on:d|signed up;first day", "age:i", "guest_kind:s"],
          values={"guest_kind": {"FAM": ["family", "families"], "CLB": ["club", "clubs"]}, "country": {"NL": ["Dutch"], "DE": ["German"]}}),
    table("ods.stays", ["stay_no"], "arrived_at",
          ["stay_no:i", "pitch_no:i>ods.pitches.pitch_no", "guest_no:i>ods.guests.guest_no", "arrived_at:t|arrived", "left_at:t|departed;empty while there", "people:i|persons", "deposit_eur:f|deposit;empty if none was asked#EUR", "tip_eur:f|tip#EUR", "paid_by:s|payment method"],
          values={"paid_by": {"C": ["card"], "K": ["cash"]}}, measures={"stays": {"sql": "COUNT(*)"}, "tips": {"sql": "SUM(tip_eur)", "unit": "EUR"}}),
    table("ods.repairs", ["repair_no"], "reported_at",
          ["repair_no:i", "pitch_no:i>ods.pitches.pitch_no", "reported_at:t|reported", "mended_at:t|mended;empty while it is not", "inspected_on:d|inspected", "parts_eur:f|spare parts#EUR", "minutes:i|duration#minutes", "plumber:s"], measures={"repairs": {"sql": "COUNT(*)"}}),
    table("ods.readings", ["reading_no"], "read_at",
          ["reading_no:i", "pitch_no:i>ods.pitches.pitch_no", "read_at:t", "water_l:f|water#litres", "pressure:f#bar;empty if it was not measured", "is_checked:b|checked"], measures={"water_used": {"sql": "SUM(water_l)", "unit": "litres"}}),
    table("ods.fines", ["fine_no"], "fined_on", ["fine_no:i", "guest_no:i>ods.guests.guest_no", "fined_on:d", "fee_eur:f|fee#EUR"]),
    table("ods.complaints", ["complaint_no"], "made_on", ["complaint_no:i", "pitch_no:i>ods.pitches.pitch_no", "made_on:d", "topic:s", "refund_eur:f|refund#EUR"],
          values={"topic": {"BOAT": ["lost boat"], "NOISE": ["noise", "loud"]}}, measures={"complaints": {"sql": "COUNT(*)"}}),
    table("ods.permits", ["permit_no"], "issued_on", ["permit_no:i", "issued_on:d", "fee_eur:f|fee#EUR"]),
)  # fmt: skip

READ = [
    # rows by a number that only they have
    ("deposits over 100 euros", "ods.stays; where deposit_eur > 100"),
    ("tips of more than 5 euros in 2025", "ods.stays; where tip_eur > 5 and arrived_at 2025-01-01..2026-01-01"),
    ("list all tips above 5 euros paid by card", "ods.stays; where tip_eur > 5 and paid_by = C"),
    ("how many deposits above 100 euros in 2025", "ods.stays; where deposit_eur > 100 and arrived_at 2025-01-01..2026-01-01; get count(*)"),
    # sums of groups stay what they are
    ("tips over 5 euros per payment method", "ods.stays; by paid_by; get tips; having tips > 5"),
    # a bound of the rows behind what is yes or no of them
    ("pitches at the lake under 30 euros", "ods.pitches; where price_eur < 30 and at_lake = True"),
    ("pitches with power for less than 30 EUR", "ods.pitches; where price_eur < 30 and has_power = True"),
    ("tents at the lake over 80 m2", "ods.pitches; where area_m2 > 80 and pitch_kind = TNT and at_lake = True"),
    # deeds in several words, of which rows have a time or none
    ("guests who gave notice", "ods.guests; where gave_notice_on is not null"),
    ("guests that gave notice in 2025", "ods.guests; where gave_notice_on 2025-01-01..2026-01-01"),
    # what was not noted
    ("readings where the pressure was not measured", "ods.readings; where pressure is null"),
    ("readings for which no pressure was recorded", "ods.readings; where pressure is null"),
    # a number that a measure sums, in a period
    ("water of tents in June 2025", "ods.readings; join pitch=ods.pitches; where pitch.pitch_kind = TNT and read_at 2025-06-01..2025-07-01; get sum(water_l)"),
    ("water in 2025", "ods.readings; where read_at 2025-01-01..2026-01-01; get sum(water_l)"),
    # money by its name
    ("how much did we spend on spare parts in 2025", "ods.repairs; where reported_at 2025-01-01..2026-01-01; get sum(parts_eur)"),
    # a price by its verb, in a question
    ("which pitches cost more than 30 euros", "ods.pitches; where price_eur > 30"),
    # how long things take
    ("how long do repairs take per plumber", "ods.repairs; by plumber; get avg(minutes)"),
    ("how long until a repair is mended, on average, in hours", "ods.repairs; get avg(hours(reported_at→mended_at))"),
    # by a value that they have, counted by what they did
    ("how many clubs arrived in 2025", "ods.stays; join guest=ods.guests; where guest.guest_kind = CLB and arrived_at 2025-01-01..2026-01-01; get count distinct(guest_no)"),
    ("how many clubs signed up in 2025", "ods.guests; where guest_kind = CLB and signed_up_on 2025-01-01..2026-01-01; get count(signed_up_on)"),
    ("days until a repair is mended, on average per plumber", "ods.repairs; by plumber; get avg(days(reported_at→mended_at))"),
]  # fmt: skip

NOT_READ = [
    "fees over 20 euros",  # of fines, or of permits
    "people over 6",  # so many, or so old
    "average of tips over 5 euros",
    "guests who gave notice late",
    "guests who signed up",  # all of them did
    "readings where the pressure was not checked",  # a column is called so
    "readings where no pressure was not measured",
    "water of tents",  # of which time?
    "area of tents in 2025",
    "how much did we spend on pitches in 2025",
    "how long does it take per plumber",
    "how many families stay with us",  # the families, or their stays
    "number of pitches with boat",  # BOAT is the code of a lost boat, and some pitches have a place for one
    "total of all complaints about noise",  # how many, or what was refunded
    "who inspected the most pitches",  # only a day is called so
]


@pytest.mark.parametrize(("wish", "request_"), READ)
def test_plain_talk_is_read(wish, request_):
    assert compact(understand(wish, CAMPSITE)) == request_


@pytest.mark.parametrize("wish", NOT_READ)
def test_what_may_mean_something_else_is_not_read(wish):
    assert compact(understand(wish, CAMPSITE)).startswith(("ASKS", "REFUSED"))
