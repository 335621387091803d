"""What clients read names tools, and a command only as what a person types."""

import click
import pytest

from streamhouse.cli.main import streamhouse
from streamhouse.mcp_server.commands import COMMANDS, for_client


def test_all_commands_are_known():
    assert set(streamhouse.list_commands(click.Context(streamhouse))) == COMMANDS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ask again; streamhouse ask WISH", "ask again; the tool 'ask'"),
        ("look at the files: streamhouse ask WISH --write DIR", "look at the files: the tool 'ask'"),
        ("see: streamhouse action list", "the tool 'search'"),
        ("see: streamhouse status", "the tool 'diagnose'"),
        ("an edit of its files waits: streamhouse plan", "an edit of its files waits: the tool 'plan'"),
        ("(streamhouse validate), or", "(the tool 'validate'), or"),
        ("`streamhouse plan FLOW` shows it", "the tool 'plan' shows it"),
        (
            "see what it does: streamhouse plan orders; then: streamhouse apply orders --yes",
            "see what it does: the tool 'plan'; then: a person types: streamhouse apply orders --yes",
        ),
        ("it stopped (streamhouse run orders)", "it stopped (a person types: streamhouse run orders)"),
        ("a person can query: streamhouse query; or not", "a person can query: streamhouse query; or not"),
        ("wait for a person: streamhouse approvals orders", "wait for a person: streamhouse approvals orders"),
        ("streamhouse of cards, streamhouse planner", "streamhouse of cards, streamhouse planner"),
    ],
)
def test_a_command_becomes_the_tool(text, expected):
    assert for_client(text) == expected


def test_hints_of_tools_name_tools(call, project):
    (project.root / "flows/empty.yaml").write_text("flow: empty\nsteps:\n  - {use: nothing_like_it, writes: ods.x}\n")
    [error] = call("validate").document["errors"]
    assert error["hint"] == "the tool 'search'"


def test_an_edit_of_a_part_that_is_not_there_names_those_that_are(call):
    found = call("ask", wish="quantity per product").document
    error = call("revise", proposal=found["proposal"], edits={"block.filter": []}).error
    assert "streamhouse" not in error["hint"]
    assert "filters" in error["hint"]
