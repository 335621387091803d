"""Fixtures that every level of tests shares."""

import os
import signal
import threading

from hypothesis import settings

pytest_plugins = ["tests.golden", "tests.plugins_fluss", "tests.plugins_spark"]

# Machines are noisy: a slow first call is no failure.
settings.register_profile("streamhouse", deadline=None)
settings.load_profile("streamhouse")

# Most JVMs of tests live for seconds, where the second compiler costs more than it gains.
os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1")

# A run in the background of a script ignores Ctrl-C, and so would every process that a test sends it to.
if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
