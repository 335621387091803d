"""Files with characters and lines left out, doubled and replaced: each is sound or has a coded error."""

import random

import pytest

from streamhouse.errors import DefinitionErrors, Location, StreamhouseError, UnforeseenError
from streamhouse.registry.read_action import read_action
from streamhouse.registry.read_flow import read_flow
from streamhouse.sql.last_resort import guard_analysis
from tests.patience import SOAKING

COUNT = 3_000 if SOAKING else 60
ACTION = """/* ---
action: clean_orders
step: clean
version: 1.2.0
inputs:
  orders: {order_id: bigint, amount: "decimal(12,2)", ship: "struct<city:string>"}
params:
  least: {type: bigint, default: 1, description: smaller orders are dropped}
output: {primary_key: [order_id], event_time: updated_at}
expect:
  - {check: amount >= 0, on_violation: drop}
examples:
  - given: {orders: [{order_id: 1, amount: "2.50"}]}
    expect: [{order_id: 1}]
--- */
SELECT order_id, amount * 100 AS cents FROM orders WHERE amount >= :least
"""
FLOW = """flow: orders
description: Orders.
freshness: 30s
sources:
  shop: {files: {path: data/*.json, columns: {order_id: bigint, amount: "decimal(12,2)"}}}
tables:
  dwd.orders: {primary_key: [order_id], tiers: {hot: 7d, warm: 30d}, buckets: 2}
steps:
  - {use: clean_orders, with: {least: 5}, reads: {orders: shop}, writes: dwd.orders}
"""
PIECES = (
    "",
    ":",
    "- ",
    "{",
    "}",
    "[",
    "]",
    "'",
    '"',
    "\t",
    "\n",
    "  ",
    "&a ",
    "*a",
    "!!int ",
    "null",
    "-1",
    "1e999",
    "0x",
    "\x00",
    "🐟",
)


def mutated(text: str, source: random.Random) -> str:
    for _ in range(source.randint(1, 4)):
        lines = text.split("\n")
        at, other = source.randrange(len(lines)), source.randrange(len(lines))
        place = source.randrange(len(text) + 1)
        change = source.randrange(5)
        if change == 0:
            text = text[:place] + source.choice(PIECES) + text[place:]
        elif change == 1:
            text = text[:place] + source.choice(PIECES) + text[place + source.randint(1, 8) :]
        elif change == 2:
            text = "\n".join([*lines[:at], *lines[at + 1 :]])
        elif change == 3:
            text = "\n".join([*lines[:at], lines[other], *lines[at:]])
        else:
            text = text[:place]
    return text


@pytest.mark.parametrize("seed", [1, 2])
def test_no_file_crashes(seed: int) -> None:
    source, crashed = random.Random(seed), []
    for number in range(COUNT):
        read, text = (read_action, ACTION) if number % 2 else (read_flow, FLOW)
        changed = mutated(text, source)
        try:
            with guard_analysis(Location("a"), "the file"):
                read(changed, "a")
        except UnforeseenError as error:
            crashed.append(f"{error.message}\n{changed}")
        except (StreamhouseError, DefinitionErrors):
            pass
    assert crashed == []
