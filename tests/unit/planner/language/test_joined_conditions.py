# ruff: noqa: E501 - one column a line
"""Conditions that "and" joins: a time takes the verb before it, and one row has one value of a column."""

from dataclasses import replace

import pytest

from streamhouse.model.action import Action, Output
from streamhouse.model.types import StepKind
from streamhouse.planner.catalog import Catalog
from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact
from tests.unit.planner.wish_catalogs import HOTEL, LIBRARY, SUPPORT, catalog, table


@pytest.mark.parametrize(
    ("wish", "of", "known"),
    [
        ("loans brought back after 1 March 2024 and before 1 May 2024", "returned_at", LIBRARY),
        ("loans brought back after 1 March 2024 but before 1 May 2024", "returned_at", LIBRARY),
        ("number of loans brought back after 1 March 2024 and before 1 May 2024 per branch", "returned_at", LIBRARY),
        ("tickets resolved after 1 March 2024 and before 1 May 2024", "closed_at", SUPPORT),
    ],
)
def test_a_time_takes_the_verb_of_the_time_that_and_joins_to_it(wish, of, known):
    read = compact(understand(wish, known))
    assert f"{of} 2024-03-02.." in read
    assert f"{of} ..2024-05-01" in read


def test_a_time_with_a_verb_of_its_own_keeps_it():
    read = compact(understand("loans borrowed after 1 March 2024 and brought back before 1 May 2024", LIBRARY))
    assert "lent_at 2024-03-02.." in read
    assert "returned_at ..2024-05-01" in read


@pytest.mark.parametrize(
    ("wish", "of", "known"),
    [
        ("loans brought back before 1 March 2024 and after 1 May 2024", "returned_at", LIBRARY),
        ("tickets resolved before 1 March 2024 and after 1 May 2024", "closed_at", SUPPORT),
        ("bookings before 1 March 2024 and after 1 May 2024", "booked_at", HOTEL),
    ],
)
def test_times_that_exclude_each_other_are_refused_with_the_name_of_their_column(wish, of, known):
    found = understand(wish, known)
    assert found.request is None
    assert found.refusal == f"{of} cannot be both since 2024-05-02 and before 2024-03-01"


@pytest.mark.parametrize(
    ("wish", "known"),
    [
        ("bookings which are online and cancelled and completed", HOTEL),
        ("list the bookings that were online and confirmed and cancelled", HOTEL),
        ("reservations which are ready and cancelled", LIBRARY),
    ],
)
def test_two_values_of_one_column_that_are_said_of_each_row_are_asked_about(wish, known):
    found = understand(wish, known)
    assert found.request is None
    assert "either of them, or both" in compact(found)


FINES = catalog(
    table("ods.fines", ["fine_id"], "issued_on",
          ["fine_id:i", "issued_on:d|issued", "paid_on:d|paid;day of payment, empty if not paid", "amount_eur:f|amount#EUR", "street:s"],
          synonyms=["fine"],
          measures={"fines_paid": {"sql": "SUM(CASE WHEN NOT paid_on IS NULL THEN amount_eur END)", "unit": "EUR", "synonyms": ["paid fines"]},
                    "fines_issued": {"sql": "SUM(amount_eur)", "unit": "EUR", "synonyms": ["issued fines"]}}),
)  # fmt: skip


@pytest.mark.parametrize("wish", ["fines paid per month", "paid fines per year", "paid fines in 2025"])
def test_a_word_of_a_measure_that_names_another_time_is_asked_about(wish):
    found = understand(wish, FINES)
    assert found.request is None
    assert "which time counts" in compact(found)


@pytest.mark.parametrize("wish", ["issued fines per month", "fines paid per street"])
def test_a_measure_whose_words_name_its_time_or_that_needs_none_is_read(wish):
    assert understand(wish, FINES).request is not None


def with_played(description: str) -> Catalog:
    """Games, and a table of those that have a number of sets."""
    text = f"sets:i;{description}"
    found = catalog(
        table("ods.courts", ["court_id"], None, ["court_id:i", "court_name:s"]),
        table("ods.matches", ["match_id"], "began_at",
              ["match_id:i", "court_id:i>ods.courts.court_id", "began_at:t", "result:s", text],
              values={"result": {"W": ["win", "won"], "L": ["loss", "lost"], "N": ["not played"]}}),
        table("dwd.finished", ["match_id"], "began_at",
              ["match_id:i", "court_id:i>ods.courts.court_id", "began_at:t", "result:s", text, "long:b"],
              values={"result": {"W": ["win", "won"], "L": ["loss", "lost"], "N": ["not played"]}}, upstream=["ods.matches"]),
    )  # fmt: skip
    action = Action(
        action="finished",
        step=StepKind.CLEAN,
        inputs={"matches": {}},
        sql="SELECT match_id, court_id, began_at, result, sets, sets > 3 AS long FROM matches WHERE sets IS NOT NULL",
        output=Output(primary_key=("match_id",)),
    )
    tables = {**found.tables, "dwd.finished": replace(found.tables["dwd.finished"], action="finished")}
    return Catalog(tables, found.keys, {"finished": action})


@pytest.mark.parametrize("wish", ["win rate per court", "share of wins per court"])
def test_rows_without_a_value_count_where_its_description_says_that_it_may_be_empty(wish):
    read = compact(understand(wish, with_played("number of sets; empty if nobody came")))
    assert "dwd.finished" not in read


def test_who_names_the_table_with_some_of_the_rows_means_it():
    assert compact(understand("finished per court", with_played("number of sets; empty if nobody came"))).startswith(
        "dwd.finished"
    )


def test_of_two_tables_the_refusal_is_about_the_one_with_the_column_that_the_wish_names():
    known = catalog(
        table("ods.parcels", ["parcel_id"], "posted_at", ["parcel_id:i", "posted_at:t|posted", "sent_at:t|sent"]),
        table("dwd.answered_parcels", ["parcel_id"], "posted_at",
              ["parcel_id:i>ods.parcels.parcel_id", "posted_at:t|posted", "minutes:f"], synonyms=["parcels"]),
    )  # fmt: skip
    found = understand("parcels sent before 1 March 2024 and after 1 May 2024", known)
    assert found.refusal == "sent_at cannot be both since 2024-05-02 and before 2024-03-01"
