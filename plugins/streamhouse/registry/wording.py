"""The words of messages about values of the wrong shape: what a person could write instead."""

from typing import Any

from streamhouse.registry.yaml_nodes import KeyPath

MISSING = {
    "flow": "begin with its name: 'flow: orders'",
    "action": "begin with its name: 'action: clean_orders'",
    "step": "write one of: ingest, clean, aggregate, customize",
    "inputs": "say what the SQL reads: 'inputs: {orders: {order_id: bigint}}'",
    "steps": "a flow has at least one step: '- {use: clean_orders, reads: {orders: ods.orders}, writes: dwd.orders}'",
    "use": "name an action: 'use: clean_orders'",
    "writes": "name the table this step fills: 'writes: dwd.orders'",
    "type": "write a Spark SQL type: 'type: int'",
    "table": "name a source or a table: 'table: ods.products'",
    "check": "write a condition: 'check: \"amount >= 0\"'",
    "given": "give the rows of each input: 'given: {orders: [{order_id: 1}]}'",
    "expect": "list the rows that come out: 'expect: [{order_id: 1}]'",
    "sql": "write what is computed: 'sql: SUM(revenue_cents) / 100'",
    "until": "write the day from which it may be missing: 'until: 2027-01-31'",
}
SHAPES_OF_KEYS = {
    "reads": "map each input of the action to a table: 'reads: {orders: ods.orders}'",
    "steps": "begin each step with '- '",
    "with": "map parameters to values: 'with: {min_quantity: 2}'",
    "params": "map each parameter to its type: 'params: {min_quantity: {type: int, default: 1}}'",
    "inputs": "map each input to its columns: 'inputs: {orders: {order_id: bigint}}'; {} takes any columns",
    "tiers": "say how long each tier keeps rows: 'tiers: {hot: 1h, warm: 30d, cold: forever}'",
    "tables": "map tables to options: 'tables: {dwd.orders: {tiers: {hot: 1h, warm: 30d}}}'",
    "primary_key": "write 'primary_key: [order_id]'",
    "bucket_key": "write 'bucket_key: [order_id]'",
    "partition_by": "write 'partition_by: [order_day]'",
    "tags": "write 'tags: [sales]'",
    "version": "write three numbers, such as 'version: 1.0.0'",
    "examples": "begin each example with '- '",
    "sources": "map names to sources: 'sources: {shop: {files: {path: data/orders}}}'",
    "output": "write 'output: {primary_key: [order_id]}'",
    "expect": "map names to conditions: 'expect: {positive: {check: \"amount >= 0\"}}'",
    "schema_change": "name a policy: 'schema_change: evolve', or map: 'schema_change: {on: {drop_column: freeze}}'",
    "on": "map events to policies: 'on: {drop_column: freeze, add_column: evolve}'",
    "include": "list events: 'include: [add_column]'",
    "exclude": "list events: 'exclude: [drop_column]'",
    "layers": "map layers to policies: 'layers: {dws: evolve}'",
}
SHAPES = {
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "mapping_type": "a mapping",
    "list_type": "a list",
    "tuple_type": "a list",
    "string_type": "text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "time_delta_type": "a duration",
    "time_delta_parsing": "a duration",
}


SYNONYMS = {
    "params": "with",
    "parameters": "params",
    "name": "flow",
    "action": "use",
    "from": "reads",
    "inputs": "reads",
    "input": "reads",
    "to": "writes",
    "output": "writes",
    "mode": "as",
    "kind": "step",
    "schema": "inputs",
    "tests": "examples",
    "retention": "tiers",
}
"""Keys people know from elsewhere → ours; used where ours is known and theirs is not."""

_BY_PARENT = {
    "params": "write its type: '{key}: {{type: int}}'",
    "inputs": "write its columns: '{key}: {{order_id: bigint}}'; {{}} takes any columns",
    "reads": "name one table: '{key}: ods.orders'",
    "tables": "write its options: '{key}: {{buckets: 4}}'",
    "expect": "write a condition: '{key}: {{check: \"amount >= 0\"}}'",
    "steps": "write '- {{use: clean_orders, reads: {{orders: ods.orders}}, writes: dwd.orders}}'",
    "examples": "write '- {{given: {{orders: [{{order_id: 1}}]}}, expect: [{{order_id: 1}}]}}'",
    "given": "list its rows: '{key}: [{{order_id: 1}}]'",
}


def shape_hint(path: KeyPath, otherwise: str) -> str:
    """What to write at `path`, where something of another shape stands."""
    key = str(path[-1]) if path else ""
    parent = str(path[-2]) if len(path) > 1 else ""
    if parent in _BY_PARENT:
        return _BY_PARENT[parent].format(key=key)
    if len(path) == 3 and path[0] == "inputs":
        return f"write its type: '{key}: bigint'"
    return SHAPES_OF_KEYS.get(key) or MISSING.get(key) or otherwise


def named(path: KeyPath) -> str:
    """`'owner'`, `item 2 of 'steps'`: what a person calls the thing at `path`."""
    if not path:
        return "the file"
    if isinstance(path[-1], int):
        return f"item {path[-1] + 1} of '{path[-2]}'" if len(path) > 1 else f"item {path[-1] + 1}"
    return f"'{path[-1]}'"


def shown(value: Any) -> str:
    """A value as a person wrote it, or what it is when that is long."""
    match value:
        case bool():
            return str(value).lower()
        case int() | float():
            return f"the number {value}"
        case str():
            return f"'{value}'" if len(value) <= 40 else "text"
        case dict():
            return "a mapping"
        case list() | tuple():
            return "a list"
    return "this"
