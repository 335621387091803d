"""Results as the JVM sends them: Arrow batches, and after them the JVM's own list of the batches that its tasks made.

A socket that breaks looks like the end of the batches. The list comes last, after all tasks have ended, so a result
whose list is absent or names other batches is an error. The plan stays as it is: nothing is planned or run to count.
"""

from typing import IO, TYPE_CHECKING, Any

import pyarrow as pa

from streamhouse.errors import ResultShortError
from streamhouse.spark.local_socket import served

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_INT_BYTES = 4
_FAILED = -1  # in place of the number of batches; a text says why, which `getResult` raises


def arrow_rows(frame: "DataFrame") -> pa.Table:
    """The rows of a frame, with the types that the JVM sends: times with a zone are in that of the session.

    Raises:
        ResultShortError: some did not arrive.
        pyspark.errors.PySparkException: the query fails.
    """
    from pyspark.errors.exceptions.captured import unwrap_spark_exception

    address, secret, server = frame._jdf.collectAsArrowToPython()
    connected = False
    try:
        with served(address, secret) as stream:
            connected = True
            return read_result(stream)
    finally:
        if connected:
            with unwrap_spark_exception():
                server.getResult()  # raises what failed in the JVM, before a short result is reported


def read_result(stream: IO[bytes]) -> pa.Table:
    """Read a stream of batches, as they were done, and the list of their places behind it.

    Raises:
        ResultShortError: the stream ends early, or the list names more or other batches.
    """
    try:
        with pa.ipc.open_stream(stream) as reader:
            schema, batches = reader.schema, list(reader)
    except (pa.ArrowInvalid, OSError, EOFError) as error:
        raise ResultShortError(f"a result breaks off: {str(error).splitlines()[0]}") from error
    places = _places(stream)
    if sorted(places) != list(range(len(batches))):
        raise ResultShortError(f"{len(batches)} of {len(places)} batches of a result have arrived")
    return pa.Table.from_batches([batches[place] for place in places], schema).replace_schema_metadata()


def _places(stream: IO[bytes]) -> list[int]:
    """Of each batch in the order of the result, its number in the stream."""
    count = _number(stream)
    if count == _FAILED:
        raise ResultShortError("Spark failed in the middle of a result")
    return [_number(stream) for _ in range(count)]


def _number(stream: IO[bytes]) -> int:
    data: Any = stream.read(_INT_BYTES)
    if len(data) != _INT_BYTES:
        raise ResultShortError("a result breaks off: Spark has not said how many batches it has")
    return int.from_bytes(data, signed=True)
