"""Fixtures that every level of tests shares."""

from hypothesis import settings

pytest_plugins = ["tests.golden", "tests.plugins_fluss", "tests.plugins_spark"]

# Machines are noisy: a slow first call is no failure.
settings.register_profile("streamhouse", deadline=None)
settings.load_profile("streamhouse")
