"""Each function of Spark is taken, or refused for a reason, and no other name is."""

from streamhouse.sql import functions
from streamhouse.sql.admit import QUERY_FUNCTIONS, TABLE_FUNCTIONS
from streamhouse.sql.arity import ARITY
from streamhouse.sql.refused import OPERATORS, REFUSED
from tests.spark_functions import names

_GRAMMAR = frozenset({"timestampadd", "timestampdiff"})
"""Words of Spark's grammar that look like functions and are on no list."""


def test_each_function_has_one_verdict() -> None:
    verdicts = [functions.KNOWN | TABLE_FUNCTIONS, frozenset(REFUSED), OPERATORS]
    for name in names():
        assert sum(name in verdict for verdict in verdicts) == 1, name


def test_no_other_name_has_a_verdict() -> None:
    assert (functions.KNOWN | TABLE_FUNCTIONS | REFUSED.keys() | OPERATORS) - set(names()) == _GRAMMAR


def test_a_query_may_call_what_an_action_may() -> None:
    assert functions.KNOWN <= QUERY_FUNCTIONS


def test_arguments_are_counted() -> None:
    """Functions that take any number of arguments are not in the table."""
    any_number = {
        *("array", "arrays_zip", "concat", "dense_rank", "grouping_id", "map", "map_concat", "named_struct"),
        *("percent_rank", "rank", "struct"),
    }
    assert functions.KNOWN - ARITY.keys() == any_number
