# ruff: noqa: E501 - one wish a line
"""Who is still there, alerts to others, values side by side, shares, changes; tables with some of the rows."""

from dataclasses import replace

from streamhouse.model.action import Action, Output
from streamhouse.model.types import StepKind
from streamhouse.planner.catalog import Catalog
from streamhouse.planner.language.phrasing import rephrased
from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact
from tests.unit.planner.wish_catalogs import CATALOGS, catalog, table

CLUB = catalog(
    table("ods.players", ["player_no"], None, ["player_no:i", "player_name:s", "position:s|role", "signed_on:d", "moved_on:d|moved away;day of the last match; empty while the player is active for us"],
          values={"position": {"keeper": [], "winger": []}}),
)  # fmt: skip

READ = [
    ("support", "number of tickets by email or by chat per month", "dwd.tickets; where channel in email, chat; by month(opened_at); get count(*)"),
    ("support", "Page me when an agent gets more than 30 tickets on the same day", "dwd.tickets; by agent_id, day(opened_at); get count(*); having ticket_count > 30; alert True"),
    ("support", "tell the manager when an agent gets more than 30 tickets on the same day", "dwd.tickets; by agent_id, day(opened_at); get count(*); having ticket_count > 30; alert True"),
    ("support", "how are tickets distributed over the topics, in percent of all?", "dwd.tickets; by topic; get -count(*); then share(count(*)) %"),
    ("support", "share of tickets that each topic makes up", "dwd.tickets; by topic; get -count(*); then share(count(*))"),
    ("support", "How did the number of tickets grow from week to week?", "dwd.tickets; by week(opened_at); get count(*); then change(count(*))"),
    ("support", "tickets for each day of June 2026 plus a running total", "dwd.tickets; where opened_at 2026-06-01..2026-07-01; by day(opened_at); get count(*); then running(count(*))"),
    ("support", "the 3 agents that had the most tickets", "dwd.tickets; by agent_id; get count(*); top 3 ticket_count"),
    ("support", "compare email and chat tickets by month", "dwd.tickets; where channel in email, chat; by channel, month(opened_at); get count(*)"),
    ("support", "Count the number of tickets", "dwd.tickets; get count(*)"),
    ("energy", "maximum and minimum number of people of households", "ods.households; get max(people), min(people)"),
    ("club", "players who still work here", "ods.players; where moved_on is null"),
    ("club", "players by role, without those who have left", "ods.players; where moved_on is null; by position; get count(*)"),
    ("club", "How many of our players are still with us, by role?", "ods.players; where moved_on is null; by position; get count(*)"),
]  # fmt: skip

SAID = [
    ("boats that we still use, by kind", "boats that are still with us, by kind"),
    ("boats except those that left in May", "boats except those that left in May"),
    ("boats that still wait", "boats that still wait"),
    ("tell the average of May when asked", "tell the average of May when asked"),
    ("fares in Lisbon versus fares in Porto, per week", "fares, Lisbon vs Porto, per week"),
    ("seeds in Lisbon or in Porto", "seeds in Lisbon or Porto"),
]


def test_requests_are_read_in_other_words():
    catalogs = {**CATALOGS, "club": CLUB}
    found = ((name, wish, wanted, compact(understand(wish, catalogs[name]))) for name, wish, wanted in READ)
    assert [one for one in found if one[2] != one[3]] == []


def test_a_turn_says_the_same():
    assert [(said, rephrased(wish)) for wish, said in SAID if rephrased(wish) != said] == []


def test_who_is_still_there_is_not_dropped_where_no_end_is_known():
    assert understand("agents who still work here", CATALOGS["support"]).request is None


def with_a_part(sql: str) -> Catalog:
    found = catalog(
        table("ods.calls", ["call_id"], "called_at", ["call_id:i", "kind:s|sort", "called_at:t", "answered_at:t"], values={"kind": {"sales": [], "help": []}}),
        table("dwd.taken_calls", ["call_id"], "called_at", ["call_id:i>ods.calls.call_id", "kind:s|sort", "called_at:t", "wait_s:f#s"], values={"kind": {"sales": [], "help": []}}, upstream=["ods.calls"]),
    )  # fmt: skip
    action = Action(action="taken_calls", step=StepKind.CLEAN, inputs={"calls": {}}, sql=sql, output=Output(primary_key=("call_id",)))  # fmt: skip
    tables = {**found.tables, "dwd.taken_calls": replace(found.tables["dwd.taken_calls"], action="taken_calls")}
    return Catalog(tables, found.keys, {"taken_calls": action})


def test_all_rows_count_where_a_table_has_only_some_of_them():
    part = with_a_part("SELECT call_id, kind, called_at, 1.0 AS wait_s FROM calls WHERE answered_at IS NOT NULL")
    for wish in ("calls of the sort help per month", "number of help calls per month", "sort with the most calls"):
        found = understand(wish, part)
        assert compact(found).startswith("ods.calls;"), (wish, compact(found))
    assert compact(understand("average wait per month", part)).startswith("dwd.taken_calls;")
