from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import permutations

import pytest

from benchmarks.wishes.judge import Rows, Rules, difference


def rows(columns: str, *found: tuple) -> Rows:
    return Rows(tuple(columns.split()), found)


SALES = rows("store revenue", ("a", 1.5), ("b", 2.0), ("b", 2.0), (None, 7.0))


def is_right(reference, result, **rules):
    return difference(reference, result, Rules(**rules)) is None


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_rows_are_a_multiset(order):
    assert is_right(SALES, Rows(SALES.columns, tuple(SALES.rows[n] for n in order)))


@pytest.mark.parametrize(
    "result",
    [
        rows("store revenue", ("a", 1.5), ("b", 2.0), (None, 7.0)),  # one of two equal rows lacks
        rows("store revenue", ("a", 1.5), ("a", 1.5), ("b", 2.0), (None, 7.0)),  # another row twice
        rows("store revenue", ("a", 1.5), ("b", 2.0), ("b", 2.0), ("c", 7.0)),
        rows("store revenue", ("a", 1.5), ("b", 2.0), ("b", 2.0), (None, None)),
        rows("store revenue", ("a", 2.0), ("b", 1.5), ("b", 2.0), (None, 7.0)),  # right columns, other rows
        rows("revenue", (1.5,), (2.0,), (2.0,), (7.0,)),
        rows("store revenue"),
    ],
)
def test_other_rows_are_wrong(result):
    assert not is_right(SALES, result)


def test_the_order_of_rows_counts_where_it_is_asked_for():
    turned = Rows(SALES.columns, SALES.rows[::-1])
    assert is_right(SALES, turned)
    assert not is_right(SALES, turned, ordered=True)
    assert is_right(SALES, SALES, ordered=True)


def test_names_and_order_of_columns_do_not_count():
    assert is_right(SALES, rows("x y", *((revenue, store) for store, revenue in SALES.rows)))


def test_columns_with_equal_values_are_told_apart_by_their_rows():
    reference = rows("first last n", (1, 2, 10), (2, 1, 20))
    assert is_right(reference, rows("a b c", (10, 2, 1), (20, 1, 2)))
    assert not is_right(reference, rows("a b c", (1, 1, 10), (2, 2, 20)))


@pytest.mark.parametrize(
    "value", [3, 3.0, Decimal("3.00"), 3.000001, 2.9999985], ids=["int", "float", "decimal", "above", "below"]
)
def test_numbers_are_compared_by_value(value):
    assert is_right(rows("n m", (3, "x"), (9, "y")), rows("n m", (value, "x"), (9, "y")))


@pytest.mark.parametrize("value", [3.00001, -3, 2.9999, "3", None, True])
def test_other_values_are_wrong(value):
    assert not is_right(rows("n", (3,), (9,)), rows("n", (value,), (9,)))


def test_small_numbers_are_as_close_as_large_ones():
    share = rows("share", (0.0001,), (0.0,))
    assert is_right(share, rows("share", (0.00010000001,), (1e-12,)))
    assert not is_right(share, rows("share", (0.0001005,), (0.0,)))


def test_true_is_not_one_and_not_a_number_is_itself():
    assert not is_right(rows("b", (True,)), rows("b", (1,)))
    assert is_right(rows("n", (float("nan"),)), rows("n", (float("nan"),)))


def test_a_date_is_the_begin_of_its_day():
    day = rows("day", (date(2025, 5, 1),))
    assert is_right(day, rows("day", (datetime(2025, 5, 1, tzinfo=UTC),)))
    assert is_right(day, rows("day", (datetime(2025, 5, 1),)))
    assert not is_right(day, rows("day", (datetime(2025, 5, 1, 1, tzinfo=UTC),)))


def test_money_in_another_unit_is_right_only_where_the_unit_is_open():
    cents = rows("store revenue", *((store, 100 * revenue) for store, revenue in SALES.rows))
    assert not is_right(SALES, cents)
    assert is_right(SALES, cents, or_times={"revenue": 100})
    assert is_right(SALES, SALES, or_times={"revenue": 100})
    assert not is_right(cents, SALES, or_times={"revenue": 100})


def test_a_unit_is_one_for_the_whole_column():
    mixed = rows("store revenue", ("a", 150), ("b", 2.0), ("b", 200), (None, 700))
    assert not is_right(SALES, mixed, or_times={"revenue": 100})


def test_a_further_text_or_key_is_allowed_and_a_further_number_is_not():
    named = rows("id name n", (1, "x", 10), (2, "y", 20))
    plain = rows("id n", (1, 10), (2, 20))
    assert is_right(plain, named)
    assert not is_right(rows("name n", ("x", 10), ("y", 20)), named)
    assert is_right(rows("name n", ("x", 10), ("y", 20)), named, labels={"id"})
    assert is_right(rows("name n", ("x", 10), ("y", 20)), named, further=True)


def test_one_of_several_names_of_a_group_is_enough():
    reference = rows("id name n", (1, "x", 10), (2, "y", 20))
    choice = {"one_of": (("id", "name"),)}
    assert is_right(reference, reference, **choice)
    assert is_right(reference, rows("station rides", (1, 10), (2, 20)), **choice)
    assert is_right(reference, rows("station rides", ("x", 10), ("y", 20)), **choice)
    assert not is_right(reference, rows("rides", (10,), (20,)), **choice)
    assert not is_right(reference, rows("station rides", ("y", 10), ("x", 20)), **choice)


def test_an_optional_column_may_lack_and_may_not_be_wrong():
    reference = rows("id n", (1, 10), (2, 20))
    assert is_right(reference, rows("id", (1,), (2,)), optional=("n",))
    assert not is_right(reference, rows("id"), optional=("n",))
    assert not is_right(reference, rows("id n", (1, 11), (2, 20)), optional=("n",))


def test_what_differs_is_named():
    text = difference(SALES, rows("store revenue", *((store, 0) for store, _ in SALES.rows)), Rules())
    assert text is not None
    assert text.startswith("no column has the values of revenue; only the reference has (store, revenue): ")
    less = difference(SALES, rows("shop income", *SALES.rows[1:]), Rules())
    assert less is not None
    assert less.startswith("3 rows instead of 4; reference (store, revenue): ")


def test_of_rows_only_those_that_differ_are_shown():
    text = difference(SALES, Rows(SALES.columns, (*SALES.rows[:3], ("c", 7.0))), Rules())
    assert text is not None
    assert text.endswith("only the reference has (store, revenue): None, 7; only the result has (store, revenue): c, 7")
