"""Durations, sizes and types that mean nothing are refused where they are written, with what to write instead."""

import pytest

from streamhouse.errors import DefinitionErrors, StreamhouseError
from streamhouse.registry.read_action import read_action
from streamhouse.registry.read_flow import read_flow


def told(read, text, file):
    with pytest.raises(StreamhouseError) as found:
        read(text, file)
    errors = found.value.errors if isinstance(found.value, DefinitionErrors) else (found.value,)
    return [str(error) for error in errors]


def flow(more="", columns="{id: bigint}"):
    return (
        f"flow: a\nsources:\n  s: {{files: {{path: d/*.csv, columns: {columns}}}}}\n"
        f"steps:\n  - {{use: x, reads: {{rows: s}}, writes: ods.a}}\n{more}\n"
    )


def action(header, sql="SELECT id FROM rows"):
    return f"/* ---\naction: a\nstep: clean\n{header}\n--- */\n{sql}\n"


@pytest.mark.parametrize("key", ["freshness", "commit_interval"])
@pytest.mark.parametrize(
    "text", ["0s", "0ms", "-5s", "-0s", "forever", "5", "'5'", "0.1ms", "99999999999d", "1e999s", "soon", "40000d"]
)
def test_a_pace_that_is_none(key, text):
    [error] = told(read_flow, flow(f"{key}: {text}"), "f.yaml")
    assert error.startswith(f"f.yaml:6:{len(key) + 3}: SH101 {key}:")
    assert "\n  hint: " in error


@pytest.mark.parametrize("text", ["1ms", "250ms", "1h30m", "36500d", "5 min"])
def test_a_pace(text):
    expected = read_flow(flow(f"tables: {{ods.a: {{tiers: {{hot: {text}}}}}}}"), "f.yaml")
    assert expected.tables["ods.a"].tiers.hot.total_seconds() > 0


@pytest.mark.parametrize(
    ("more", "place", "words"),
    [
        ("tables: {ods.a: {tiers: {hot: 0s}}}", "6:31", "hot: it is no time at all"),
        ("tables: {ods.a: {tiers: {cold: -1d}}}", "6:32", "cold: '-1d' is negative"),
        ("tables: {ods.a: {buckets: 0}}", "6:27", "'buckets' is 0, too small"),
        ("tables: {ods.a: {buckets: 100000}}", "6:27", "'buckets' is 100000, too large"),
        ("max_rows_per_epoch: 0", "6:21", "too small"),
        ("max_rows_per_epoch: 99999999999999999999", "6:21", "too large"),
        ("local_epoch_rows: -1", "6:19", "too small"),
    ],
)
def test_sizes_that_mean_nothing(more, place, words):
    [error] = told(read_flow, flow(more), "f.yaml")
    assert error.startswith(f"f.yaml:{place}: SH101")
    assert words in error


@pytest.mark.parametrize(
    ("columns", "column", "hint"),
    [
        ("{id: bigit}", 44, "did you mean 'bigint'?"),
        ("{id: decimal(10,2), b: int}", 44, 'put the type in quotes, such as "decimal(12,2)"'),
        ("{id: int, m: map<string,int>}", 52, "put the type in quotes"),
        ("{id: 'array<bigit>'}", 44, "did you mean 'array<bigint>'?"),
        ("{id: 'struct<bigit:stirng>'}", 44, "did you mean 'struct<bigit:string>'?"),
        ("{id: int, x: frobnicate}", 52, "such as bigint, binary"),
    ],
)
def test_a_type_of_a_source_that_is_none(columns, column, hint):
    [error] = told(read_flow, flow(columns=columns), "f.yaml")
    assert error.startswith(f"f.yaml:3:{column}: SH101")
    assert hint in error


@pytest.mark.parametrize(
    ("header", "sql", "place", "words"),
    [
        ("inputs: {rows: {id: bigit}}", "SELECT id FROM rows", "4:21", "did you mean 'bigint'?"),
        ("inputs: {rows: {id: int, p: decimal(10,2)}}", "SELECT id FROM rows", "4:29", "put the type in quotes"),
        ("inputs: {rows: {id: int}}", "SELECT CAST(id AS bigit) AS id FROM rows", "6:19", "did you mean 'bigint'?"),
        ("inputs: {rows: {id: int}}\ninterval: 0s", "SELECT id FROM rows", "5:11", "it is no time at all"),
        (
            "inputs: {rows: {id: int}}\nparams: {x: {type: decimal(3,1), default: 1.5}}",
            "SELECT id FROM rows WHERE id > :x",
            "5:20",
            "put the type in quotes",
        ),
    ],
)
def test_an_action(header, sql, place, words):
    [error] = told(read_action, action(header, sql), "a.sql")
    assert error.startswith(f"a.sql:{place}: SH10")
    assert words in error


def test_values_of_examples_that_fit_no_type():
    header = (
        "inputs: {rows: {id: int, p: 'decimal(4,2)', at: timestamp}}\nparams: {n: {type: int, required: true}}\n"
        "examples:\n"
        "  - {given: {rows: [{id: x, p: 123.4, at: noon}, {id: 99999999999}]}, params: {n: y}, expect: [{id: 1.5}]}\n"
        "  - {given: {rows: [{id: 1}]}, expect: [{idd: 1}]}"
    )
    errors = told(read_action, action(header, "SELECT id FROM rows WHERE id > :n"), "a.sql")
    assert [error.splitlines()[0] for error in errors] == [
        "a.sql:7:26: SH203 column 'id' is int: 'x' is no int",
        "a.sql:7:32: SH203 column 'p' is decimal(4,2): 123.4 is no decimal(4,2)",
        "a.sql:7:43: SH203 column 'at' is timestamp: 'noon' is no timestamp",
        "a.sql:7:55: SH203 column 'id' is int: 99999999999 is no int",
        "a.sql:7:83: SH203 parameter 'n' is int, but its value is 'y'",
        "a.sql:7:101: SH203 column 'id' is int: 1.5 is no int",
        "a.sql:8:5: SH206 the example gives no value for parameter 'n'",
        "a.sql:8:42: SH202 the result has no column 'idd'",
    ]


def test_what_a_flow_binds_may_bring_any_column():
    header = "inputs: {rows: {}}\nexamples:\n  - {given: {rows: [{x: 1}]}, expect: [{x: anything}]}"
    read_action(action(header, "SELECT * FROM rows"), "a.sql")
