"""`kill -9` at every step of a change: old or new serves, never neither, and the next run ends as if nothing was."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from streamhouse.change.change_request import ask
from streamhouse.engine.points import KILL_AT
from streamhouse.engine.points import POINTS as KILL_POINTS
from streamhouse.jobs.run import Meter, carry
from streamhouse.model.review import SwapGate
from streamhouse.model.version import stored_name
from streamhouse.project.compare import Applied, compare
from streamhouse.runtime.open import plan_of
from streamhouse.state.records import Phase
from tests.flows import command
from tests.gate.levels import deep, soak
from tests.live import FLOW, add, assert_equals_batch, expected, opened_project, served, write_action
from tests.oracle import assert_same_rows
from tests.patience import PATIENCE_S, SOAKING, until

pytestmark = [
    pytest.mark.services,
    pytest.mark.spark,
    deep(
        "changes that are killed; test_epochs.py has epochs that are",
        stays=("test_every_point_of_a_change_is_named_here",),
    ),
]

SPENT = "dws.lv_spent"


@pytest.fixture
def open_(tmp_path, fluss, spark):
    with opened_project(tmp_path, fluss, spark) as found:
        yield found


def drained(open_):
    """Drain the flow here: what its next process would do."""
    plan = plan_of(open_.project, FLOW)
    return carry(open_, plan, Meter(plan, lambda _: None, once=True), once=True)


def killed(open_, at):
    """Drain the flow in a process of its own, which dies at a point."""
    output = open_.project.root / "output"
    with output.open("w") as file:
        done = subprocess.run(
            command(open_.project, FLOW),
            env={**os.environ, KILL_AT: at},
            stdout=file,
            stderr=file,
            timeout=PATIENCE_S,
            check=False,
        )
    assert done.returncode == -signal.SIGKILL, output.read_text()


def edit(root):
    """A column is added to one table (SWAP), and an aggregate and a filter change (REBUILD)."""
    write_action(root, "valid", "SELECT order_id, customer, cents, tax FROM rows WHERE cents > 0")
    write_action(root, "spent", "SELECT customer, SUM(cents + tax) AS cents FROM rows GROUP BY customer")
    write_action(root, "best", "SELECT customer, cents FROM customers WHERE cents > 40")


FILLED = [f"apply_filled:{stored_name(name, 2)}" for name in (SPENT, "ads.lv_best")]
POINTS = [
    FILLED[0],
    *(pytest.param(point, marks=soak) for point in ("apply_expanded", "apply_prepared", FILLED[1], "apply_caught_up")),
    *(pytest.param(point, marks=soak) for point in ("apply_audited", "apply_completed")),
]
REBUILT = ["apply_completed", "apply_prepared", "apply_expanded", *FILLED, "apply_caught_up"]
RUNNING = [
    ("apply_audited", True),
    *(pytest.param(point, True, marks=soak) for point in REBUILT),
    *(pytest.param(point, False, marks=soak) for point in ("apply_completed", "apply_expanded", "apply_prepared")),
]
WAITED = ["after_last_write"]  # of the candidate, which catches up
if SOAKING:
    WAITED += ["after_offset_log", "after_begin", "during_write", "between_writes", "before_commit_log"]
    WAITED += ["apply_caught_up", "apply_audited", "apply_prepared", "apply_completed"]


def test_every_point_of_a_change_is_named_here():
    named = {point.partition(":")[0] for point in ("apply_audited", *REBUILT)}
    assert named == {point for point in KILL_POINTS if point.startswith("apply_")}


@pytest.mark.parametrize("point", POINTS)
def test_a_change_of_a_flow_at_rest(open_, point):
    root = open_.project.root
    for part in (0, 1):
        add(root, part)
    drained(open_)
    old = expected(open_)
    edit(root)
    killed(open_, point)
    new = expected(open_)
    done = open_.state.versions() != {}
    assert done == (point == "apply_completed")
    for table in (SPENT, "ads.lv_best"):  # one version serves, and it is whole
        assert_same_rows(served(open_, table), (new if done else old)[table], key=("customer",), name=table)
    add(root, 2)
    drained(open_)
    assert_equals_batch(open_, SPENT, "ads.lv_best", "dws.lv_average", "ods.lv_orders")
    [change] = [c for c in open_.state.recent_changes(FLOW) if c.phase is Phase.APPLIED]
    assert open_.state.versions() == change.versions
    rows = {row["order_id"]: row["tax"] for row in served(open_, "dwd.lv_orders").to_pylist()}
    assert rows[59 - 59 % 20 + 1] is not None  # a row of the last file


@pytest.mark.parametrize(("point", "anew"), RUNNING)
def test_a_change_of_a_flow_that_runs(open_, point, anew):
    root = open_.project.root
    add(root, 0)
    drained(open_)
    program = Path(sys.executable).with_name("streamhouse")
    output = (root / "output").open("w")
    running = subprocess.Popen(
        [str(program), "run", FLOW, "--project", str(root)],
        env={**os.environ, KILL_AT: point},
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        start_new_session=True,
    )
    try:
        add(root, 1)
        wait_until(lambda: open_.state.last_epoch(FLOW, "main").epoch >= 1, running)
        if anew:
            edit(root)
        else:
            write_action(root, "valid", "SELECT order_id, customer, cents, tax FROM rows WHERE cents > 0")
        ask(open_.state, compared(open_), "test")
        assert running.wait(PATIENCE_S) == -signal.SIGKILL
    finally:
        for number in (signal.SIGCONT, signal.SIGKILL):  # its JVM is of the same session
            try:
                os.killpg(running.pid, number)
            except ProcessLookupError:
                break
        output.close()
    add(root, 2)
    drained(open_)
    assert_equals_batch(open_, SPENT, "ads.lv_best", "dws.lv_average", "ods.lv_orders")
    assert bool(open_.state.versions()) == anew


@soak
@pytest.mark.parametrize("point", WAITED)
def test_a_change_that_waited_for_a_person(open_, point):
    """What it built is behind its flow by then, and is killed while it catches up, or later."""
    root = open_.project.root
    add(root, 0)
    drained(open_)
    edit(root)
    asked = ask(open_.state, compared(open_), "test", gate=SwapGate.PERSON)
    drained(open_)
    assert open_.state.change(asked.id).waits
    add(root, 1)
    drained(open_)  # with what serves: nobody said a word
    assert open_.state.change(asked.id).waits
    open_.state.let_serve(asked.id)
    killed(open_, point)
    assert (open_.state.versions() != {}) == (point == "apply_completed")
    add(root, 2)
    drained(open_)
    assert open_.state.change(asked.id).phase is Phase.APPLIED
    assert open_.state.versions() == asked.versions
    assert_equals_batch(open_, SPENT, "ads.lv_best", "dws.lv_average", "ods.lv_orders")


def compared(open_):
    return compare(plan_of(open_.project, FLOW), Applied.of(open_.state), {})


def wait_until(condition, process):
    def look():
        found = condition()
        assert found or process.poll() is None, "it ended"
        return found

    until(look)
