"""How the files of lakes are written so that damaged bytes are an error for every reader, never other rows."""

CHECKED_COMPRESSION = "gzip"
"""Of Parquet's codecs the one with a checksum, which every reader verifies, ours and other engines.

A flipped bit in a page of zstd, lz4 or snappy is most often another value, and the checksums that Parquet has for
pages are neither written nor verified by Paimon's engine, nor verified by PyIceberg (docs/findings.md).
"""
