"""Texts that the hot tier is to name partitions by: `validate` takes those of which it is known that Fluss does."""

import re

import pytest

from streamhouse.errors import PartitionError
from tests.unit.compiler.test_outcomes import plans

COLUMNS = (
    "{id: bigint, n: int, day: date, at: timestamp, city: string not null, other: string, flag: boolean, "
    'big: "decimal(9,2)"}'
)
ACTION = """/* ---
action: take
step: ingest
description: Rows as they come.
inputs: {{rows: {columns}}}
{expect}
--- */
{sql}
"""
FLOW = """flow: f
sources: {{rows: {{files: {{path: rows.csv}}}}}}
steps: [{{use: take, reads: {{rows: rows}}, writes: ods.t}}{steps}]
tables: {{ods.t: {{partition_by: [{by}], tiers: {{{tiers}}}}}{tables}}}
"""
HOT = "hot: 7d, warm: forever"


@pytest.fixture
def planned(tmp_path):
    def make(sql, *, by="p", tiers=HOT, expect="", steps="", tables="", more=()):
        (tmp_path / "actions").mkdir()
        (tmp_path / "flows").mkdir()
        text = ACTION.format(columns=COLUMNS, sql=sql, expect=expect)
        (tmp_path / "actions" / "take.sql").write_text(text)
        for name, action in more:
            (tmp_path / "actions" / f"{name}.sql").write_text(action)
        flow = FLOW.format(by=by, tiers=tiers, steps=steps, tables=tables)
        (tmp_path / "flows" / "f.yaml").write_text(flow)
        (tmp_path / "sources.yaml").write_text(f"f: {{rows: {COLUMNS}}}\n")
        return plans(tmp_path)["f"]

    return make


NAMES = [
    "md5(city)",
    "sha1(city)",
    "sha2(city, 256)",
    "hex(n)",
    "left(concat('c', hex(city)), 100)",
    "CAST(day AS STRING)",
    "CAST(n AS STRING)",
    "CAST(id AS STRING)",
    "CAST(flag AS STRING)",
    "string(day)",
    "date_format(at, 'yyyy-MM-dd')",
    "date_format(at, 'yyyy_MM')",
    "'all'",
    "CASE WHEN n > 0 THEN 'pos' ELSE 'neg' END",
    "IF(n > 0, 'a', 'b')",
    "coalesce(CAST(n AS STRING), 'none')",
    "concat('y', CAST(n AS STRING), '_', CAST(day AS STRING))",
    "concat(n, '-', id)",
    "'c' || CAST(n AS STRING)",
    "concat('s-', left(md5(city), 2))",
    "left(concat('c-', regexp_replace(city, '[^A-Za-z0-9_-]', '_')), 100)",
    "substring(md5(city), 1, 2)",
    "upper(md5(city))",
    "lower(IF(n > 0, 'A', 'B'))",
    "nullif(md5(city), 'x')",
]
OTHERS = {
    "city": "letters",
    "upper(city)": "letters",
    "trim(city)": "letters",
    "coalesce(city, 'none')": "letters",
    "CASE WHEN n > 0 THEN city ELSE 'neg' END": "letters",
    "'São Paulo'": "letters",
    "'a b'": "letters",
    "'.'": "letters",
    "'..'": "letters",
    "'a/b'": "letters",
    "CAST(at AS STRING)": "letters",
    "CAST(big AS STRING)": "letters",
    "CAST(CAST(n AS DOUBLE) AS STRING)": "letters",
    "date_format(at, 'yyyy-MM-dd HH')": "letters",
    "date_format(at, 'yyyy-MMM')": "letters",
    "date_format(at, 'MMMM')": "letters",
    "date_format(at, city)": "letters",
    "date_format(at, 'yyyyy')": "letters",
    "sha2(city, n)": "letters",
    "base64(CAST(city AS BINARY))": "letters",
    "url_encode(city)": "letters",
    "concat('a', city)": "letters",
    "left(city, 5)": "letters",
    "regexp_replace(city, '[^A-Za-z0-9_-]', ' ')": "letters",
    "regexp_replace(city, '[^A-Za-z0-9 ]', '-')": "letters",
    "CAST(CAST(city AS BINARY) AS STRING)": "letters",
    "''": "empty",
    "IF(n > 0, 'a', '')": "empty",
    "regexp_replace(city, '[^A-Za-z0-9_-]', '-')": "empty",
    "hex(city)": "empty",
    "left(md5(city), 0)": "empty",
    "concat_ws('-', md5(city), md5(other))": "empty",
    "'__x'": "'__'",
    "concat('_', '_a')": "'__'",
    "concat('_', regexp_replace(city, '[^A-Za-z0-9_-]', '_'))": "'__'",
    "concat('c', hex(city))": "more than 200",
    "concat('c', regexp_replace(city, '[^A-Za-z0-9_-]', '_'))": "more than 200",
}


@pytest.mark.parametrize("sql", NAMES)
def test_texts_that_are_known_to_fit(planned, sql):
    planned(f"SELECT id, {sql} AS p FROM rows")


@pytest.mark.parametrize("sql", OTHERS)
def test_all_other_texts_are_refused(planned, sql):
    with pytest.raises(PartitionError) as refused:
        planned(f"SELECT id, {sql} AS p FROM rows")
    assert OTHERS[sql] in refused.value.message
    assert str(refused.value.at).endswith("f.yaml:4:32")
    assert re.search(r"md5\(p\).*p IN \('a', 'b'\).*warm: forever", refused.value.hint or "")


@pytest.mark.parametrize("by", ["day", "n", "id", "day, n"])
def test_dates_and_numbers_always_fit(planned, by):
    planned("SELECT id, day, n, other FROM rows", by=by)


@pytest.mark.parametrize("tiers", ["warm: forever", "cold: forever", "warm: 7d, cold: forever"])
def test_other_tiers_take_every_text(planned, tiers):
    planned("SELECT id, city AS p FROM rows", tiers=tiers)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id, city AS p FROM rows WHERE city IN ('de', 'fr') AND n > 0",
        "SELECT id, city AS p FROM rows WHERE (city = 'de')",
        "SELECT id, q.c AS p FROM (SELECT id, city AS c FROM rows WHERE city IN ('de', 'fr')) q",
        "WITH q AS (SELECT id, md5(city) AS c FROM rows) SELECT id, c AS p FROM q",
        "SELECT id, md5(city) AS p FROM rows UNION ALL SELECT id, 'none' FROM rows",
        "SELECT n, md5(city) AS p, max(id) AS m FROM rows GROUP BY n, md5(city)",
    ],
)
def test_a_text_is_followed_to_where_it_is_made(planned, sql):
    planned(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id, city AS p FROM rows WHERE city IN ('de', 'São Paulo')",
        "SELECT id, city AS p FROM rows WHERE city IN ('de', 'fr') OR n > 0",
        "SELECT id, city AS p FROM rows WHERE NOT city IN ('de', 'fr')",
        "SELECT id, city AS p FROM rows WHERE other IN ('de', 'fr')",
        "SELECT id, city AS p FROM rows WHERE city IN (other, 'fr')",
        "SELECT id, city AS p FROM rows WHERE city <> 'de'",
        "SELECT id, md5(city) AS p FROM rows UNION ALL SELECT id, city FROM rows",
        "SELECT q.id, q.c AS p FROM (SELECT id, city AS c, other AS o FROM rows) q WHERE q.o = 'de'",
    ],
)
def test_a_condition_on_something_else_does_not_help(planned, sql):
    with pytest.raises(PartitionError):
        planned(sql)


@pytest.mark.parametrize("action", ["drop", "quarantine", "fail"])
def test_an_expectation_says_which_texts_there_are(planned, action):
    expect = f"expect: {{known: {{check: \"p IN ('de', 'fr_1')\", on_violation: {action}}}}}"
    planned("SELECT id, city AS p FROM rows", expect=expect)


@pytest.mark.parametrize(
    "expect",
    [
        "expect: {known: {check: \"p IN ('de', 'fr')\", on_violation: warn}}",
        "expect: {known: {check: \"p IN ('de', 'a b')\", on_violation: drop}}",
        "expect: {known: {check: \"p IN ('de', '')\", on_violation: drop}}",
        "expect: {known: {check: \"p IN ('de') OR id > 0\", on_violation: drop}}",
        "expect: {known: {check: \"city IN ('de')\", on_violation: drop}}",
        'expect: {known: {check: "length(p) < 9", on_violation: drop}}',
    ],
)
def test_an_expectation_that_lets_other_texts_pass_does_not_help(planned, expect):
    with pytest.raises(PartitionError):
        planned("SELECT id, city, city AS p FROM rows", expect=expect)


COPY = """/* ---
action: copy
step: clean
description: As they are.
inputs: {rows: {id: bigint, p: string, city: string}}
--- */
SELECT id, p AS q FROM rows
"""


@pytest.mark.parametrize("tiers", [HOT, "warm: forever"])
def test_what_a_hot_table_is_partitioned_by_another_can_be(planned, tiers):
    p = "md5(city)" if tiers == HOT else "city"

    def plan():
        planned(
            f"SELECT id, {p} AS p, city FROM rows",
            tiers=tiers,
            steps=", {use: copy, reads: {rows: ods.t}, writes: dwd.t}",
            tables=f", dwd.t: {{partition_by: [q], tiers: {{{HOT}}}}}",
            more=[("copy", COPY)],
        )

    if tiers == HOT:
        plan()
    else:
        with pytest.raises(PartitionError, match=r"dwd\.t cannot be partitioned by q"):
            plan()


def test_a_name_of_several_values_is_not_too_long(planned):
    planned("SELECT id, sha2(city, 512) AS p, md5(other) AS q FROM rows", by="p, q, id")


def test_a_name_of_several_values_may_be_too_long(planned):
    with pytest.raises(PartitionError, match="up to 257 letters, and the hot tier takes 200"):
        planned("SELECT id, sha2(city, 512) AS p, sha2(other, 512) AS q FROM rows", by="p, q")
