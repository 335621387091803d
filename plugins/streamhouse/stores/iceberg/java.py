"""What Java's collections hold; those of Python, which stand in for them where no Spark is, are given as they are.

py4j's own iteration ends with an exception of Java's, about which PySpark asks the JVM a hundred times.
"""

from collections.abc import Iterator
from typing import Any


def each(collection: Any) -> Iterator[Any]:
    """The elements of an `Iterable`, in its order."""
    if isinstance(collection, list | tuple):
        yield from collection
        return
    ahead = collection.iterator()
    while ahead.hasNext():
        yield ahead.next()


def pairs(mapping: Any) -> dict[str, Any]:
    """A `Map` whose keys are texts."""
    if isinstance(mapping, dict):
        return dict(mapping)
    return {str(key): mapping.get(key) for key in each(mapping.keySet())}
