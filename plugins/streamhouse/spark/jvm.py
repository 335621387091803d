"""The doors to Spark's JVM. Who stands outside this package asks for a class of a library, a list or a map, by name."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def java_package(spark: "SparkSession", name: str) -> Any:
    """A package of Java by its full name; its classes are its attributes.

    Args:
        spark: In whose JVM.
        name: `org.apache.iceberg`, for one. py4j asks the JVM about each part of it, so keep what is found.
    """
    found: Any = spark._jvm
    for part in name.split("."):
        found = getattr(found, part)
    return found


def java_session(spark: "SparkSession") -> Any:
    """The session as the JVM has it, for functions of Java that take one."""
    return spark._jsparkSession


def use_in_this_thread(spark: "SparkSession") -> None:
    """Make the session the one of this thread in the JVM, where libraries look for settings; a new thread has none."""
    jvm: Any = spark._jvm
    jvm.SparkSession.setActiveSession(spark._jsparkSession)


def java_list(spark: "SparkSession", values: Iterable[Any]) -> Any:
    """A list of Java."""
    result: Any = java_package(spark, "java.util").ArrayList()
    for value in values:
        result.add(value)
    return result


def java_map(spark: "SparkSession", values: Mapping[str, Any]) -> Any:
    """A map of Java."""
    result: Any = java_package(spark, "java.util").HashMap()
    for key, value in values.items():
        result.put(key, value)
    return result
