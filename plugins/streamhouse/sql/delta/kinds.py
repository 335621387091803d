"""Types of columns that the state of a `delta` step may have."""

from streamhouse.sql.words import words

KEYS = words("boolean tinyint smallint int bigint decimal string date timestamp timestamp_ntz")
"""Two values are equal only when they are the same, and DuckDB puts them in the order in which Spark does."""

VALUES = KEYS | words("float double binary")
