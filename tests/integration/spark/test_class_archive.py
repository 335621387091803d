"""Spark's JVM takes its classes from the archive."""

from pathlib import Path

import pytest

pytestmark = [pytest.mark.spark]


def test_the_jvm_of_a_session_has_the_archive_in_its_memory(spark):
    pid = spark._jvm.java.lang.ProcessHandle.current().pid()
    assert "/classes.jsa" in Path(f"/proc/{pid}/maps").read_text(), [
        file.read_text() for file in Path.home().glob(".cache/streamhouse/spark/*/classes.refused")
    ]
