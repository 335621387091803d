import json
from datetime import timedelta

import pytest

from streamhouse.model.table import Column, Table, Tiers
from streamhouse.model.types import MergeFunction
from streamhouse.stores.fluss import ddl

TYPES = [
    "boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "string", "binary", "date", "timestamp",
    "timestamp_ntz", "decimal(12,2)", "array<int>", "map<string,array<bigint>>", "struct<a:int,b:struct<c:date>>",
    "array<struct<x:struct<y:decimal(5,0)>,z:map<int,string>>>",
    "struct<timestamp_ntz:array<timestamp_ntz>,b:map<timestamp_ntz,timestamp>>",
]  # fmt: skip


def table(*columns: str, **options: object) -> Table:
    named = tuple(Column(name=f"c{index}", type=kind) for index, kind in enumerate(columns))
    return Table(**({"name": "ods.t", "columns": named, "tiers": Tiers(hot="1h")} | options))


def described(wanted: Table, **options: timedelta) -> dict:
    return json.loads(ddl.describe(wanted, **options))


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("key", [(), ("c0",)])
def test_a_table_reads_back_as_it_was_described(kind: str, key: tuple[str, ...]) -> None:
    wanted = table("bigint", kind, primary_key=key, buckets=3)
    found = ddl.stored(ddl.describe(wanted), table_id=7, schema_id=1)
    assert ddl.differences(wanted, found) == []
    assert [column.nullable for column in found.columns] == [not key, True]


@pytest.mark.parametrize("kind", [kind for kind in TYPES if "timestamp_ntz" in kind])
def test_a_table_with_a_key_has_no_times_without_a_zone(kind: str) -> None:
    assert "WITHOUT_TIME_ZONE" not in ddl.describe(table("bigint", kind, primary_key=("c0",))).decode()
    assert "WITHOUT_TIME_ZONE" in ddl.describe(table("bigint", kind)).decode()


def test_every_field_has_an_id_of_its_own() -> None:
    schema = described(table("bigint", *TYPES))["schema"]
    ids = [column["id"] for column in schema["columns"]]

    def collect(data_type: dict) -> None:
        for part in ("element_type", "key_type", "value_type"):
            if part in data_type:
                collect(data_type[part])
        for field in data_type.get("fields", ()):
            ids.append(field["field_id"])
            collect(field["field_type"])

    for column in schema["columns"]:
        collect(column["data_type"])
    assert sorted(ids) == list(range(len(ids)))
    assert schema["highest_field_id"] == max(ids)


def test_keys_hash_as_in_paimon_while_the_lake_is_off() -> None:
    properties = described(table("bigint"))["properties"]
    assert properties["table.datalake.format"] == "paimon"
    assert "table.datalake.enabled" not in properties


@pytest.mark.parametrize(
    ("hot", "least", "seconds"), [("1h", "7d", 604_800), ("30d", "7d", 2_592_000), ("1h", "10m", 3_600)]
)
def test_the_log_outlives_a_short_hot_tier(hot: str, least: str, seconds: int) -> None:
    minimum = timedelta(days=7) if least == "7d" else timedelta(minutes=10)
    properties = described(table("bigint", tiers=Tiers(hot=hot)), min_log_ttl=minimum)["properties"]
    assert properties["table.log.ttl"] == f"{seconds}s"


def test_a_log_is_kept_as_it_was_made_whatever_the_flow_says_since() -> None:
    made = ddl.stored(ddl.describe(table("bigint", tiers=Tiers(hot="10d"))), table_id=7, schema_id=1)
    assert ddl.stored_ttl(made, table("bigint", tiers=Tiers(hot="forever"))) == timedelta(days=10)


def test_each_difference_is_told() -> None:
    wanted = table("bigint", "int", "string", primary_key=("c0",), merge={"c1": "sum", "c2": "max"}, buckets=2)
    other = table("bigint", "bigint", "string", primary_key=("c0", "c1"), merge={"c2": "min"}, buckets=4)
    assert ddl.differences(wanted, ddl.stored(ddl.describe(other), 1, 1)) == [
        "columns: stored c0 bigint, c1 bigint, c2 string; planned c0 bigint, c1 int, c2 string",
        "primary key: stored c0, c1; planned c0",
        "bucket key: stored c0, c1; planned c0",
        "bucket count: stored 4; planned 2",
        "merge functions: stored c2: min; planned c1: sum, c2: max",
    ]


@pytest.mark.parametrize(
    ("kind", "refused"),
    [
        ("bigint", {"bool_and", "bool_or"}),
        ("decimal(12,2)", {"bool_and", "bool_or"}),
        ("string", {"sum", "bool_and", "bool_or"}),
        ("timestamp", {"sum", "bool_and", "bool_or"}),
        ("boolean", {"sum", "min", "max"}),
        ("binary", {"sum", "min", "max", "bool_and", "bool_or"}),
        ("array<int>", {"sum", "min", "max", "bool_and", "bool_or"}),
    ],
)
def test_functions_that_cannot_fold_a_type(kind: str, refused: set[str]) -> None:
    found = {
        function.value
        for function in MergeFunction
        if ddl.unmergeable(table("bigint", kind, primary_key=("c0",), merge={"c1": function}))
    }
    assert found == refused
