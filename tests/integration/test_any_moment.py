"""Whenever Spark dies, a person asks a runner to end, or a drain ends: it says so, and no row is lost or twice."""

import random
import signal

import psutil
import pytest

from tests.gate.levels import soak
from tests.integration.test_runners import (
    FLOW,
    SEGMENT,
    Process,
    add,
    assert_equals_batch,
    is_drained,
    last_epoch,
    project,
)
from tests.patience import SOAKING, pause

__all__ = ["project"]
pytestmark = [pytest.mark.services, pytest.mark.spark, soak]
ROUNDS = 5 if SOAKING else 1


def java_of(process):
    family = psutil.Process(process.popen.pid).children(recursive=True)
    [java] = [p for p in family if p.name() == "java" and any("SparkSubmit" in word for word in p.cmdline())]
    return java


def in_the_middle(project, state, number, moments, runner):
    """Somewhere in an epoch, or between two, with more to come."""
    before = last_epoch(state)
    add(project, number, rows=400)
    runner.until(lambda: last_epoch(state) > before + 1)
    pause(moments.uniform(0.0, 0.5))


def test_spark_dies_at_any_moment(project, spark):
    moments = random.Random(7)
    with project.state() as state:
        for number in range(1, ROUNDS + 1):
            with Process(project) as runner:
                in_the_middle(project, state, number, moments, runner)
                java_of(runner).kill()
                code, printed = runner.ended()
                assert code == 6
                assert "Traceback" not in printed
                assert "Spark's Java process is gone" in printed
    with Process(project, "--once") as last:
        code, printed = last.ended()
    assert code == 0, printed
    assert_equals_batch(project, spark)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_asked_to_end_at_any_moment(project, spark, number):
    moments = random.Random(8)
    with project.state() as state:
        for n in range(1, ROUNDS + 1):
            with Process(project) as runner:
                in_the_middle(project, state, n, moments, runner)
                runner.send(number)
                code, printed = runner.ended()
                assert code == 130
                assert "Traceback" not in printed
                assert state.unfinished(FLOW, SEGMENT) is None
    with Process(project, "--once") as last:
        code, printed = last.ended()
    assert code == 0, printed
    assert_equals_batch(project, spark)


def test_drained_again_and_again(project, spark):
    with project.state() as state:
        for number in range(1, ROUNDS + 2):
            add(project, number, rows=50 + number)
            with Process(project, "--once") as runner:
                code, printed = runner.ended()
            assert code == 0, printed
            assert "Traceback" not in printed
            assert is_drained(project, state)
    assert_equals_batch(project, spark)
