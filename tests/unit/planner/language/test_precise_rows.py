# ruff: noqa: E501 - one wish a line
"""Words that say which rows are meant, or of which group: none is passed over, and none turns into something shown."""

import pytest

from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact
from tests.unit.planner.wish_catalogs import catalog, table

SCHOOL = catalog(
    table("ods.teachers", ["teacher_id"], None, ["teacher_id:i", "teacher_name:s", "house:s", "quit_on:d|quit;last day", "has_car:b|car", "checked_on:d|checked", "pets:s|pet"],
          values={"house": {"N": ["north"], "S": ["south"]}, "pets": {"0": [], "1": [], "2+": []}}),
    table("ods.pupils", ["pupil_id"], None, ["pupil_id:i", "pupil_name:s"]),
    table("ods.bills", ["bill_id"], "issued_on",
          ["bill_id:i", "pupil_id:i>ods.pupils.pupil_id", "issued_on:d|issued", "paid_on:d|paid", "amount_cents:i|amount#cents", "rebate_cents:i|rebate;empty if there is none#cents", "payer:s"],
          synonyms=["invoice"], values={"payer": {"P": ["parents"], "C": ["council"]}},
          measures={"billed": {"sql": "SUM(amount_cents) / 100", "unit": "USD", "synonyms": ["billed amount"]},
                    "unpaid": {"sql": "SUM(amount_cents) FILTER (WHERE paid_on IS NULL) / 100", "unit": "USD", "synonyms": ["open amount"]}}),
    table("dwd.exercises", ["exercise_id"], "begun_at",
          ["exercise_id:i", "teacher_id:i>ods.teachers.teacher_id", "begun_at:t", "marked_at:t|marked", "minutes:i|duration#minutes", "is_graded:b|graded", "kind:s"], values={"kind": {"E": ["essay", "essays"], "T": ["test"]}},),
    table("dwd.trips", ["trip_id"], "left_at", ["trip_id:i", "line:s", "left_at:t", "days_late:i|delay#days"]),
    table("ods.songs", ["song_id"], None, ["song_id:i", "title:s", "fee_cents:i|fee#cents"]),
    table("dwd.plays", ["play_id"], "played_at", ["play_id:i", "song_id:i>ods.songs.song_id", "played_at:t|played", "hall:s"]),
    table("dwd.production", ["order_no"], "begun_at", ["order_no:i", "product:s|article", "begun_at:t", "run_minutes:i|run time#minutes"], synonyms=["run"]),
)  # fmt: skip

GARAGES = catalog(
    table("ods.garages", ["garage_id"], None, ["garage_id:i", "garage_name:s", "ramps:i", "has_gate:b|gate"]),
    table("ods.clerks", ["clerk_id"], None, ["clerk_id:i", "wage_cents:i|wage|pay#cents"]),
    table("ods.permits", ["permit_id"], "starts_on",
          ["permit_id:i", "garage_id:i>ods.garages.garage_id", "clerk_id:i>ods.clerks.clerk_id", "kind:s", "starts_on:d|starts", "state:s"],
          values={"kind": {"A": ["annual"], "N": ["night", "night permit"]}, "state": {"V": ["valid"], "X": ["void"]}}),
    table("ods.tariffs", ["tariff_id"], None, ["tariff_id:i", "tariff_name:s", "kind:s"], values={"tariff_name": {"Weekend": [], "Standard": []}, "kind": {"P": ["permit"], "H": ["hourly rate"]}}),
    table("ods.vouchers", ["voucher_id"], "given_at", ["voucher_id:i", "given_at:t"]),
    table("ods.visits", ["visit_id"], "came_at", ["visit_id:i", "tariff_id:i>ods.tariffs.tariff_id", "came_at:t", "left_at:t|left;empty while it is active", "guests:i|guest", "means_id:i>ods.means.means_id", "way:s"],
          values={"way": {"P": ["permit"], "T": ["ticket"]}}),
    table("ods.means", ["means_id"], None, ["means_id:i", "means_name:s"], values={"means_name": {"VOUCHER": ["voucher"], "CARD": []}}),
    table("ods.entries", ["entry_id"], "entered_at", ["entry_id:i", "garage_id:i>ods.garages.garage_id", "entered_at:t|entered", "booked_at:t|booked", "vehicle:s", "means:s"],
          values={"vehicle": {"E": ["electric car"], "V": ["van"]}, "means": {"C": ["card"], "A": ["app"]}}),
    table("dwd.valid_permits", ["permit_id"], "starts_on", ["permit_id:i>ods.permits.permit_id", "garage_id:i>ods.garages.garage_id", "desk:s", "starts_on:d"],
          upstream=["ods.permits"], values={"desk": {"N": ["north desk"], "S": ["south desk"]}}),
)  # fmt: skip

APP = catalog(
    table("ods.events", ["event_id"], "seen_at", ["event_id:i", "type:s", "seen_at:t", "platform:s"], values={"type": {"err": ["error", "errors"], "pv": ["page view"]}}),
    table("dws.days", ["day", "platform"], "day", ["day:t", "platform:s", "events:i", "errors:i"], upstream=["ods.events"]),
)  # fmt: skip

READ = [
    # a participle before rows requires its time
    (SCHOOL, "quit teachers", "ods.teachers; where quit_on is not null"),
    (SCHOOL, "list marked exercises", "dwd.exercises; where marked_at is not null"),
    (SCHOOL, "marked exercises longer than 20 minutes", "dwd.exercises; where minutes > 20 and marked_at is not null"),
    # rows without the time that is counted are in no period
    (
        SCHOOL,
        "quit teachers per month",
        "ods.teachers; where quit_on is not null; by month(quit_on); get count(quit_on)",
    ),
    # "not" behind what is yes or no denies what follows
    (
        SCHOOL,
        "teachers with a car not checked since 2020",
        "ods.teachers; where has_car = True and (checked_on ..2020-01-01 or checked_on is null)",
    ),
    (
        SCHOOL,
        "teachers with car not checked since 2020",
        "ods.teachers; where has_car = True and (checked_on ..2020-01-01 or checked_on is null)",
    ),
    # a column of the base, although its rows are called alike
    (SCHOOL, "average run time per product in hours", "dwd.production; by product; get avg((run_minutes / 60))"),
    # what was never done to a thing that is there
    (SCHOOL, "pupils who never paid a bill", "ods.pupils; where no ods.bills by pupil_id where paid_on is not null"),
    # the name of a measure that denies something of rows
    (SCHOOL, "unpaid bills per payer", "ods.bills; where paid_on is null; by payer; get count(*)"),
    (SCHOOL, "bills per payer", "ods.bills; by payer; get count(*)"),
    # "only" behind what is yes or no
    (
        SCHOOL,
        "average duration per teacher, graded work only",
        "dwd.exercises; where is_graded = True; by teacher_id; get avg(minutes)",
    ),
    (SCHOOL, "unpaid amount per payer", "ods.bills; by payer; get unpaid"),
    # a word for a period that is a value of the rows behind it
    # what is said of a first row
    (
        SCHOOL,
        "first exercise of each teacher that was marked",
        "dwd.exercises; where marked_at is not null; first begun_at per teacher_id",
    ),
    # a number of things, of which one is there
    (GARAGES, "visits with at least one guest", "ods.visits; where guests >= 1"),
    (GARAGES, "annual permits per garage", "ods.permits; where kind = A; by garage_id; get count(*)"),
]

ASKED_BACK = [
    (SCHOOL, "teachers without pets", "that there is none"),
    (SCHOOL, "total amount minus rebate per payer", "rebate_cents is empty"),
    (SCHOOL, "median bill amount per payer", "of single rows, or of the totals"),
    (SCHOOL, "teachers used per house", "teachers used"),
    (GARAGES, "active permits by way", "which figure is wanted"),
    (GARAGES, "visits per tariff, weekend tariff excluded", "a time, or the tariff of that name"),
    (GARAGES, "visits per tariff without vouchers", "are there no vouchers"),
    # one of two denials lost; a share, and an adjective, of which nothing is read
    (SCHOOL, "how many songs had neither fee nor play", "or"),
    (APP, "share of errors among events per platform", "among"),
    (SCHOOL, "average delay of late trips per line", "which of them are late"),
    (GARAGES, "permits starting from 2025", "within 2025, or from then on"),
    (GARAGES, "garages with ramps and gate", "must it be so, or is it to be shown"),
    (GARAGES, "electric cars entering by app", "electric cars"),
    (GARAGES, "unpaid permits", "unpaid"),
    (GARAGES, "void rate per desk", "may lack rows of ods.permits"),
    (GARAGES, "share of van entries of card entries", "is the share one of these alone"),
    (SCHOOL, "number of different songs played per hall", "no different dwd.plays.played_at"),
]  # fmt: skip


@pytest.mark.parametrize(("known", "wish", "wanted"), READ, ids=lambda part: str(part)[:40])
def test_which_rows_are_meant(known, wish, wanted):
    assert compact(understand(wish, known)) == wanted


@pytest.mark.parametrize(("known", "wish", "named"), ASKED_BACK, ids=lambda part: str(part)[:40])
def test_what_is_open_is_asked_back(known, wish, named):
    found = understand(wish, known)
    assert found.request is None
    assert named in compact(found)
