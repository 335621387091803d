"""Shuts what Spark would read or run besides tables, whatever the session's settings come from."""

from typing import TYPE_CHECKING

from streamhouse.errors import EnvironmentProblem
from streamhouse.model.spark_conf import SHUT
from streamhouse.sql.refused import NOT_OF_VALUES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OF_LIBRARIES = frozenset({"input_file_name"})
"""Stay in Spark, because Iceberg calls them by name; no query gets past `sql/admit.py` with them."""

_ANALYSIS = "org.apache.spark.sql.catalyst.analysis"


def shut(session: "SparkSession") -> None:
    """Take the functions that do more than compute out of Spark, and see that its settings are ours.

    They go for this session and for all that this process makes later.

    Raises:
        EnvironmentProblem: a setting is another one, as in a session that somebody else made.
    """
    jvm = session._jvm
    assert jvm is not None
    state = session._jsparkSession.sessionState()
    builtin = getattr(jvm, f"{_ANALYSIS}.FunctionRegistry").builtin()
    tables = getattr(jvm, f"{_ANALYSIS}.TableFunctionRegistry").builtin()
    named = getattr(jvm, "org.apache.spark.sql.catalyst.FunctionIdentifier")
    full = builtin.listFunction().head()  # since Spark 4.2 its functions have a catalog and a schema
    for name in sorted(NOT_OF_VALUES - OF_LIBRARIES):
        function = named(name, full.database(), full.catalog())
        for registry in (builtin, tables, state.functionRegistry(), state.tableFunctionRegistry()):
            registry.dropFunction(function)
    found = session.sparkContext.getConf()
    for key, value in SHUT.items():
        has = session.conf.get(key, None) if key.startswith("spark.sql.") else found.get(key)
        if has != value:
            raise EnvironmentProblem(
                f"Spark runs with {key}={has}, and Streamhouse needs {value}",
                hint="use a session that Streamhouse makes itself",
            )
