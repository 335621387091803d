# ruff: noqa: E501 - one wish a line
"""Everyday words for what the catalog calls otherwise: each is read in full, or asked back."""

import pytest

from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact
from tests.unit.planner.wish_catalogs import catalog, table

THEATRE = catalog(
    table("ods.members", ["member_id"], None, ["member_id:i", "member_name:s", "tier:s|subscription", "country:s", "is_patron:b|patron"],
          values={"tier": {"G": ["gold"], "S": ["silver"], "M": ["monthly"]}, "country": {"Denmark": [], "The Netherlands": [], "France": []}}),
    table("ods.plays", ["play_id"], None, ["play_id:i", "title:s", "author:s", "kind:s", "written_in:i|written#", "stage_width_m:i|width#m", "is_open_air:b|open air"],
          values={"author": {"Henrik Ibsen": [], "Anton Chekhov": [], "George Bernard Shaw": []}, "kind": {"T": ["tragedy", "tragedies"], "C": ["comedy", "comedies"]}}),
    table("ods.seats", ["seat_id"], None, ["seat_id:i", "hall:s", "places:i|place#", "stage_depth_m:d#m"]),
    table("ods.tickets", ["ticket_id"], "sold_at", ["ticket_id:i", "member_id:i>ods.members.member_id", "play_id:i>ods.plays.play_id", "sold_at:t|sold", "price_cents:i|price#cents"]),
    table("ods.repairs", ["repair_id"], "reported_at",
          ["repair_id:i", "reported_at:t|reported", "solved_at:t|solved", "paid_on:d|paid", "cost_cents:i|cost#cents", "paint_kg:i|paint#kg", "is_checked:b|checked", "workshop:s"],
          values={"workshop": {"N": ["north"], "S": ["south"]}}),
)  # fmt: skip

LAB = catalog(
    table("ods.samples", ["sample_id"], "taken_at", ["sample_id:i", "taken_at:t|taken", "arrived_at:t|arrived", "is_passed:b|passed", "grade:s|grade", "water_l:i|water#l", "station:s"],
          values={"grade": {"A": ["pure"], "B": ["fair"]}, "station": {"Old Mill": [], "New Mill": []}}),
    table("ods.wells", ["well_id"], None, ["well_id:i", "well_name:s", "depth_m:i|depth#m", "strength_pct:i|strength#percent"]),
    table("ods.fuel_sales", ["sale_id"], "sold_at", ["sale_id:i", "sold_at:t|sold", "fuel:s", "amount_cents:i|amount#cents"],
          measures={"fuel_turnover": {"sql": "SUM(amount_cents) / 100", "unit": "USD"}}, values={"fuel": {"D": ["diesel"]}}),
)  # fmt: skip

READ = [
    # a value with the name of its column
    (THEATRE, "tickets of members on the gold subscription per play", "ods.tickets; join member=ods.members; where member.tier = G; by play_id; get count(*)"),
    (THEATRE, "tickets by silver tier members per play", "ods.tickets; join member=ods.members; where member.tier = S; by play_id; get count(*)"),
    (LAB, "number of samples with the pure grade per station", "ods.samples; where grade = A; by station; get count(*)"),
    # income of rows that have one price
    (THEATRE, "ticket income per play", "ods.tickets; by play_id; get sum(price_cents)"),
    (THEATRE, "money from tickets per play in dollars", "ods.tickets; by play_id; get sum((price_cents / 100))"),
    (THEATRE, "how much money did we make with tickets per play?", "ods.tickets; by play_id; get sum(price_cents)"),
    # the opposite of what is yes or no
    (LAB, "failed samples per station", "ods.samples; where is_passed <> True; by station; get count(*)"),
    (LAB, "samples that were failed, per station", "ods.samples; where is_passed <> True; by station; get count(*)"),
    # what is denied, counted
    (LAB, "how many failed samples per station", "ods.samples; where is_passed <> True; by station; get count(*)"),
    (THEATRE, "number of unpaid repairs per workshop", "ods.repairs; where paid_on is null; by workshop; get count(*)"),
    # an adjective for a country, and for a number
    (THEATRE, "tickets of Danish members per play", "ods.tickets; join member=ods.members; where member.country = Denmark; by play_id; get count(*)"),
    (THEATRE, "number of Dutch members", "ods.members; where country = The Netherlands; get count(*)"),
    (LAB, "wells deeper than 30 m", "ods.wells; where depth_m > 30"),
    (LAB, "wells that are stronger than 5 percent", "ods.wells; where strength_pct > 5"),
    # the last word of a name
    (THEATRE, "number of plays by Ibsen", "ods.plays; where author = Henrik Ibsen; get count(*)"),
    # what was used is a total
    (THEATRE, "paint used per workshop", "ods.repairs; by workshop; get sum(paint_kg)"),
    (THEATRE, "places we have per hall", "ods.seats; by hall; get sum(places)"),
    (LAB, "water per station in total", "ods.samples; by station; get sum(water_l)"),
    # those of which it is so, and the others
    (THEATRE, "average ticket price, patrons versus others", "ods.tickets; join member=ods.members; by member.is_patron; get avg(price_cents)"),
    (THEATRE, "number of tickets for patrons and for those who are not", "ods.tickets; join member=ods.members; by member.is_patron; get count(*)"),
    # nouns for moments
    (THEATRE, "average days from report to solution", "ods.repairs; get avg(days(reported_at→solved_at))"),
    # the unit, and which rows, behind the wish
    (THEATRE, "total price per play, dollars", "ods.tickets; by play_id; get sum((price_cents / 100))"),
    (LAB, "total water per station, passed only", "ods.samples; where is_passed = True; by station; get sum(water_l)"),
    (LAB, "total water separately for each station", "ods.samples; by station; get sum(water_l)"),
    # on an average day
    (LAB, "how many samples are there on an average day?", "[ods.samples; by day(taken_at); get count(*)]; get avg(sample_count)"),
    # a verb before its value
    (THEATRE, "number of plays, comedies only", "ods.plays; where kind = C; get count(*)"),
    (LAB, "samples being graded pure", "ods.samples; where grade = A"),
    # how often
    (LAB, "how often was each station sampled", "ods.samples; by station; get count(*)"),
    # a level is a group; a slip of the finger before any name
    (THEATRE, "averge price of tickets per play", "ods.tickets; by play_id; get avg(price_cents)"),
    # columns of rows that a value names
    (THEATRE, "which tragedies are open air, with the title", "ods.plays; where kind = T and is_open_air = True; show play_id, title"),
]  # fmt: skip

ASKED_BACK = [
    # a name that goes on is no designator
    (THEATRE, "how many gold subscriptions", "gold"),
    # the oldest thing is not that of the oldest row that points to it
    (THEATRE, "oldest member of each play", "which time orders the rows of ods.members"),
    # denied of one count alone, and room that is free
    (THEATRE, "number of unpaid repairs and number of repairs per workshop", "number"),
    (THEATRE, "places available per hall", "available"),
    # billed, or paid?
    (THEATRE, "repair income per workshop", "income"),
    # two values end so, and a name without a second one
    (LAB, "samples at Mill", "Mill"),
    (THEATRE, "plays by Strindberg", "Strindberg"),
    (THEATRE, "plays by George Ibsen", "George"),
    # no such country, no such number
    (THEATRE, "number of Swedish members", "Swedish"),
    (THEATRE, "plays deeper than 3 m", "deeper"),
    # rows are no revenue
    (LAB, "revenue from fuel sales per fuel", "revenue"),
    # of single rows, or of each day's total
    (THEATRE, "average number of places per day", "places"),
    (THEATRE, "ticket sales", "ticket sales"),
]  # fmt: skip


@pytest.mark.parametrize(("known", "wish", "wanted"), READ, ids=lambda part: str(part)[:40])
def test_everyday_words_are_read(known, wish, wanted):
    assert compact(understand(wish, known)) == wanted


@pytest.mark.parametrize(("known", "wish", "named"), ASKED_BACK, ids=lambda part: str(part)[:40])
def test_what_stays_open_is_named(known, wish, named):
    found = understand(wish, known)
    said = found.refusal or " ".join(f"{one.text} {one.phrase}" for one in found.questions)
    assert found.request is None, compact(found)
    assert named in said
