"""Strategies: which, and why."""

import pytest

from streamhouse.errors import StrategyError
from streamhouse.model.types import ReadMode, Strategy
from streamhouse.sql.classify import InputInfo, classify
from streamhouse.sql.dialect import parse_query
from streamhouse.sql.ports import ActionPort
from streamhouse.sql.schema import analyse
from tests.golden import Golden
from tests.sql_corpus import AT, FIXTURES, ORDERS, Case, cases, classified, columns
from tests.tables import each

CASES = cases()


@each("case", CASES, ids=lambda c: c.sql[:70])
def test_strategy(case: Case) -> None:
    if case.expected == "refused":
        with pytest.raises(StrategyError):
            classified(case)
    else:
        assert classified(case).strategy == case.expected


def test_reasons(golden: Golden) -> None:
    lines = []
    for case in CASES:
        lines.append(case.sql)
        try:
            found = classified(case)
        except StrategyError as error:
            lines += [f"  {error}", ""]
            continue
        lines.append(f"  {found.strategy}: {found.reason}")
        lines.append(f"  key {', '.join(found.primary_key) or '-'}")
        lines += [f"  {c.name} is {c.sql} ({', '.join(c.uses)})" for own in found.computed.values() for c in own]
        lines += [f"  {port}: {columns}" for port, columns in sorted(found.key_columns.items())]
        lines += [f"  {column} by {function}" for column, function in found.merge.items()]
        lines.append("")
    golden("\n".join(lines), FIXTURES / "classify" / "reasons.txt")


def test_enough_cases_of_each_kind() -> None:
    kinds = [case.expected for case in CASES]
    assert len(kinds) >= 60
    assert all(kinds.count(kind) >= 5 for kind in ("map", "merge", "recompute", "delta", "full", "refused"))


@pytest.mark.parametrize(
    ("strategy", "sql", "why"),
    [
        ("map", "SELECT store, sum(amt) AS s FROM o GROUP BY store", "GROUP BY depends on several rows"),
        ("map", "SELECT cust AS id FROM k", "the output key is not made of just that"),
        ("merge", "SELECT id FROM o", "there is no GROUP BY"),
        ("merge", "SELECT store, avg(amt) AS s FROM o GROUP BY store", "'s' is AVG(o.amt), which does not add up"),
        ("merge", "SELECT cust, sum(v) AS s FROM k GROUP BY cust", "rows of k are updated"),
        ("recompute", "SELECT amt * 2 AS h, avg(amt) AS s FROM o GROUP BY 1", "'h' does not trace"),
    ],
)
def test_wrong_choice_is_refused(strategy: str, sql: str, why: str) -> None:
    with pytest.raises(StrategyError, match=r"would give wrong rows: .*") as refused:
        classified(Case("", ("id",) if strategy == "map" else (), sql), Strategy(strategy))
    assert why in str(refused.value)


def test_dearer_strategy_can_be_chosen() -> None:
    case = Case("", (), "SELECT store, sum(amt) AS s FROM o GROUP BY store")
    assert classified(case).strategy is Strategy.MERGE
    assert classified(case, Strategy.RECOMPUTE).key_columns == {"o": {"store": "store"}}
    assert classified(case, Strategy.FULL).reason == "asked for"


def test_key_of_merge_must_be_the_group() -> None:
    with pytest.raises(StrategyError, match="is not the GROUP BY"):
        classified(Case("", ("s",), "SELECT store, sum(amt) AS s FROM o GROUP BY store"), Strategy.MERGE)


@pytest.mark.parametrize(
    ("sql", "strategy"),
    [
        ("SELECT store, sum(amt) AS o FROM o GROUP BY store ORDER BY o DESC LIMIT 3", Strategy.DELTA),
        ("SELECT id AS store, amt FROM o ORDER BY ts LIMIT 3", Strategy.DELTA),
        ("SELECT DISTINCT id AS store, amt FROM o ORDER BY amt * 2 LIMIT 3", Strategy.FULL),
        ("SELECT store, avg(amt * 1.0D) AS o FROM o GROUP BY store ORDER BY o DESC LIMIT 3", Strategy.FULL),
    ],
    ids=[
        "by-an-alias-that-is-a-port-too",
        "by-what-is-not-shown",
        "of-distinct-rows",
        "by-a-double-that-is-a-port-too",
    ],
)
def test_a_limit_is_the_reason_once(sql: str, strategy: Strategy) -> None:
    found = classified(Case("", ("store",), sql))
    assert found.strategy is strategy
    assert found.reason.count("LIMIT depends on all rows") == 1
    assert ("more than columns of the result" in found.reason) == ("DISTINCT" in sql)


@pytest.mark.parametrize(
    ("on", "one"),
    [
        ("e.code = k.st", True),
        ("e.code = CAST(k.v AS STRING)", True),
        ("e.code = k.v", False),  # '1' and '01'
        ("e.code = CAST(k.ts AS DATE)", False),
        ("e.number = k.v", True),
        ("e.number = k.st", True),
        ("e.number = CAST(k.v AS DECIMAL(10,2))", True),
        ("e.number = CAST(k.v AS DOUBLE)", False),  # whose digits are too few for some of the numbers
    ],
)
def test_a_lookup_by_its_key_finds_one_row_where_types_tell_its_keys_apart(on: str, one: bool) -> None:
    types = {"k": ORDERS["k"] | {"st": "string"}, "e": {"code": "string", "number": "bigint", "label": "string"}}
    keys = {"k": ("id",), "e": (on[2 : on.index(" ")],)}
    ports = {name: ActionPort(columns(types[name]), {}, key=key) for name, key in keys.items()}
    sql = f"SELECT k.id, e.label FROM k LEFT JOIN e ON {on}"
    query = analyse(parse_query(sql, AT), ports, sql, AT)
    modes = {"k": ReadMode.CHANGES, "e": ReadMode.LOOKUP}
    inputs = {name: InputInfo(append_only=False, mode=modes[name], primary_key=key) for name, key in keys.items()}
    if one:
        assert classify(query, inputs).primary_key == ("id",)
    else:
        with pytest.raises(StrategyError, match="does not show a primary key"):
            classify(query, inputs)
