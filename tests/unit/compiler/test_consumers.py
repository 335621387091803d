"""How far a change reaches: what is found in one pass is what walks from every step find, and takes no longer."""

from collections.abc import Iterator
from random import Random

import pytest

from streamhouse.compiler import compile_project
from streamhouse.compiler.diff import diff
from streamhouse.compiler.diff.around import Around
from streamhouse.compiler.diff.beside import Beside, FlowIndex, Reader
from streamhouse.compiler.diff.consumers import Seen, affected, consumers
from streamhouse.model.action import Action
from streamhouse.model.flow import Flow, Read, Source, Step
from streamhouse.model.outcome import FlowDiff, Outcome
from streamhouse.model.plan import FlowPlan
from streamhouse.model.table import Column
from streamhouse.model.types import StepKind
from tests.work import calls_in

COLUMNS = tuple(Column(name=name, type="bigint") for name in ("id", "a", "b"))
SOURCE = {"s": Source(name="s", kind="files", options={"path": "s.csv"})}
ONE = (
    "SELECT id, a + {c} AS a, b FROM l",
    "SELECT id, a, b - {c} AS b FROM l WHERE a > {c}",
    "SELECT id, b AS a, a AS b FROM l WHERE id > {c}",
    "SELECT id, SUM(a) + {c} AS a, MAX(b) AS b FROM l GROUP BY id",
)
TWO = (
    "SELECT l.id, MAX(l.a) + {c} AS a, SUM(l.b) AS b FROM l LEFT JOIN r ON l.id = r.id GROUP BY l.id",
    "SELECT l.id, SUM(l.a) AS a, MAX(r.b) + {c} AS b FROM l JOIN r ON l.id = r.id GROUP BY l.id",
)
FROM_SOURCE = {"s": COLUMNS}


Project = dict[str, list[tuple[str, str, tuple[str, ...]]]]
"""Flow → the tables that it writes, each with its SQL and what that reads."""


class Written(dict[str, Action]):
    """Actions by name."""

    def action(self, use: str) -> Action:
        return self[use]


def project(flows: Project) -> dict[str, FlowPlan]:
    """Flow → its plan, of flows that are lists of table, SQL and what is read."""
    actions, made = Written(), []
    for flow, written in flows.items():
        steps = []
        for table, sql, reads in written:
            name = table.replace(".", "_")
            ports = dict(zip("lr", reads, strict=False))
            declared = {column.name: column.type for column in COLUMNS}
            kind = StepKind.INGEST if table.startswith("ods") else StepKind.CLEAN
            actions[name] = Action(
                action=name, version="1.0.0", step=kind, inputs=dict.fromkeys(ports, declared), sql=sql
            )
            steps.append(Step(use=name, reads={port: Read(table=one) for port, one in ports.items()}, writes=table))
        sources = SOURCE if any("s" in reads for _, _, reads in written) else {}
        made.append(Flow(flow=flow, sources=sources, steps=tuple(steps)))
    return compile_project(made, actions, dict.fromkeys(flows, FROM_SOURCE))


def chain(steps: int, first: int) -> dict[str, FlowPlan]:
    written = [("ods.t0", f"SELECT id, a + {first} AS a, b FROM l", ("s",))]
    written += [(f"dwd.t{i}", f"SELECT id, a + {i} AS a, b FROM l", (_table(i - 1),)) for i in range(1, steps)]
    return project({"own": written})


def _table(number: int) -> str:
    return f"dwd.t{number}" if number else "ods.t0"


def test_the_work_to_compare_grows_with_the_steps_of_a_chain_and_not_faster() -> None:
    def calls_of(steps: int) -> int:
        old, new = chain(steps, 1)["own"], chain(steps, 2)["own"]
        diff(old, new, {})  # what SQL means is remembered
        return calls_in(lambda: diff(old, new, {}))

    assert calls_of(120) < 5 * calls_of(30)
    found = diff(chain(30, 1)["own"], chain(30, 2)["own"], {})
    assert {step.outcome for step in found.steps} == {Outcome.FORWARD}


def test_the_work_to_compare_grows_with_the_flows_and_not_faster() -> None:
    def calls_of(flows: int) -> int:
        def plans(first: int) -> dict[str, FlowPlan]:
            return project(
                {f"f{i}": [(f"ods.t{i}", f"SELECT id, a + {first} AS a, b FROM l", ("s",))] for i in range(flows)}
            )

        old, new = plans(1), plans(2)

        def compared() -> None:
            index = FlowIndex(old)
            for flow in old:
                diff(old[flow], new[flow], Beside(index, flow))

        compared()
        return calls_in(compared)

    assert calls_of(40) < 5 * calls_of(10)


def random_flows(random: Random) -> Project:
    written = [("ods.t0", random.choice(ONE[:3]).format(c=1), ("s",))]
    for i in range(1, 7):
        before = [_table(j) for j in range(i)]
        reads = tuple(random.sample(before, k=min(len(before), random.choice((1, 1, 2)))))
        written.append((f"dwd.t{i}", random.choice(ONE if len(reads) == 1 else TWO).format(c=i), reads))
    own = [_table(i) for i in range(7)]
    others = {"x": [], "y": []}
    for i in range(4):
        reads = tuple(random.sample(own + [table for table, _, _ in others["x"]], k=random.choice((1, 1, 2))))
        sql = random.choice(ONE if len(reads) == 1 else TWO).format(c=i)
        others["x" if i < 2 else "y"].append((f"dwd.u{i}", sql, reads))
    return {"own": written, **others}


def edited(flows: Project, random: Random) -> Project:
    own = list(flows["own"])
    for place in random.sample(range(len(own)), k=random.choice((1, 2))):
        table, _, reads = own[place]
        own[place] = (table, random.choice(ONE[:3] if len(reads) == 1 else TWO).format(c=50 + place), reads)
    return {**flows, "own": own}


def reached_from_each_step(found: FlowDiff, new: FlowPlan, others: dict[str, FlowPlan]) -> set[tuple[str, str]]:
    """The slow way: a walk of its own from each step that changes, through all flows."""
    arounds = {name: Around.of(plan) for name, plan in {**others, "own": new}.items()}

    def readers(table: str) -> Iterator[Reader]:
        return ((flow, one, step) for flow, one in arounds.items() for step in one.readers.get(table, ()))

    return {
        (one.flow, one.step)
        for step in found.steps
        if (change := affected(list(step.findings))) is not None
        for one in consumers(step.table, change, readers, Seen())
    }


@pytest.mark.parametrize("seed", range(20))
def test_one_pass_finds_what_walks_from_every_step_find(seed: int) -> None:
    random = Random(seed)
    flows = random_flows(random)
    old, new = project(flows), project(edited(flows, random))
    others = {name: old[name] for name in ("x", "y")}
    found = diff(old["own"], new["own"], others)
    wanted = reached_from_each_step(found, new["own"], others)
    got = {(one.flow, one.step) for step in found.steps for one in step.consumers}
    assert got == {one for one in wanted if one[0] != "own"}
    behind = {step for flow, step in wanted if flow == "own"}
    assert behind <= {step.step for step in found.steps if step.outcome is not Outcome.NO_OP}
    assert found == diff(old["own"], new["own"], Beside(FlowIndex(old), "own"))


def test_random_changes_reach_other_flows() -> None:
    reached = 0
    for seed in range(6):
        random = Random(seed)
        flows = random_flows(random)
        old, new = project(flows), project(edited(flows, random))
        found = diff(old["own"], new["own"], {name: old[name] for name in ("x", "y")})
        reached += any(step.consumers for step in found.steps)
    assert reached >= 3


def test_a_reader_on_two_ways_has_the_columns_of_both() -> None:
    def plans(first: int) -> dict[str, FlowPlan]:
        sql = f"SELECT id, a + {first} AS a, b + {first} AS b FROM l"
        own = [("ods.t0", sql, ("s",)), ("dwd.t1", "SELECT id, a, 1 AS b FROM l", ("ods.t0",))]
        both = "SELECT l.id, SUM(l.a) AS a, MAX(r.b) AS b FROM l JOIN r ON l.id = r.id GROUP BY l.id"
        return project({"own": own, "x": [("dwd.u", both, ("dwd.t1", "ods.t0"))]})

    old, new = plans(1), plans(2)
    found = diff(old["own"], new["own"], {"x": old["x"]})
    assert {c.columns for step in found.steps for c in step.consumers} == {("a",), ("b",)}
