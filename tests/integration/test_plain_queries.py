"""Queries that this process answers: the answer, its types and its names are Spark's."""

import random
from decimal import Decimal

import pyarrow as pa
import pytest

from streamhouse.errors import QueryFailedError
from streamhouse.model.table import Column, Table
from streamhouse.model.types import Tier
from streamhouse.query.answer import answer_by_spark
from streamhouse.query.embedded import answer_here
from streamhouse.query.epoch_positions import Epochs
from streamhouse.query.parse import parse_query
from streamhouse.query.plain_sql import plain
from streamhouse.query.plain_values import NotPlainError
from streamhouse.query.reading import readable
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes, WriteContext
from streamhouse.stores.paimon import PaimonStore
from tests.gate.levels import deep

pytestmark = [
    deep(
        "more random queries",
        only=(
            "test_random_queries_give_the_same[2]",
            "test_random_queries_give_the_same[3]",
        ),
    ),
    pytest.mark.spark,
]

FACTS = Table(
    name="dwd.pq_facts",
    columns=tuple(
        Column(name=name, type=kind)
        for name, kind in {
            "id": "bigint",
            "Small": "smallint",
            "n": "int",
            "big": "bigint",
            "price": "decimal(12,2)",
            "huge": "decimal(38,0)",
            "s": "string",
            "flag": "boolean",
            "day": "date",
            "at": "timestamp",
            "ntz": "timestamp_ntz",
            "x": "double",
            "tags": "array<string>",
            "m": "map<string,int>",
            "st": "struct<a:int,b:string>",
        }.items()
    ),
    tiers={"warm": "1d"},
)
NAMES = Table(
    name="ods.pq_names",
    columns=(Column(name="id", type="bigint"), Column(name="label", type="string"), Column(name="n", type="int")),
    primary_key=("id",),
    tiers={"warm": "1d"},
)
CATALOG = {table.name: table for table in (FACTS, NAMES)}
_STRINGS = ["", "a", "b", "B", "é", "e\u0301", "zz", "a b", "😀", "\uffff"]


def fact(rng, number):
    def maybe(value):
        return None if rng.random() < 0.15 else value

    day = rng.randrange(-40_000, 40_000)
    return {
        "id": number,
        "Small": maybe(rng.choice([0, 1, -1, 32767, -32768])),
        "n": maybe(rng.randrange(-5, 6)),
        "big": maybe(rng.choice([0, 1, 1 << 40, -(1 << 40)])),
        "price": maybe(Decimal(rng.randrange(-10_000, 10_000)) / 100),
        "huge": Decimal(6 * 10**37 if number < 2 else number),  # two of them are too many for a sum
        "s": maybe(rng.choice(_STRINGS)),
        "flag": maybe(rng.random() < 0.5),
        "day": maybe(day),
        "at": maybe(day * 86_400_000_000 + rng.randrange(86_400_000_000)),
        "ntz": maybe(rng.choice([0, 1, -1, 1_700_000_000_000_000])),
        "x": maybe(rng.choice([0.5, float("nan"), float("inf"), -0.0])),
        "tags": maybe([maybe("x")]),
        "m": maybe([("k", 1)]),
        "st": maybe({"a": 1, "b": "y"}),
    }


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plain")
    store = PaimonStore(folder / "warm", folder / "locks")
    rng = random.Random(7)
    for table, rows in (
        (FACTS, [fact(rng, number) for number in range(200)]),
        (NAMES, [{"id": n * 3, "label": f"l{n % 7}", "n": None if n % 5 == 0 else n % 4} for n in range(40)]),
    ):
        store.create(table)
        store.write(
            table,
            Changes(pa.Table.from_pylist(rows, schema=arrow_schema(table.columns))),
            WriteContext(writer="test/plain", epoch=0),
        )
    return {Tier.WARM: store}


@pytest.fixture
def both(stores, spark):
    def run(sql):
        query = parse_query(sql, CATALOG)
        tables = readable(query, stores, Epochs())
        return answer_here(query, plain(query), tables), answer_by_spark(query, tables, spark)

    return run


def assert_equal(here, there, sql, *, ordered):
    assert here.schema.names == there.schema.names, sql
    assert [field.type for field in here.schema] == [field.type for field in there.schema], sql
    ours, theirs = ([repr(row) for row in found.to_pylist()] for found in (here, there))
    if not ordered:
        ours, theirs = sorted(ours), sorted(theirs)
    assert ours == theirs, sql


ALIKE = [
    "select * from dwd.pq_facts",
    "select count(*), count(n), count(distinct n), count(distinct s) from dwd.pq_facts",
    "select SUM(n), sum(Small), sum(BIG) as total, sum(price), min(s), max(s), min(day), max(at) from dwd.pq_facts",
    "select avg(n), avg(small) as a from dwd.pq_facts",
    "select min(price), max(flag), min(ntz) from dwd.pq_facts where id < 0",
    "select count(*) from dwd.pq_facts where id < 0",
    "select sum(n) from dwd.pq_facts where id < 0 group by s",
    "select s, count(*) as c, sum(price) as p from dwd.pq_facts group by s order by c desc, s",
    "select flag, n, count(*) from dwd.pq_facts group by 1, 2 order by 1, 2 desc",
    "select s, max(big) from dwd.pq_facts group by s having count(*) > 3 and max(big) is not null order by s desc",
    "select n as k, count(*) as c from dwd.pq_facts group by n having c > 2 order by k",
    "select distinct s, flag from dwd.pq_facts order by s nulls last, flag",
    "select ID, small + n as t, big - 1 as b, n * 2 as d from dwd.pq_facts where small between -1 and 1 order by id",
    "select id from dwd.pq_facts where s like 'a%' or s like '%z' order by id",
    "select id from dwd.pq_facts where s in ('a', 'é') and not (flag = true) order by id",
    "select id from dwd.pq_facts where s not in ('a', 'b') order by id",
    "select id from dwd.pq_facts where price > 1.5 and price <= 50 order by id",
    "select id from dwd.pq_facts where price = n order by id",
    "select id, at from dwd.pq_facts where at >= '2000-01-01' and at < timestamp '2020-01-01 10:00:00' order by at, id",
    "select id, day from dwd.pq_facts where day > date '1980-01-01' and ntz is not null order by day desc, id limit 5",
    "select id from dwd.pq_facts where ntz = timestamp_ntz '1970-01-01 00:00:00' order by id",
    "select f.id, p.label from dwd.pq_facts f join ods.pq_names p on f.id = p.id order by f.id",
    "select f.id, p.label, p.n from dwd.pq_facts f left join ods.pq_names p on f.id = p.id and p.n > 1 order by f.id",
    "select id, label from dwd.pq_facts join ods.pq_names using (id) order by id desc limit 7",
    "select count(*) from dwd.pq_facts a cross join ods.pq_names b",
    "select f.*, p.label from dwd.pq_facts f join ods.pq_names p on f.id = p.id",
    (
        "with c as (select n, count(*) as k from dwd.pq_facts group by n), d as (select * from c where k > 5) "
        "select sum(k) as s from d"
    ),
    "select t.c from (select s, count(*) as c from dwd.pq_facts group by s) t where t.c > 10 order by 1",
    "select id from dwd.pq_facts union all select id from ods.pq_names",
    "select n from dwd.pq_facts union select n from ods.pq_names order by n desc limit 4",
    "select id, x, tags, m, st from dwd.pq_facts where n = 1",
    'select 1, "it\'s", true, id from dwd.pq_facts where id = 3',
    "select dwd.pq_facts.id from dwd.pq_facts where 3 = pq_facts.id",
    "select id from dwd.pq_facts where n is null and s is not null and -1 < id order by id",
    "select count(*) as files from dwd.pq_facts$files",
    "select snapshot, kind, added_rows from dwd.pq_facts$warm$snapshots order by snapshot",
    "select _kind, count(*) as c from dwd.pq_facts$changes group by _kind",
    "select count(*) as n from dwd.pq_facts version as of 1",
]


@pytest.mark.parametrize("sql", ALIKE)
def test_this_process_answers_as_spark(both, sql):
    here, there = both(sql)
    assert_equal(here, there, sql, ordered="order by" in sql)


SPARKS = [
    "select x + 1 as y from dwd.pq_facts",
    "select sum(x) from dwd.pq_facts",
    "select x, count(*) from dwd.pq_facts group by x",
    "select id from dwd.pq_facts order by x",
    "select id from dwd.pq_facts where x = x",
    "select n / 2 as h from dwd.pq_facts",
    "select price * 2 as p from dwd.pq_facts",
    "select upper(s) as u from dwd.pq_facts",
    "select cast(n as string) as t from dwd.pq_facts",
    "select id from dwd.pq_facts where s like 'a_'",
    "select id from dwd.pq_facts where s = 1",
    "select id from dwd.pq_facts where n = '1'",
    "select id from dwd.pq_facts where at = '2020-1-1'",
    "select n + 1 from dwd.pq_facts",
    "select id + 1 as j, j * 2 as k from dwd.pq_facts",
    "select row_number() over (order by id) as r from dwd.pq_facts",
    "select id from dwd.pq_facts where id in (select id from ods.pq_names)",
    "select id from dwd.pq_facts f left semi join ods.pq_names p on f.id = p.id",
    "select id from dwd.pq_facts f full join ods.pq_names p using (id)",
    "select * from dwd.pq_facts join ods.pq_names using (id)",
    "select id from dwd.pq_facts except select id from ods.pq_names",
    "select id from dwd.pq_facts limit 3 offset 2",
    "select n, count(*) from dwd.pq_facts group by rollup (n)",
    "select count(*) filter (where n > 1) from dwd.pq_facts",
    "select id from dwd.pq_facts tablesample (10 percent)",
    "select id from range(3)",
    "select 1",
    "select id, id from dwd.pq_facts",
    "select st.a from dwd.pq_facts",
    "select tags from dwd.pq_facts group by tags",
    "select avg(price) from dwd.pq_facts",
    "select current_date() as d from dwd.pq_facts",
]


@pytest.mark.parametrize("sql", SPARKS)
def test_what_may_differ_is_left_to_spark(sql):
    with pytest.raises(NotPlainError):
        plain(parse_query(sql, CATALOG))


@pytest.mark.parametrize(
    "sql",
    [
        "select small + small as t from dwd.pq_facts",
        "select sum(big * big) as t from dwd.pq_facts",
        "select sum(huge) as t from dwd.pq_facts",
    ],
)
def test_an_overflow_is_told_by_spark(stores, spark, sql):
    query = parse_query(sql, CATALOG)
    tables = readable(query, stores, Epochs())
    with pytest.raises(NotPlainError, match="DuckDB"):
        answer_here(query, plain(query), tables)
    with pytest.raises(QueryFailedError, match=r"(?i)overflow|cannot be represented as Decimal"):
        answer_by_spark(query, tables, spark)


COLUMNS = ["id", "Small", "n", "big", "price", "s", "flag", "day", "at", "ntz", "x"]


def random_query(rng):
    def condition():
        column = rng.choice(COLUMNS)
        value = {
            "s": "'a'", "flag": "true", "day": "'2000-01-01'", "at": "'2000-01-01 12:00:00'", "price": "3.25",
            "ntz": "timestamp_ntz '1970-01-01 00:00:00'",
        }.get(column, str(rng.randrange(-3, 50)))  # fmt: skip
        return rng.choice([
            f"{column} {rng.choice(['=', '<', '<=', '>', '>=', '<>'])} {value}", f"{column} is null",
            f"not {column} = {value}", f"{column} between {value} and {value}", f"{column} in ({value})",
        ])  # fmt: skip

    where = f" where {condition()} {rng.choice(['and', 'or'])} {condition()}" if rng.random() < 0.7 else ""
    source = rng.choice(["dwd.pq_facts", "(select * from dwd.pq_facts where id < 120) t"])
    if rng.random() < 0.5:
        keys = rng.sample(COLUMNS, rng.randrange(3))
        calls = [
            f"{f}({c})"
            for f, c in zip(
                rng.choices(["sum", "min", "max", "count", "avg"], k=2), rng.sample(COLUMNS, 2), strict=False
            )
        ]
        group = f" group by {', '.join(keys)}" if keys else ""
        order = f" order by {', '.join(f'{k} desc' for k in keys)}" if keys else ""
        return f"select {', '.join([*keys, *dict.fromkeys(calls), 'count(*)'])} from {source}{where}{group}{order}"
    columns = rng.sample(COLUMNS, 3)
    return f"select {rng.choice(['', 'distinct '])}{', '.join(columns)} from {source}{where} order by 1, 2 desc, 3"


@pytest.mark.parametrize("seed", range(4))
def test_random_queries_give_the_same(both, seed):
    rng, answered = random.Random(seed), 0
    for _ in range(15):
        sql = random_query(rng)
        try:
            here, there = both(sql)
        except NotPlainError:
            continue
        answered += 1
        assert_equal(here, there, sql, ordered=True)
    assert answered >= 3
