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
          ["exercise_id:i", "teacher_id:i>ods.teachers.teacher_id", "begun_at:t", "marked_at:t|marked", "minutes:i|duration#minutes", "is_graded:b|graded"],),
    table("ods.songs", ["song_id"], None, ["song_id:i", "title:s"]),
    table("dwd.plays", ["play_id"], "played_at", ["play_id:i", "song_id:i>ods.songs.song_id", "played_at:t|played", "hall:s"]),
    table("dwd.production", ["order_no"], "begun_at", ["order_no:i", "product:s|article", "begun_at:t", "run_minutes:i|run time#minutes"], synonyms=["run"]),
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
    (SCHOOL, "unpaid amount per payer", "ods.bills; by payer; get unpaid"),
]

ASKED_BACK = [
    (SCHOOL, "teachers without pets", "that there is none"),
    (SCHOOL, "total amount minus rebate per payer", "rebate_cents is empty"),
    (SCHOOL, "median bill amount per payer", "of single rows, or of the totals"),
    (SCHOOL, "teachers used per house", "teachers used"),
    (SCHOOL, "average duration per teacher, graded work only", "only"),
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
