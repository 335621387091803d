# ruff: noqa: E501 - one wish, or one table, a line
"""Times of lines, both sides of a condition, states of amounts, pieces of values, and deeds that are still open."""

import pytest

from benchmarks.wishes.catalogs import schema
from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact
from tests.unit.planner.wish_catalogs import catalog, table

BAKERY = catalog(
    table("ods.cakes", ["cake_no"], None, ["cake_no:s", "cake_name:s|name", "sort:s|kind of cake", "price_eur:f|price#EUR", "needs_cooling:b|cooling", "stopped_on:d|stopped;day on which it was baked for the last time; empty if it is still baked"],
          synonyms=["product"], values={"sort": {"TRT": ["tart", "tarts"], "MUF": ["muffin", "muffins"]}}),
    table("ods.guests", ["guest_no"], None, ["guest_no:i", "guest_name:s|name", "phone:s|telephone", "kind:s|type of guest", "came_on:d|registered;day of the first order"],
          synonyms=["customer"], description="People who order cakes.", values={"kind": {"P": ["private"], "F": ["company", "companies"]}}),
    table("ods.sales", ["sale_no"], "sold_at", ["sale_no:i", "guest_no:i>ods.guests.guest_no", "sold_at:t|sold|ordered", "way:s|way of ordering", "paid_eur:f|payment#EUR;what was paid; empty while it is open"],
          synonyms=["order"], values={"way": {"T": ["phone", "telephone"], "S": ["shop", "counter"], "W": ["website"]}},
          measures={"sales": {"sql": "COUNT(*)", "synonyms": ["orders"]}, "payments": {"sql": "SUM(paid_eur)", "unit": "EUR"}}),
    table("ods.sale_lines", ["line_no"], None, ["line_no:i", "sale_no:i>ods.sales.sale_no", "cake_no:s>ods.cakes.cake_no", "pieces:i|quantity"],
          measures={"pieces_sold": {"sql": "SUM(pieces)", "synonyms": ["units sold"]}}),
    table("ods.trays", ["tray_no"], "lent_on", ["tray_no:i", "guest_no:i>ods.guests.guest_no", "material:s|kind of tray", "lent_on:d|lent|borrowed", "back_on:d|brought back;day on which it came back; empty while it is out"],
          synonyms=["loan"], values={"material": {"WOD": ["wood"], "STL": ["steel"]}}),
    table("ods.batches", ["batch_no"], "begun_at", ["batch_no:i", "cake_no:s>ods.cakes.cake_no", "begun_at:t", "oven_minutes:i#minutes", "ended:s|result;how it ended", "baker:s"],
          values={"ended": {"OK": ["good"], "BRN": ["burnt"], "FEL": ["fallen apart"]}},
          measures={"baking_minutes": {"sql": "SUM(oven_minutes)", "unit": "minutes", "synonyms": ["minutes baked"]}}),
)  # fmt: skip

READ = [
    # the time of a line is that of its sale, and not the last day of a cake
    ("pieces sold per month", "ods.sale_lines; join sale=ods.sales; by month(sale.sold_at); get pieces_sold"),
    ("top 3 cakes by units sold", "ods.sale_lines; by cake_no; get pieces_sold; top 3 pieces_sold"),
    ("how many muffins were sold per month", "ods.sale_lines; join sale=ods.sales, cake=ods.cakes; where cake.sort = MUF; by month(sale.sold_at); get pieces_sold"),
    # a way by which something came, though a column is called so
    ("orders over the phone per month", "ods.sales; where way = T; by month(sold_at); get sales"),
    ("what share of our orders comes from the website?", "ods.sales; get -sales, -sales if way = W; then ratio(sales if way = W, sales)"),
    ("orders over the website vs over the counter per month", "ods.sales; where way in W, S; by way, month(sold_at); get sales"),
    # one group for yes and one for no
    ("number of cakes by whether they need cooling", "ods.cakes; by needs_cooling; get count(*)"),
    ("how many cakes need cooling and how many don't?", "ods.cakes; by needs_cooling; get count(*)"),
    # two periods, two values
    ("orders in March 2026 compared with April 2026, by way of ordering", "ods.sales; where sold_at 2026-03-01..2026-05-01; by month(sold_at), way; get sales"),
    ("number of good batches and number of burnt batches per baker", "ods.batches; by baker; get count(*) if ended = OK, count(*) if ended = BRN"),
    ("good batches and burnt batches per baker", "ods.batches; by baker; get count(*) if ended = OK, count(*) if ended = BRN"),
    ("number of private vs company guests", "ods.guests; where kind in P, F; by kind; get count(*)"),
    # how many of each
    ("kinds of cakes, how many of each", "ods.cakes; by sort; get count(*)"),
    ("how often were batches burnt", "REFUSED"),
    # amounts that are open
    ("open payments", "ods.sales; where paid_eur is null"),
    ("number of open orders", "ods.sales; where paid_eur is null; get count(*)"),
    # who did what, and what each row has anyway
    ("who registered in March 2026?", "ods.guests; where came_on 2026-03-01..2026-04-01"),
    ("number of guests who borrowed a kind of tray each month", "ods.trays; by month(lent_on); get count distinct(guest_no)"),
    # a measure in another unit
    ("hours baked per baker", "ods.batches; by baker; get sum((oven_minutes / 60))"),
]  # fmt: skip

ASKED = [
    ("number of private and company guests", "one number for all of them, or one for each?"),
    ("wood not brought back yet", "REFUSED"),
    ("trays by whether they are heavy", "REFUSED"),
]


@pytest.mark.parametrize(("wish", "request_"), READ)
def test_a_wish_is_read(wish, request_):
    assert compact(understand(wish, BAKERY)).startswith(request_)


@pytest.mark.parametrize(("wish", "asked"), ASKED)
def test_what_two_readings_answer_differently_is_asked(wish, asked):
    assert asked in compact(understand(wish, BAKERY))


@pytest.mark.parametrize(
    ("known", "wish", "asked"),
    [
        ("library", "books not returned yet", "'not returned yet': a row of ods.loans without returned_at"),
        ("nursery", "average order value per buyer", "'order value': which figure is meant"),
        ("toolhire", "tools not returned yet", "a row of ods.hires that is so"),
        ("vet", "emergencies and no-shows per vet", "a number of each, or of those that are both?"),
        ("airline", "cancelled flights and delayed flights per month", "a number of each, or of those that are both?"),
    ],
)
def test_it_is_asked_over_other_tables(known, wish, asked):
    assert asked in compact(understand(wish, schema(known).catalog))


@pytest.mark.parametrize(
    ("known", "wish", "request_"),
    [
        (
            "vet",
            "emergency visits and no-show visits per vet",
            "ods.visits; by vet_id; get count(*) if is_emergency = True, count(*) if no_show = True",
        ),
        ("vet", "visits that are no-shows and emergencies", "ods.visits; where no_show = True and is_emergency = True"),
        (
            "vet",
            "visits that are emergencies and no-shows per vet",
            "ods.visits; where is_emergency = True and no_show = True; by vet_id; get visits",
        ),
        ("vet", "registrations per month", "ods.owners; by month(joined_on); get count(*)"),
        (
            "driving",
            "how many exams were passed and how many were not, per month",
            "ods.exams; by is_passed, month(taken_at); get count(*)",
        ),
        (
            "hotel",
            "bookings per channel, cancelled bookings left out",
            "ods.bookings; where status <> CXL; by channel_code; get count(*)",
        ),
        (
            "brewery",
            "orders in 2026 compared with 2025 per customer",
            "ods.orders; where ordered_at 2025-01-01..2027-01-01; by year(ordered_at), customer_no; get orders",
        ),
    ],
)
def test_it_is_read_over_other_tables(known, wish, request_):
    assert compact(understand(wish, schema(known).catalog)).startswith(request_)
