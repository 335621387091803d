"""What a strategy claims, tried on random tables with DuckDB in place of the engine.

`recompute` and `map` of updated rows: after a change, the rows of the touched values come from the inputs
restricted to these values, and all other rows are as they were. `merge` and `map` of added rows: the result
of what was added, folded in or appended. A wrong proof shows as a table that differs from the batch. For
`delta`: test_delta_holds.py.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from streamhouse.errors import StrategyError
from streamhouse.model.types import MergeFunction, Strategy
from streamhouse.sql.classify import Classification
from tests.small_duckdb import SmallDuckDB
from tests.sql_corpus import KEYS, NOT_IN_DUCKDB, ORDERS, Case, cases, classified, columns, orders

pytestmark = pytest.mark.proof

Row = dict[str, Any]
State = dict[str, list[Row]]
ROUNDS = 20

_FOLDS: dict[MergeFunction, Callable[[Any, Any], Any]] = {
    MergeFunction.SUM: lambda a, b: a + b,
    MergeFunction.MIN: min,
    MergeFunction.MAX: max,
    MergeFunction.BOOL_AND: lambda a, b: a and b,
    MergeFunction.BOOL_OR: lambda a, b: a or b,
}


def _incremental() -> Iterator[tuple[Case, Classification]]:
    for case in cases():
        if any(text in case.sql for text in NOT_IN_DUCKDB):
            continue
        try:
            found = classified(case)
        except StrategyError:
            continue
        if found.strategy not in (Strategy.DELTA, Strategy.FULL):
            yield case, found


TRIED = list(_incremental())


@pytest.mark.parametrize(("case", "found"), TRIED, ids=[case.sql[:90] for case, _ in TRIED])
def test_result_equals_the_batch(case: Case, found: Classification) -> None:
    query = orders(case.sql)
    run = _runner(query.sql, sorted(query.reads))
    for seed in range(ROUNDS):
        chance = random.Random(seed)
        before = {name: _rows(name, chance) for name in query.reads}
        after = {name: _changed(name, rows, chance) for name, rows in before.items()}
        if found.key_columns:
            made = _recomputed(run, found, before, after)
        else:
            added = {n: rows if n == "d" else [r for r in rows if r not in before[n]] for n, rows in after.items()}
            fold = _folded if found.strategy is Strategy.MERGE else _appended
            made = fold(found, run(before), run(added))
        assert _counted(made) == _counted(run(after)), f"seed {seed}"


def test_enough_is_tried() -> None:
    tried = Counter(found.strategy for _, found in TRIED)
    assert tried[Strategy.MAP] >= 20
    assert tried[Strategy.MERGE] >= 9
    assert tried[Strategy.RECOMPUTE] >= 44


def test_a_wrong_claim_is_noticed() -> None:
    sql = "SELECT cust, name FROM c WHERE cust NOT IN (SELECT cust FROM k)"
    wrong = Classification(Strategy.RECOMPUTE, "", ("cust",), {}, {"c": {"cust": "cust"}, "k": {"cust": "cust"}})
    with pytest.raises(AssertionError, match="seed"):
        test_result_equals_the_batch(Case("", ("cust",), sql), wrong)


def _recomputed(run: Callable[[State], list[Row]], found: Classification, before: State, after: State) -> list[Row]:
    before, after = (_extended(found, state) for state in (before, after))
    touched = {
        tuple(row[own] for own in held.values())
        for port, held in found.key_columns.items()
        for row in [*before[port], *after[port]]
        if (row in before[port]) != (row in after[port])
    }
    restricted = {
        port: [r for r in rows if tuple(r[own] for own in found.key_columns[port].values()) in touched]
        if port in found.key_columns
        else rows
        for port, rows in after.items()
    }
    names = list(next(iter(found.key_columns.values())))
    kept = [row for row in run(before) if tuple(row[name] for name in names) not in touched]
    return kept + run(restricted)


def _extended(found: Classification, state: State) -> State:
    """The rows with the values that are computed to find them by."""
    made = dict(state)
    for port, computed in found.computed.items():
        if computed and made[port]:
            text = ", ".join(f"{column.sql} AS {column.name}" for column in computed)
            run = _runner(f"SELECT *, {text} FROM {port}", [port])
            made[port] = run(state)
    return made


def _folded(found: Classification, old: list[Row], new: list[Row]) -> list[Row]:
    table = {tuple(row[k] for k in found.primary_key): dict(row) for row in old}
    for row in new:
        key = tuple(row[k] for k in found.primary_key)
        if key not in table:
            table[key] = dict(row)
            continue
        known = table[key]
        for name, function in found.merge.items():
            if function in _FOLDS:
                both = [v for v in (known[name], row[name]) if v is not None]
                known[name] = _FOLDS[function](*both) if len(both) == 2 else (both or [None])[0]
            else:
                known[name] = row[name]
    return list(table.values())


def _appended(_: Classification, old: list[Row], new: list[Row]) -> list[Row]:
    return old + new


def _runner(sql: str, ports: list[str]) -> Callable[[State], list[Row]]:
    database = SmallDuckDB()

    def run(state: State) -> list[Row]:
        for port in ports:
            database.put(port, state[port], columns(ORDERS[port]))
        rows: list[Row] = database.answer(sql).to_pylist()
        return rows

    return run


def _rows(name: str, chance: random.Random) -> list[Row]:
    """Few rows over few values, many of them NULL, with distinct keys and times."""
    return [_row(name, number, chance) for number in chance.sample(range(1, 9), chance.randint(0, 6))]


def _row(name: str, number: int, chance: random.Random) -> Row:
    row: Row = {}
    for column, kind in ORDERS[name].items():
        if column in KEYS[name] or column == "id":
            row[column] = number
        elif column == "ts":
            row[column] = 1_767_225_600_000_000 + (number * 7 + chance.randint(0, 6)) * 900_000_000
        elif kind.startswith("array"):
            row[column] = [chance.randint(1, 3) for _ in range(chance.randint(0, 2))]
        elif kind == "string":
            row[column] = chance.choice(["a", "b", "10", None])
        else:
            row[column] = chance.choice([1, 2, 3, 12, None])
    return row


def _changed(name: str, rows: list[Row], chance: random.Random) -> list[Row]:
    """Rows are added; in a keyed table some are replaced or deleted as well. A lookup stands still."""
    if name == "d":
        return rows
    taken = {row["id"] if "id" in row else row["cust"] for row in rows}
    fresh = [n for n in range(1, 13) if n not in taken]
    added = [_row(name, number, chance) for number in chance.sample(fresh, chance.randint(0, 2))]
    if not KEYS[name]:
        return rows + added
    kept = []
    for row in rows:
        fate = chance.random()
        if fate < 0.6:
            kept.append(row)
        elif fate < 0.85:
            kept.append(_row(name, row[KEYS[name][0]], chance))
    return kept + added


def _counted(rows: list[Row]) -> Counter[str]:
    return Counter(repr(sorted((name, _rounded(value)) for name, value in row.items())) for row in rows)


def _rounded(value: Any) -> Any:
    return round(value, 9) if isinstance(value, float) else value
