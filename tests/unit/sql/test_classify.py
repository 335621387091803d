"""Strategies: which, and why."""

import pytest

from streamhouse.errors import StrategyError
from streamhouse.model.types import Strategy
from tests.golden import Golden
from tests.sql_corpus import FIXTURES, Case, cases, classified

CASES = cases()


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.sql[:70])
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
    assert all(kinds.count(kind) >= 5 for kind in ("map", "merge", "recompute", "full", "refused"))


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
