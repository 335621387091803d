"""`streamhouse --version`: the versions of Streamhouse and of what it found beside it; imports none of it."""

import platform
from importlib.metadata import PackageNotFoundError, version

from streamhouse.errors import JavaMissingError
from streamhouse.install.java import find_java

_PACKAGES = ("pyspark", "pyfluss", "pypaimon", "pyiceberg", "duckdb", "apache-airflow")


def version_text() -> str:
    """One line for each part that was found, `name version`; of what is missing, that it is."""
    lines = [f"streamhouse {version('streamhouse')}", f"python {platform.python_version()}", f"java {_java()}"]
    return "\n".join([*lines, *(f"{name} {_installed(name)}" for name in _PACKAGES)])


def _java() -> str:
    try:
        found = find_java()
    except JavaMissingError:
        return "not found"
    return f"{found.version} ({found.home})"


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
