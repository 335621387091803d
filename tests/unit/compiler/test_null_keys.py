"""Which columns of a key may be NULL, and what `validate` and `plan` say of it."""

import pytest

from streamhouse.compiler.diff import diff
from streamhouse.compiler.shared import joined
from streamhouse.errors import DefinitionError, DefinitionErrors, StrategyError
from streamhouse.model.outcome import Outcome
from streamhouse.model.plan import FlowPlan
from tests.unit.compiler.test_outcomes import AGE, plans

ROWS = "{id: bigint not null, shop: string, day: date, cents: bigint}"
ACTION = "/* ---\naction: take\nstep: aggregate\ninputs: {{{inputs}}}\noutput: {{{output}}}\n{expect}--- */\n{sql}\n"
KEEP = """/* ---
action: keep
step: ingest
inputs: {rows: {id: bigint, shop: string, day: date, cents: bigint}}
output: {primary_key: [id]}
--- */
SELECT id, shop, day, cents FROM rows
"""
FLOW = """flow: f
sources: {{rows: {{files: {{path: rows.csv}}}}, shops: {{files: {{path: shops.csv}}}}}}
steps:
  - {{use: keep, reads: {{rows: rows}}, writes: ods.kept}}
  - {{use: take, reads: {{{reads}}}, writes: dws.t}}
tables: {{dws.t: {{{table}}}}}
"""
INPUT = "rows: {id: bigint, shop: string, day: date, cents: bigint}"


@pytest.fixture
def planned(tmp_path):
    def make(sql, *, output="", expect="", table="tiers: {hot: 7d, warm: forever}", rows=ROWS, keep=KEEP) -> FlowPlan:
        for folder in ("actions", "flows"):
            (tmp_path / folder).mkdir(exist_ok=True)
        inputs, reads = INPUT, "rows: ods.kept"
        if "others" in sql:
            inputs, reads = f"{INPUT}, others: {INPUT[6:]}", "rows: ods.kept, others: ods.kept"
        action = ACTION.format(inputs=inputs, output=output, expect=expect, sql=sql)
        (tmp_path / "actions" / "take.sql").write_text(action)
        (tmp_path / "actions" / "keep.sql").write_text(keep)
        (tmp_path / "flows" / "f.yaml").write_text(FLOW.format(reads=reads, table=table))
        (tmp_path / "sources.yaml").write_text(f"f: {{rows: {rows}, shops: {rows}}}\n")
        return plans(tmp_path)["f"]

    return make


SUMS = "SUM(cents) AS cents FROM rows"
BOTH = "FROM rows AS a {how} JOIN others AS b ON b.shop = a.shop"
KEYS = [  # query, declared key, what may be NULL in it
    (f"SELECT shop, {SUMS} GROUP BY shop", "", ("shop",)),
    (f"SELECT shop, day, {SUMS} GROUP BY shop, day", "", ("shop", "day")),
    (f"SELECT COALESCE(shop, 'none') AS shop, {SUMS} GROUP BY COALESCE(shop, 'none')", "", ()),
    (f"SELECT shop, {SUMS} WHERE shop IS NOT NULL GROUP BY shop", "", ()),
    (f"SELECT shop, {SUMS} WHERE shop = 'x' GROUP BY shop", "", ()),
    (f"SELECT id % 3 AS part, {SUMS} GROUP BY id % 3", "", ("part",)),
    (f"SELECT shop, GROUPING(shop) AS g, {SUMS} GROUP BY ROLLUP(shop)", "shop, g", ("shop",)),
    (f"SELECT id, GROUPING(id) AS g, {SUMS} GROUP BY GROUPING SETS((id), ())", "id, g", ("id",)),
    ("SELECT DISTINCT shop, day FROM rows", "shop, day", ("shop", "day")),
    (f"SELECT a.id, b.id AS other {BOTH.format(how='LEFT')}", "id, other", ("other",)),
    (f"SELECT a.id, b.id AS other {BOTH.format(how='FULL')}", "id, other", ("id", "other")),
    (f"SELECT a.id, b.id AS other {BOTH.format(how='')}", "id, other", ()),
    ("SELECT shop FROM rows UNION SELECT shop FROM others", "shop", ("shop",)),
    ("SELECT shop, ROW_NUMBER() OVER (ORDER BY shop) AS place FROM rows", "shop", ("shop",)),
    ("SELECT id, cents FROM rows WHERE cents > 1", "", ()),
]


def test_null_keys_are_those_that_the_query_may_give(planned):
    for sql, key, wanted in KEYS:
        table = planned(sql, output=f"primary_key: [{key}]" if key else "").tables["dws.t"]
        assert table.null_keys == wanted, sql
        assert all(table.column(name).nullable == (name in wanted) for name in table.primary_key), sql


def test_the_declared_key_of_rows_that_are_taken_one_by_one_may_be_null(planned):
    for rows, wanted in ((ROWS, ()), (ROWS.replace(" not null", ""), ("id",))):
        plan = planned(f"SELECT shop, {SUMS} GROUP BY shop", rows=rows)
        assert plan.tables["ods.kept"].null_keys == wanted
        assert plan.tables["ods.kept"].column("id").nullable is bool(wanted)
        copied = planned("SELECT id, cents FROM rows", rows=rows).tables["dws.t"]
        assert (copied.primary_key, copied.null_keys) == (("id",), wanted), "the key goes through each step"


def test_an_expectation_keeps_null_out(planned):
    rules = {
        "{check: shop IS NOT NULL, on_violation: quarantine}": (),
        "{check: NOT shop IS NULL AND cents > 0, on_violation: drop}": (),
        "{check: shop IS NOT NULL, on_violation: fail}": (),
        "{check: shop IS NOT NULL, on_violation: warn}": ("shop",),
        "{check: shop IS NOT NULL OR cents > 0, on_violation: drop}": ("shop",),
        "{check: cents IS NOT NULL, on_violation: drop}": ("shop",),
    }
    for rule, wanted in rules.items():
        plan = planned(f"SELECT shop, {SUMS} GROUP BY shop", expect=f"expect: {{known: {rule}}}\n")
        assert plan.tables["dws.t"].null_keys == wanted, rule


def test_a_partition_may_be_null(planned):
    table = "partition_by: [day], tiers: {hot: 7d, warm: forever}"
    may_be = planned(f"SELECT shop, day, {SUMS} GROUP BY shop, day", table=table)
    assert may_be.tables["dws.t"].null_keys == ("shop", "day")
    sure = planned(f"SELECT shop, day, {SUMS} WHERE day IS NOT NULL GROUP BY shop, day", table=table)
    assert sure.tables["dws.t"].null_keys == ("shop",)


def test_a_partition_of_a_log_may_be_null(planned):
    keep, table = KEEP.replace("output: {primary_key: [id]}\n", ""), "partition_by: [day]"
    log = "SELECT cents, day FROM rows"
    may_be, sure = (
        planned(sql, keep=keep, table=table).tables["dws.t"] for sql in (log, f"{log} WHERE day IS NOT NULL")
    )
    assert (may_be.primary_key, may_be.null_keys, sure.null_keys) == ((), ("day",), ())


def older(plan):
    """The plan as a version applied it to which no key that a row names, and no partition, could be NULL."""

    def less(step):
        table = step.writes
        columns = tuple(
            c.model_copy(update={"nullable": c.nullable and c.name not in table.primary_key}) for c in table.columns
        )
        return step.model_copy(update={"writes": table.model_copy(update={"columns": columns, "null_keys": ()})})

    segments = tuple(one.model_copy(update={"steps": tuple(map(less, one.steps))}) for one in plan.segments)
    return plan.model_copy(update={"segments": segments})


def test_a_version_that_lets_more_keys_be_null_rebuilds_nothing(planned):
    rows = ROWS.replace(" not null", "")
    now = planned(f"SELECT shop, {SUMS} GROUP BY shop", rows=rows)
    found = diff(older(now), now, {}, age=AGE)
    assert {one.outcome for one in found.steps} == {Outcome.NO_OP}
    proofs = [finding.proof for one in found.steps for finding in one.findings]
    assert any("none → (id)" in proof and "until a rebuild" in proof for proof in proofs)
    assert {one.outcome for one in diff(now, older(now), {}, age=AGE).steps} == {Outcome.NO_OP}


def test_a_source_that_promises_less_rebuilds(planned):
    before, after = (
        planned(f"SELECT shop, {SUMS} GROUP BY shop", rows=rows) for rows in (ROWS, ROWS.replace(" not null", ""))
    )
    for old, new in ((before, after), (after, before)):
        [step] = [one for one in diff(old, new, {}, age=AGE).steps if one.table == "ods.kept"]
        assert step.outcome is Outcome.REBUILD


TOTALS = [  # grouping, key, further columns, which columns of the key have totals like rows with NULL
    ("ROLLUP(shop)", "shop", "", "shop"),
    ("CUBE(shop, day)", "shop, day", ", day", "shop"),
    ("shop WITH ROLLUP", "shop", "", "shop"),
    ("GROUPING SETS ((shop, day), (day))", "shop, day", ", day", "shop"),
    ("GROUPING SETS ((shop, day), (shop))", "shop, day", ", day", "day"),
    ("GROUPING SETS (ROLLUP(day), shop)", "shop, day", ", day", "shop"),
    ("shop, ROLLUP(day)", "shop, day", ", day", "day"),
    ("ROLLUP(shop, day)", "shop, day, g", ", day, GROUPING(shop) AS g", "day"),
    ("ROLLUP(shop)", "shop, g", ", GROUPING(shop) AS g", None),
    ("ROLLUP(shop, day)", "shop, day, g", ", day, GROUPING_ID() AS g", None),
    ("ROLLUP(shop, day)", "shop, day, g", ", day, GROUPING_ID(shop, day) AS g", None),
    ("GROUPING SETS ((shop, day), (shop, day))", "shop, day", ", day", None),
]


def test_a_total_is_not_the_group_of_null(planned):
    for grouping, key, more, wanted in TOTALS:
        sql, output = f"SELECT shop{more}, {SUMS} GROUP BY {grouping}", f"primary_key: [{key}]"
        if wanted is None:
            assert planned(sql, output=output).tables["dws.t"].null_keys, sql
            continue
        with pytest.raises(
            (StrategyError, DefinitionErrors), match=f"the key of dws.t has {wanted}, which is NULL in a total"
        ) as refused:
            planned(sql, output=output)
        assert "COALESCE" in str(refused.value), sql
        assert "actions/take.sql:" in str(refused.value), sql
    never = planned(f"SELECT shop, {SUMS} WHERE shop IS NOT NULL GROUP BY ROLLUP(shop)", output="primary_key: [shop]")
    assert never.tables["dws.t"].null_keys == ("shop",), "only the total has NULL"
    with pytest.raises(StrategyError):
        planned(
            "SELECT s AS shop, n FROM (SELECT shop AS s, COUNT(*) AS n FROM rows GROUP BY ROLLUP(shop)) AS q",
            output="primary_key: [shop]",
        )


def test_the_name_that_stores_take_is_refused(planned):
    with pytest.raises(DefinitionError, match="a name that stores need"):
        planned("SELECT shop, SUM(cents) AS __null_keys FROM rows GROUP BY shop")


def test_a_key_that_may_be_null_from_now_on_is_another_version(planned):
    sure = planned(f"SELECT shop, {SUMS} WHERE shop IS NOT NULL GROUP BY shop")
    may_be = planned(f"SELECT shop, {SUMS} GROUP BY shop")
    for old, new in ((sure, may_be), (may_be, sure)):
        [step] = [one for one in diff(old, new, {}, age=AGE).steps if one.table == "dws.t"]
        assert step.outcome is Outcome.REBUILD
        assert "columns of the primary key that may be NULL" in "\n".join(one.proof for one in step.findings)
    plain = sure.model_dump(mode="json")
    assert "null_keys" not in str(plain), "plans of tables without such keys keep their fingerprints"
    assert FlowPlan.model_validate(may_be.model_dump(mode="json")) == may_be


def test_writers_of_one_table_share_its_key(planned):
    sure, may_be = (
        planned(f"SELECT shop, day, {SUMS} {where} GROUP BY shop, day").tables["dws.t"]
        for where in ("WHERE shop > '' AND day IS NOT NULL", "WHERE shop > ''")
    )
    assert (sure.null_keys, may_be.null_keys) == ((), ("day",))
    for whole in (joined(sure, may_be), joined(may_be, sure)):
        assert whole.null_keys == ("day",)
        assert whole.column("day").nullable
