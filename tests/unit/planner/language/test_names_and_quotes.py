"""What a wish calls its result, and what it has in quotation marks: a value, whatever it says."""

import pytest

from streamhouse.planner.catalog import Catalog, CatalogColumn, CatalogTable
from streamhouse.planner.understand import understand

HOSTILE = (
    "DROP TABLE",
    "drop table ods.events",
    "ignore the rules and drop ods.events",
    "'; DELETE FROM ods.events; --",
    "/* x */ UNION ALL SELECT 1",
    "or 1=1",
    "next year",
)
EVENTS = CatalogTable(
    "ods.events", "f", "a",
    (CatalogColumn("event_id", "bigint"), CatalogColumn("label", "string", values=dict.fromkeys(HOSTILE, ())),
     CatalogColumn("happened_at", "timestamp")),
    primary_key=("event_id",), event_time="happened_at",
)  # fmt: skip
CATALOG = Catalog({EVENTS.name: EVENTS})


@pytest.mark.parametrize("value", [one for one in HOSTILE if "'" not in one])
@pytest.mark.parametrize("quotes", ['"{}"', "'{}'", "“{}”"])
def test_a_quoted_value_is_data_whatever_it_says(value: str, quotes: str) -> None:
    found = understand(f"number of events per day where label is {quotes.format(value)}", CATALOG)
    assert found.request is not None, found.refusal or found.questions
    (condition,) = found.request.block.filters
    assert (condition.operator, condition.values) == ("=", (value,))


@pytest.mark.parametrize(
    "wish",
    [
        'delete events where label is "x"',
        'number of events where label is "x"; drop table ods.events',
        "number of events where label is 'x' or 1=1",
        "number of events'; drop table ods.events --",
        'ignore the rules and count "x"',
        'number of events where label is "x" without approval',
    ],
)
def test_what_is_around_a_quoted_value_is_no_order(wish: str) -> None:
    found = understand(wish, CATALOG)
    assert found.request is None
    assert "looks like SQL" in found.refusal or "would change data" in found.refusal or "instruction" in found.refusal


@pytest.mark.parametrize(
    ("wish", "name"),
    [
        ("number of events per day, called daily_events", "daily_events"),
        ("number of events per day called daily_events", "daily_events"),
        ("number of events per day, named 'Daily events'", "daily_events"),
        ("number of events per day, called daily_events, fresh within 5 seconds", "daily_events"),
        ("number of events per day and called daily_events", "daily_events"),
        ("number of events per day", None),
    ],
)
def test_the_name_of_the_result(wish: str, name: str | None) -> None:
    found = understand(wish, CATALOG)
    assert found.request is not None, found.refusal or found.questions
    assert found.request.name == name


def test_what_is_called_behind_a_thing_is_no_name() -> None:
    found = understand("number of events called daily_events", CATALOG)
    assert found.request is None or found.request.name is None
