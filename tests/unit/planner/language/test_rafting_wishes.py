# ruff: noqa: E501 - one wish, or one column, a line
"""Shares of what is true, whose group it is, numbers of things, questions behind the things, ends of validity."""

from benchmarks.wishes.catalogs import schema
from streamhouse.planner.language.phrasing import rephrased
from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact
from tests.unit.planner.wish_catalogs import catalog, table

RAFTING = catalog(
    table("ods.camps", ["camp_code"], None, ["camp_code:s", "camp_name:s", "beds:i"]),
    table("ods.guides", ["guide_no"], None, ["guide_no:i", "guide_name:s|name", "camp_code:s>ods.camps.camp_code", "licence_until:d|licence;last day of the licence", "hired_on:d|hired"]),
    table("ods.rafts", ["raft_no"], None, ["raft_no:i", "camp_code:s>ods.camps.camp_code", "model:s", "is_rented:b|rented"]),
    table("ods.streams", ["stream_code"], None, ["stream_code:s", "from_camp:s|origin>ods.camps.camp_code", "to_camp:s|destination>ods.camps.camp_code"], synonyms=["route"]),
    table("ods.trips", ["trip_no"], "went_at",
          ["trip_no:i", "guide_no:i>ods.guides.guide_no", "raft_no:i>ods.rafts.raft_no", "stream_code:s>ods.streams.stream_code", "went_at:t|left", "planned_on:d|planned", "weather:s|kind of weather|type of trip",
           "grown_ups:i|adults", "kids:i|children", "stars:i", "is_insured:b|insured", "answered_at:t|answered"],
          values={"weather": {"sun": ["sunny"], "rain": ["rainy"]}}),
    table("ods.bills", ["bill_no"], "written_at", ["bill_no:i", "trip_no:i>ods.trips.trip_no", "written_at:t|written", "paid_on:d|paid", "amount_cents:i|amount#cents"],
          measures={"takings": {"sql": "SUM(amount_cents) / 100", "unit": "EUR", "synonyms": ["bill sales"]}}),
)  # fmt: skip

READ = [
    ("What proportion of the trips of each weather is insured?", "ods.trips; by weather; get -count(*), -count(*) if is_insured = True; then ratio(count(*) if is_insured = True, count(*))"),
    ("what part of the trips did we answer, per weather?", "ods.trips; by weather; get -count(*), -count(*) if answered_at is not null; then ratio(count(*) if answered_at is not null, count(*))"),
    ("what percentage of trips is uninsured, by weather?", "ods.trips; by weather; get -count(*), -count(*) if is_insured <> True; then ratio(count(*) if is_insured <> True, count(*)) %"),
    ("trips of guides per camp", "ods.trips; join guide=ods.guides; by guide.camp_code; get count(*)"),
    ("number of trips of rafts per camp", "ods.trips; join raft=ods.rafts; by raft.camp_code; get count(*)"),
    ("for each camp, the guide with the most trips", "ods.trips; join guide=ods.guides; by guide.camp_code, guide_no; get count(*); top 1 trip_count per camp_code ties"),
    ("number of trips by destination camp", "ods.trips; join stream=ods.streams; by stream.to_camp; get count(*)"),
    ("number of trips per origin camp", "ods.trips; join stream=ods.streams; by stream.from_camp; get count(*)"),
    ("adults and children per month", "ods.trips; by month(went_at); get sum(grown_ups), sum(kids)"),
    ("kids by stream, two columns please", "ods.trips; by stream_code; get sum(kids)"),
    ("the two largest bills of every guide", "ods.bills; join trip=ods.trips; by trip.guide_no, bill_no; get sum(amount_cents); top 2 amount_cents per guide_no"),
    ("bill sales per month", "ods.bills; by month(written_at); get takings"),
    ("first trip of every guide, when it left and in which weather", "ods.trips; first went_at per guide_no; show guide_no, went_at, weather"),
    ("last trip of each raft, the date, and whether it was insured", "ods.trips; last went_at per raft_no; show raft_no, went_at, is_insured"),
    ("latest trip of every guide, the weather and when", "ods.trips; last went_at per guide_no; show guide_no, weather, went_at"),
    ("guides whose licence ends before 2027", "ods.guides; where licence_until ..2027-01-01"),
    ("guides whose licence expired in March 2026", "ods.guides; where licence_until 2026-03-01..2026-04-01"),
    ("the two most frequent types of trip per stream", "ods.trips; by stream_code, weather; get count(*); top 2 row_count per stream_code"),
    ("most frequent weather of trips", "ods.trips; by weather; get count(*); top 1 row_count ties"),
    ("trips per day, please refresh it every minute", "ods.trips; by day(went_at); get count(*); freshness 0:01:00"),
    ("trips that are not insured, by weather, and keep it fresh every 30 seconds", "ods.trips; where is_insured <> True; by weather; get count(*); freshness 0:00:30"),
    ("wich trips are insured", "ods.trips; where is_insured = True"),
    ("Please give me the names of our top 3 guides by takings", "ods.bills; join trip=ods.trips, guide=ods.guides; by trip.guide_no, guide.guide_name; get takings; top 3 takings"),
]  # fmt: skip
ASKED = [
    "number of trips per camp",
    "children on trips in May 2026",
    "stars per stream",
    "beds per camp name",
    "most frequent types of trip",
    "first trip of every guide, when it was paid",
    "guides whose name ends before May 2026",
    "guides whose hired ended before May 2026",
    "first trip of every guide, with the beds",
    "for each camp, the trips",
    "largest bills of each guide",
]

SAID = [
    ("which 2 streams did we take most often", "which 2 streams were taken most often"),
    ("What proportion of the rafts in use is new?", "What proportion of the rafts in use is new?"),
    ("what share of trips did each guide lead", "what share of trips did each guide lead"),
]


def test_wishes_are_read():
    found = ((wish, wanted, compact(understand(wish, RAFTING))) for wish, wanted in READ)
    assert [one for one in found if one[1] != one[2]] == []


def test_what_has_two_meanings_is_asked():
    assert [wish for wish in ASKED if understand(wish, RAFTING).request is not None] == []


def test_rows_with_what_was_done_are_no_measure_of_a_similar_name():
    assert understand("bills sold per month", RAFTING).request is None
    assert compact(understand("bills written per month", RAFTING)) == "ods.bills; by month(written_at); get count(*)"


def test_a_turn_says_the_same():
    assert [(said, rephrased(wish)) for wish, said in SAID if rephrased(wish) != said] == []


def test_who_is_meant_and_what_decides_is_said():
    found = understand("for each camp, the guide with the most trips", RAFTING)
    assert any("'camp' is" in one for one in found.assumptions)
    found = understand("the two largest bills of every guide", RAFTING)
    assert any("amount_cents" in one for one in found.assumptions)


def test_things_with_rows_of_their_own_are_no_number_of_another_table():
    chess = schema("chess").catalog
    assert [one.phrase for one in understand("games per player", chess).questions] == ["player"]
    assert compact(understand("rated games per player", chess)) == "ods.ratings; by player_id; get sum(rated_games)"
