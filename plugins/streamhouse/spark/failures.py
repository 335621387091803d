"""What a call of Spark raises, by kind, and what the texts of these errors say.

The functions that give kinds are for `except`: nothing of Spark is imported before something fails.
"""

import re
import sys
from traceback import walk_tb
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.errors import PySparkException

Kinds = tuple[type[Exception], ...]

_TOO_LARGE = re.compile(
    r"Total size of serialized results of .* \((?P<found>[^)]+)\) is bigger than .* \((?P<limit>[^)]+)\)"
)
_NOISE = (
    r"^\[(\w+)(\.\w+)*\]\s*",  # Spark's name of the error
    r"\s*SQLSTATE: \w+.*$",  # and of its class, and the position in the SQL that we wrote
    r" If necessary set .*$",  # a session setting, which a query cannot change
)


class ResultTooLargeError(Exception):
    """A query gives more than this process takes; in the words that Spark has for it."""


def lost_connection() -> Kinds:
    """The Java process does not answer any more."""
    from py4j.protocol import Py4JNetworkError

    return (Py4JNetworkError, ConnectionError)


def is_lost_connection(error: BaseException) -> bool:
    """Whether a call of the Java process failed as it does not answer any more; an error of other sockets is none."""
    if "py4j" not in sys.modules or not isinstance(error, lost_connection()):
        return False
    modules = (frame.f_globals.get("__name__", "") for frame, _ in walk_tb(error.__traceback__))
    return any(name.partition(".")[0] == "py4j" for name in modules)


def thrown_by_java() -> Kinds:
    """Java threw something that PySpark does not know."""
    from py4j.protocol import Py4JJavaError

    return (Py4JJavaError,)


def failed_calls(*also: type[Exception]) -> Kinds:
    """A call of Java did not end well, for whatever reason that PySpark does not know; and `also`."""
    from py4j.protocol import Py4JError

    return (Py4JError, *also)


def failed_queries(*also: type[Exception]) -> Kinds:
    """A query fails; and `also`."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    return (PySparkException, Py4JJavaError, *also)


def java_message(error: BaseException) -> str:
    """The first line of what the exception of Java says, of an error that is `thrown_by_java`."""
    return str(error.java_exception.getMessage()).splitlines()[0]  # type: ignore[attr-defined]


def sizes_of_too_large(error: BaseException) -> tuple[str, str] | None:
    """Size and limit of a result that is larger than `spark.driver.maxResultSize`; None: the error is another."""
    sizes = _TOO_LARGE.search(str(error))
    return None if sizes is None else (sizes["found"], sizes["limit"])


def first_line(error: BaseException) -> str:
    """What a library's error says, without stack or plan: of an error of the JVM, its first cause."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    if causes:
        return causes[-1]
    message_lines = [line for line in lines if not line.startswith(("An error occurred while calling", ": "))]
    return (message_lines or lines or [type(error).__name__])[0]


def cause(text: str) -> str:
    """The innermost cause in the text of a Java exception, without its stack."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    if causes:
        return causes[-1]
    return next((line.lstrip(": ") for line in lines if not line.startswith("An error occurred while")), text)


def plain_message(error: "PySparkException") -> str:
    """What Spark says of a query that it refuses or that fails, without names and classes of errors."""
    lines = str(error).strip().splitlines()
    text = lines[0] if lines else type(error).__name__
    for pattern in _NOISE:
        text = re.sub(pattern, "", text, flags=re.ASCII)
    return text
