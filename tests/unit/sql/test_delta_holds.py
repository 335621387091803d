"""What strategy `delta` claims, tried on random tables with DuckDB in place of the engine.

The rows that a query puts together: those before, and what the changed rows of each input add to them and take away
when they meet only rows that a link leads to. The result: what the rows, or their totals, make of it.
"""

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

from streamhouse.errors import StrategyError
from streamhouse.model.delta_plan import ROWS, WEIGHT, DeltaBlock, DeltaPlan
from streamhouse.model.types import Strategy
from streamhouse.sql.delta.weights import weight_columns, weighted
from streamhouse.stores.arrow import arrow_schema
from tests.patience import SOAKING
from tests.small_duckdb import SmallDuckDB
from tests.sql_corpus import KEYS, NOT_IN_DUCKDB, ORDERS, Case, cases, classified, columns, orders
from tests.unit.sql.test_strategies_hold import Row, State, _changed, _row, _rows

pytestmark = pytest.mark.proof
ROUNDS = 10
CHANGES = 10 if SOAKING else 5
"""Changes of the inputs that a plan is to follow: each wrong link that ten of them show, the first shows."""

MORE = cases("delta.sql")


def _tried() -> Iterator[tuple[Case, DeltaPlan]]:
    for case in [*cases(), *MORE]:
        if any(text in case.sql for text in (*NOT_IN_DUCKDB, "st = 1", "st AS TIMESTAMP", "(SELECT avg(amt)")):
            continue
        try:
            found = classified(case, Strategy.DELTA)
        except StrategyError:
            continue
        assert found.delta is not None
        yield case, found.delta


TRIED = list(_tried())


@pytest.mark.parametrize(("case", "plan"), TRIED, ids=[case.sql[:90] for case, _ in TRIED])
def test_result_equals_the_batch(case: Case, plan: DeltaPlan) -> None:
    query = orders(case.sql)
    engine = _Engine(sorted(query.reads))
    for seed in range(CHANGES):
        chance = random.Random(seed)
        before = {name: _rows(name, chance) for name in query.reads}
        after = {name: _changed(name, rows, chance) for name, rows in before.items()}
        batch = _counted(engine.run(query.sql, after))
        if "grouping" in case.sql and not engine.run(plan.rows, _read(plan, after)):
            continue  # of no rows, DuckDB has a total, and Spark has none
        for stage in plan.stages:
            engine.types[stage.name] = stage.columns
            result = _followed(engine, stage.plan, before, after, seed)
            before[stage.name] = engine.result(stage.plan, engine.run(stage.plan.rows, _read(stage.plan, before)))
            after[stage.name] = result
            keys = Counter(tuple(row[name] for name in stage.key) for row in result)
            assert not [key for key, number in keys.items() if number > 1], f"seed {seed}"
        assert _counted(_followed(engine, plan, before, after, seed)) == batch, f"seed {seed}"


def _followed(engine: "_Engine", plan: DeltaPlan, before: State, after: State, seed: int) -> list[Row]:
    """The result of a block after a change, of the rows that the change adds and takes away."""
    engine.types |= {port: engine.types[of] for port, of in plan.ports.items()}
    before, after = _read(plan, before), _read(plan, after)
    expected = engine.run(plan.rows, after)
    held = Counter(map(_frozen, engine.run(plan.rows, before)))
    if all(plan.follows(port) for port in before if before[port] != after[port]):
        for sign, state in _parts(plan, before, after):
            for row in engine.run(plan.rows, state):
                held[_frozen(row)] += sign
        assert {row: n for row, n in held.items() if n} == Counter(map(_frozen, expected)), f"seed {seed}"
    return engine.result(plan, expected)


def _read(plan: DeltaPlan, state: State) -> State:
    """What the ports of a block have."""
    return {port: state[of] for port, of in plan.ports.items()} if plan.ports else dict(state)


@pytest.mark.parametrize(("case", "plan"), TRIED, ids=[case.sql[:90] for case, _ in TRIED])
def test_weights_go_through_the_query(case: Case, plan: DeltaPlan) -> None:
    """One query over rows that come and rows that go gives what one query over each gives."""
    query = orders(case.sql)
    engine = _Engine(sorted(query.reads))
    for seed in range(ROUNDS // 2):
        chance = random.Random(seed)
        state = {name: _rows(name, chance) for name in query.reads}
        for stage in plan.stages:
            _assert_weighted(engine, stage.plan, state, chance)
            state[stage.name] = engine.result(stage.plan, engine.run(stage.plan.rows, _read(stage.plan, state)))
            engine.types[stage.name] = stage.columns
        _assert_weighted(engine, plan, state, chance)


def _assert_weighted(engine: "_Engine", block: DeltaBlock, tables: State, chance: random.Random) -> None:
    engine.types |= {port: engine.types[of] for port, of in block.ports.items()}
    state, names = _read(block, tables), weight_columns(block)
    for port in block.linear:
        of = block.ports.get(port, port)
        come = state[port]
        gone = _changed(of, come, chance) if of in ORDERS else [row for row in come if chance.random() < 0.5]
        rows = [row | {names[port]: sign} for sign, part in ((1, come), (-1, gone)) for row in part]
        others = {p: [row | ({names[p]: 1} if p in names else {}) for row in state[p]] for p in state}
        found: Counter[Any] = Counter()
        for row in engine.weighted(block, {**others, port: rows}):
            found[_frozen({name: value for name, value in row.items() if name != WEIGHT})] += row[WEIGHT]
        expected = Counter(map(_frozen, engine.run(block.rows, {**state, port: come})))
        expected.subtract(map(_frozen, engine.run(block.rows, {**state, port: gone})))
        assert {row: n for row, n in found.items() if n} == {row: n for row, n in expected.items() if n}


# Of the first rows of all groups, each group decides with the others. DuckDB's count_if of NULLs is NULL, Spark's is 0.
ALONE = [
    (case, plan)
    for case, plan in TRIED
    if plan.shown and not plan.top and not plan.ports and "count_if" not in case.sql
]


@pytest.mark.parametrize(("case", "plan"), ALONE, ids=[case.sql[:90] for case, _ in ALONE])
def test_groups_computed_alone_equal_the_batch(case: Case, plan: DeltaPlan) -> None:
    """The engine computes the groups that an epoch touches, and no others."""
    query = orders(case.sql)
    engine = _Engine(sorted(query.reads))
    for seed in range(ROUNDS):
        chance = random.Random(seed)
        state = {name: _many_rows(name, chance) for name in query.reads}
        rows = engine.run(plan.rows, state)
        touched = {key for key in sorted(_keys(plan, rows), key=str) if chance.random() < 0.4}
        alone = engine.result(plan, [row for row in rows if _keys(plan, [row]) <= touched])
        expected = _showing(plan, engine.run(query.sql, state), touched)
        assert _counted(alone) == _counted(expected), f"seed {seed}: {touched}"


def test_enough_is_tried() -> None:
    tried = {case.sql for case, _ in TRIED}
    assert not [case.sql for case in MORE if case.sql not in tried]
    assert len(TRIED) >= 80
    assert sum(plan.totals is not None for _, plan in TRIED) >= 20
    assert sum(plan.totals is None for _, plan in TRIED) >= 20


def test_a_wrong_link_is_noticed() -> None:
    sql = "SELECT c.region AS r, count(k.id) AS n FROM c LEFT JOIN k ON k.cust = c.cust GROUP BY c.region"
    case = Case("delta", ("r",), sql)
    right = classified(case, Strategy.DELTA).delta
    assert right is not None
    with pytest.raises(AssertionError, match="seed"):
        test_result_equals_the_batch(case, right.model_copy(update={"links": ({"k": "v", "c": "cust"},)}))
    with pytest.raises(AssertionError, match="seed"):
        test_result_equals_the_batch(case, right.model_copy(update={"linear": ("c", "k")}))


def test_the_only_group_has_no_window_function() -> None:
    value = "rank() OVER (PARTITION BY max(k.v) ORDER BY 1)"
    sql = f"SELECT 1 AS a, count(*) AS n, {value} AS m FROM k JOIN c ON k.cust = c.cust"
    with pytest.raises(StrategyError, match=r"without PARTITION BY|over the only group"):
        classified(Case("delta", ("a",), sql), Strategy.DELTA)


def _many_rows(name: str, chance: random.Random) -> list[Row]:
    """Many rows over few values, so that groups have several rows, and what is above the groups several of them."""
    rows = [_row(name, number, chance) for number in range(1, 16)]
    few = [c for c, kind in ORDERS[name].items() if c not in (*KEYS[name], "id") and kind in ("int", "bigint")]
    return [row | {c: chance.choice([*range(1, 8 if c == "cust" else 3), None]) for c in few} for row in rows]


def _keys(plan: DeltaPlan, rows: list[Row]) -> set[tuple[Any, ...]]:
    """What the engine looks groups up by."""
    return {tuple(row[name] for name in plan.key) for row in rows}


def _showing(plan: DeltaPlan, result: list[Row], touched: set[tuple[Any, ...]]) -> list[Row]:
    """The rows of a result that show one of some groups."""
    wanted = {tuple(key[plan.key.index(group)] for group in plan.shown.values()) for key in touched}
    return [row for row in result if tuple(row[name] for name in plan.shown) in wanted]


def _parts(plan: DeltaPlan, before: State, after: State) -> Iterator[tuple[int, State]]:
    """States whose rows are to be added, and those whose rows are to be taken away."""
    now = dict(before)
    for port in before:
        come, gone = _without(after[port], before[port]), _without(before[port], after[port])
        keys = [(link, {row[link[port]] for row in [*come, *gone]}) for link in plan.links if port in link]
        if not come and not gone:
            continue
        for sign, changed, whole in ((1, come, after[port]), (-1, gone, before[port])):
            if port in plan.linear:
                yield sign, _met(plan, {**now, port: changed}, {port})
            else:
                yield sign, _met(plan, _restricted({**now, port: whole}, keys), {p for link, _ in keys for p in link})
        now[port] = after[port]


def _restricted(state: State, keys: list[tuple[dict[str, str], set[Any]]]) -> State:
    return {
        port: [row for row in rows if all(row[link[port]] in wanted for link, wanted in keys if port in link)]
        for port, rows in state.items()
    }


def _met(plan: DeltaPlan, state: State, bound: set[str]) -> State:
    """The state with only those rows of other ports that a link leads to, from linear ports that are bound."""
    state, bound = dict(state), set(bound)
    known = bound & set(plan.linear)
    for _ in state:
        for port in [p for p in state if p not in bound]:
            start = next((k for k in sorted(known) if any({k, port} <= set(link) for link in plan.links)), None)
            if start is not None:
                shared = [link for link in plan.links if {start, port} <= set(link)]
                keys = [({port: link[port]}, {row[link[start]] for row in state[start]}) for link in shared]
                state = _restricted(state, keys)
                bound.add(port)
                known |= {port} & set(plan.linear)
    return state


class _Engine:
    def __init__(self, ports: list[str]) -> None:
        self.types = {port: columns(ORDERS[port]) for port in ports}
        self._database = SmallDuckDB()

    def run(self, sql: str, state: State) -> list[Row]:
        for port, rows in state.items():
            self._database.put(port, rows, self.types[port])
        return self._database.answer(sql).to_pylist()

    def weighted(self, block: DeltaBlock, state: State) -> list[Row]:
        """The rows with their weights."""
        weights = {port: columns({name: "bigint"}) for port, name in weight_columns(block).items()}
        for port, rows in state.items():
            self._database.put(port, rows, (*self.types[port], *weights.get(port, ())))
        return self._database.answer(weighted(block.model_copy(update={"totals": None}))).to_pylist()

    def result(self, plan: DeltaPlan, rows: list[Row]) -> list[Row]:
        state = (*plan.groups, *plan.values)
        if plan.totals is None:
            self._database.put(ROWS, rows, state)
            return self._database.answer(plan.result).to_pylist()
        if rows:
            weighted = pa.Table.from_pylist([{**row, WEIGHT: 1} for row in rows])
            for at, field in enumerate(arrow_schema(plan.groups)):
                weighted = weighted.set_column(at, field, weighted.column(field.name).cast(field.type))
            self._database.put_arrow(ROWS, weighted)
            totals = self._database.answer(plan.totals)
        elif plan.single:
            totals = pa.table({name: pa.array([0], pa.int64()) for name in [c.name for c in state] + [WEIGHT]})
        else:
            return []
        self._database.put_arrow(ROWS, totals)
        return self._database.answer(plan.result).to_pylist()


def _frozen(row: Row) -> tuple[Any, ...]:
    return tuple((name, str(value)) for name, value in sorted(row.items()))


def _counted(rows: list[Row]) -> Counter[Any]:
    return Counter(
        tuple(
            (name, float(v) if isinstance(v, int | float) or hasattr(v, "as_tuple") else str(v))
            for name, v in row.items()
        )
        for row in rows
    )


def _without(rows: list[Row], others: list[Row]) -> list[Row]:
    return [row for row in rows if row not in others]
