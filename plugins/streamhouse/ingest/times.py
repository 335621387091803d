"""Days and times of change events and messages, which are ISO texts."""

import pyarrow as pa
import pyarrow.compute as pc

_CLOCK_AND_ZONE = r":\d\d(\.\d+)?\s*(Z|[+-]\d\d(:?\d\d)?)$"
_MIDNIGHT = r"[T ]00:00(:00(\.0+)?)?(\s*(Z|[+-]00(:?00)?))?$"
_BEYOND_MICROSECONDS = r"(\.\d{6})\d+"
_SEPARATED_ZONE = r"\s+(Z|[+-]\d\d(:?\d\d)?)$"


def as_instants(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """ISO texts, some of them with a zone, as instants; one without a zone is UTC. Digits beyond microseconds go."""
    texts = pc.replace_substring_regex(_cut(texts), _SEPARATED_ZONE, r"\1")
    zoned = pc.match_substring_regex(texts, _CLOCK_AND_ZONE)
    with_zone = pc.if_else(zoned, texts, None).cast(pa.timestamp("us", tz="UTC"))
    without = pc.assume_timezone(pc.if_else(zoned, None, texts).cast(pa.timestamp("us")), "UTC")
    return pc.coalesce(with_zone, without)


def as_days(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """ISO texts as days; a time behind the day may be midnight in UTC only, for nothing else is lost with it."""
    return pc.replace_substring_regex(texts, _MIDNIGHT, "").cast(pa.date32())


def _cut(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.replace_substring_regex(texts, _BEYOND_MICROSECONDS, r"\1")
