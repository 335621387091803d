"""The environment of a process that answers queries: what it needs to find the tables, and no other secret."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from streamhouse.model.place import is_local
from streamhouse.project.settings import Settings

_NAMES = frozenset(
    {
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TERM", "PWD", "HOSTNAME"),
        *("TMPDIR", "TEMP", "TMP", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "PAGER", "LD_LIBRARY_PATH"),
        *("JAVA_HOME", "JAVA_TOOL_OPTIONS", "VIRTUAL_ENV", "HADOOP_HOME", "HADOOP_CONF_DIR", "YARN_CONF_DIR"),
        *("PYTHONPATH", "PYTHONHOME", "PYTHONUNBUFFERED", "PYTHONHASHSEED", "PYTHONWARNINGS", "PYTHONIOENCODING"),
        *("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON", "PYSPARK_SUBMIT_ARGS", "PYSPARK_GATEWAY_PORT"),
        *("PYSPARK_GATEWAY_SECRET", "PYSPARK_PIN_THREAD", "SPARK_HOME", "SPARK_CONF_DIR", "SPARK_LOCAL_IP"),
        *("SPARK_LOCAL_DIRS", "SPARK_SUBMIT_OPTS", "SPARK_LAUNCHER_OPTS", "SPARK_SCALA_VERSION", "SPARK_USER"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
        *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "PYDANTIC_DISABLE_PLUGINS"),
        *("STREAMHOUSE_FLUSS", "STREAMHOUSE_STATE", "STREAMHOUSE_WARM", "STREAMHOUSE_COLD", "STREAMHOUSE_COLD_CATALOG"),
        *("STREAMHOUSE_COLD_SCOPE", "STREAMHOUSE_S3_ENDPOINT", "STREAMHOUSE_S3_REGION", "STREAMHOUSE_IVY_SETTINGS"),
        *("STREAMHOUSE_SPARK_MASTER", "STREAMHOUSE_SPARK_CONF", "STREAMHOUSE_PATIENCE", "STREAMHOUSE_CACHE"),
        *("STREAMHOUSE_PROJECT", "STREAMHOUSE_COMMAND"),
    }
)
_FAMILIES = ("LC_", "XDG_", "KRB5")
_OF_A_STORE = ("AWS_", "AZURE_", "GOOGLE_", "OSS_")
_OF_A_SERVER = ("PG",)  # what PostgreSQL's library reads


def query_environment(environment: Mapping[str, str], settings: Settings) -> dict[str, str]:
    """The variables that a query of this project needs.

    Args:
        environment: Of a process, which may hold secrets of sources, of Airflow and of others.
        settings: As this environment makes them. Keys of object stores stay where a lake is in one, and what a
            catalog, a cluster or a database server is entered by where there is one.
    """
    families = list(_FAMILIES)
    places = (settings.warm.warehouse or "", settings.cold.warehouse or "", settings.cold.catalog or "")
    if not all(map(is_local, places)):
        families += _OF_A_STORE
    if (settings.state or "").startswith("postgres"):
        families += _OF_A_SERVER
    names = set(_NAMES)
    if settings.cold.is_rest:
        names.add("STREAMHOUSE_COLD_CREDENTIAL")
    if settings.spark.master.startswith("spark://"):
        names.add("STREAMHOUSE_SPARK_SECRET")
    return {
        name: value
        for name, value in environment.items()
        if name in names or name.upper() in _NAMES or name.startswith(tuple(families))
    }


@contextmanager
def only_what_a_query_needs(settings: Settings) -> Iterator[None]:
    """Let this process, and what it starts, have no other variables within the block."""
    before = dict(os.environ)
    needed_variables = query_environment(before, settings)
    hidden = before.keys() - needed_variables.keys()
    for name in hidden:
        del os.environ[name]
    try:
        yield
    finally:
        os.environ.update({name: before[name] for name in hidden})
