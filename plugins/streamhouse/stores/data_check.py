"""How the files of lakes are written so that damaged bytes are an error for every reader, never other rows."""

from streamhouse.model.types import Tier

CHECKED_COMPRESSION = "gzip"
"""Of Parquet's codecs the one with a checksum, which every reader verifies, ours and other engines.

A flipped bit in a page of zstd, lz4 or snappy is most often another value, and the checksums that Parquet has for
pages are neither written nor verified by Paimon's engine, nor verified by PyIceberg (docs/findings.md).
"""


def remedy(tier: Tier) -> str:
    """What to do about a damaged file of a lake, for the hint of an error."""
    return (
        f"bring the file back from a copy of the {tier} tier; without one, move the table's folder away, and fill it "
        "again: streamhouse tier FLOW --refill where it is a copy, streamhouse restore FLOW --from-sources where it is "
        "the first tier"
    )
