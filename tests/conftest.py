"""Fixtures that every level of tests shares."""

import os

from hypothesis import settings

pytest_plugins = ["tests.golden", "tests.plugins_fluss", "tests.plugins_spark"]

# Machines are noisy: a slow first call is no failure.
settings.register_profile("streamhouse", deadline=None)
settings.load_profile("streamhouse")

# Most JVMs of tests live for seconds, where the second compiler costs more than it gains.
os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1")
