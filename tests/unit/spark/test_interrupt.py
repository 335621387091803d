"""An interrupt never cuts a call of the JVM in two, and a run ends after its epoch."""

import os
import signal
import subprocess
import sys

import pytest

from tests.patience import PATIENCE_S

_CALL = """
import signal, sys, time, types
from streamhouse.spark.interrupt import ending, preserve_handlers, interruptible

gateway = types.ModuleType("py4j.clientserver")
exec('''
import time
def call(seconds):
    print("ready", flush=True)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        time.sleep(0.01)
    print("answered", flush=True)

def fail():
    raise RuntimeError("cancelled")
''', gateway.__dict__)

def sleep():
    for _ in range(600):  # a signal between two looks is seen at the next
        time.sleep(0.1)
"""


def run(program, number, times=1):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    process = subprocess.Popen(
        [sys.executable, "-c", _CALL + program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert process.stdout.readline() == "ready\n"
    told = ""
    for time in range(times):
        if time:
            told += process.stdout.readline()
        process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE_S)
    return (told + out).split(), err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_waits_for_the_answer_of_the_jvm(number):
    program = """
with interruptible():
    try:
        gateway.call(1)
        sleep()
        print("not reached")
    except KeyboardInterrupt:
        print("interrupted")
"""
    assert run(program, number) == (["answered", "interrupted"], "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_error_of_a_call_that_an_interrupt_ends_is_the_interrupt(number):
    program = """
try:
    with interruptible():
        try:
            gateway.call(1)
        finally:
            gateway.fail()
except KeyboardInterrupt as interrupt:
    print("interrupted:", interrupt.__cause__)
"""
    assert run(program, number) == (["answered", "interrupted:", "cancelled"], "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_error_in_a_cleanup_after_an_interrupt_does_not_hide_it(number):
    program = """
try:
    with interruptible():
        try:
            print("ready", flush=True)
            sleep()
        finally:
            gateway.fail()
except KeyboardInterrupt as interrupt:
    print("interrupted:", interrupt.__cause__)
"""
    assert run(program, number) == (["interrupted:", "cancelled"], "")


def test_what_could_not_be_cleaned_up_after_an_interrupt_is_reported():
    program = """
from streamhouse.errors import ServiceStartError
try:
    with interruptible():
        try:
            print("ready", flush=True)
            sleep()
        finally:
            raise ServiceStartError("left")
except ServiceStartError as error:
    print("interrupted:", error.message)
"""
    assert run(program, signal.SIGINT) == (["interrupted:", "left"], "")


def test_an_error_without_an_interrupt_stays_an_error():
    program = """
try:
    with interruptible():
        gateway.fail()
except RuntimeError:
    print("ready", flush=True)
    signal.pause()
"""
    assert run(program, signal.SIGTERM) == ([], "")


def test_elsewhere_it_comes_at_once():
    program = """
with interruptible():
    try:
        print("ready", flush=True)
        sleep()
    except KeyboardInterrupt:
        print("interrupted")
assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
"""
    assert run(program, signal.SIGTERM) == (["interrupted"], "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_can_end_by_itself_is_asked_to(number):
    program = """
import threading
over = threading.Event()
with interruptible():
    try:
        with ending(over.set):
            print("ready", flush=True)
            over.wait()
            print("ended")
    except KeyboardInterrupt:
        print("interrupted")
"""
    assert run(program, number) == (["ended", "interrupted"], "")


def test_a_second_interrupt_cuts_it_off():
    program = """
with interruptible():
    try:
        with ending(lambda: print("asked", flush=True)):
            print("ready", flush=True)
            sleep()
            print("ended")
    except KeyboardInterrupt:
        print("interrupted")
"""
    assert run(program, signal.SIGINT, times=2) == (["asked", "interrupted"], "")


def test_nothing_happens_to_who_is_not_interrupted():
    program = """
with interruptible(), ending(lambda: print("asked")):
    print("ready", flush=True)
    mine = signal.getsignal(signal.SIGINT)
    with preserve_handlers():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    assert signal.getsignal(signal.SIGINT) is mine
signal.signal(signal.SIGINT, signal.SIG_IGN)
time.sleep(1)
print("done")
"""
    assert run(program, signal.SIGWINCH) == (["done"], "")
