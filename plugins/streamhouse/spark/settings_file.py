"""Hands settings to a Java process in a file that only this user reads: everybody sees a command line."""

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from streamhouse.install.private_file import write_private

_ARGUMENTS = "PYSPARK_SUBMIT_ARGS"  # what PySpark starts its Java process with


def properties_text(conf: Mapping[str, str]) -> str:
    """Settings as the properties file of Spark has them, which Java reads: one `key=value` a line."""

    def escaped(text: str, special: str) -> str:
        plain = text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
        for one in special:
            plain = plain.replace(one, f"\\{one}")
        return f"\\{plain}" if plain.startswith(" ") else plain

    return "".join(f"{escaped(key, ' :=#!')}={escaped(value, '')}\n" for key, value in sorted(conf.items()))


@contextmanager
def settings_of_java(conf: Mapping[str, str]) -> Iterator[None]:
    """Let the Java process of Spark that is started within the block have these settings from its start.

    The file is gone when the block ends: Spark reads it once.
    """
    folder = Path(tempfile.mkdtemp(prefix="streamhouse-"))  # entered by this user alone
    file = folder / "spark.properties"
    before = os.environ.get(_ARGUMENTS)
    try:
        write_private(file, properties_text(conf))
        # Spark reads its own `spark-defaults.conf` too, unless a file is named.
        os.environ[_ARGUMENTS] = f"--properties-file {file} --load-spark-defaults {before or 'pyspark-shell'}"
        yield
    finally:
        os.environ.pop(_ARGUMENTS, None)
        if before is not None:
            os.environ[_ARGUMENTS] = before
        shutil.rmtree(folder, ignore_errors=True)
