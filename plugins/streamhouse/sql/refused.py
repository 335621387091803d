"""The functions of Spark that the SQL of an action may not call, each with the reason.

With `functions.KNOWN` and `OPERATORS` this is all that `SHOW FUNCTIONS` of Spark 4.1 lists; a test compares the two.
"""

from collections.abc import Mapping

from streamhouse.sql.words import words

_CHANGES = "gives another answer each time"
_PROCESS = "shows facts of the process or of the session"
_CODE = "runs code that is no SQL"
_OUTSIDE = "reads what no table has"
_DOCUMENTS = "reads a document that can name files and addresses"
_RANDOM_VECTOR = "encrypts with a random start, so that each call gives another value"
_RANDOM_SKETCH = "keeps a random choice of the values, so that a second run gives other bytes"
_NO_TIME = "needs the type TIME, which Spark 4.1 has switched off"
_NO_GEOSPATIAL = "needs geospatial types, which Spark 4.1 has switched off"
_COLLATION = "gives a string type that compares in another way, which no table can hold"
_WINDOW_COLUMN = "needs a column that is a time window in the same query; subtract a microsecond from its end"


def _because(reason: str, names: str) -> dict[str, str]:
    return dict.fromkeys(words(names), reason)


REFUSED: Mapping[str, str] = {
    **_because(
        _CHANGES, "rand random randn randstr uniform uuid shuffle monotonically_increasing_id spark_partition_id"
    ),
    **_because(_RANDOM_VECTOR, "aes_encrypt"),
    **_because(
        _RANDOM_SKETCH,
        """
        kll_merge_agg_bigint kll_merge_agg_double kll_merge_agg_float kll_sketch_agg_bigint kll_sketch_agg_double
        kll_sketch_agg_float kll_sketch_merge_bigint kll_sketch_merge_double kll_sketch_merge_float
        """,
    ),
    **_because(
        _PROCESS,
        """
        input_file_name input_file_block_start input_file_block_length current_user session_user user
        current_catalog current_database current_schema version
        """,
    ),
    **_because(_CODE, "java_method reflect try_reflect"),
    **_because(_OUTSIDE, "python_worker_logs sql_keywords collations"),
    **_because(
        _DOCUMENTS,
        """
        from_xml to_xml schema_of_xml xpath xpath_boolean xpath_double xpath_float xpath_int xpath_long xpath_number
        xpath_short xpath_string from_avro to_avro schema_of_avro from_protobuf to_protobuf
        """,
    ),
    **_because(_NO_TIME, "current_time make_time to_time try_to_time time time_diff time_trunc"),
    **_because(_NO_GEOSPATIAL, "st_asbinary st_geogfromwkb st_geomfromwkb st_setsrid st_srid"),
    **_because(_COLLATION, "collate"),
    **_because(_WINDOW_COLUMN, "window_time"),
}
"""Name → why; the text goes on after the name of the function."""

NOT_REPEATABLE = frozenset(
    name for name, why in REFUSED.items() if why in (_CHANGES, _PROCESS, _CODE, _RANDOM_VECTOR, _RANDOM_SKETCH)
)
"""Those whose answer differs when an epoch is replayed."""

NOT_OF_VALUES = frozenset(name for name, why in REFUSED.items() if why in (_PROCESS, _CODE, _OUTSIDE, _DOCUMENTS))
"""Those that a person's query may not call either: they do more than compute with values."""

OPERATORS = words(
    """
    ! != % & * + - / < << <= <=> <> = == > >= >> >>> ^ and or not | || ~ between case cast div extract in when
    """
)
"""What `SHOW FUNCTIONS` lists and is no call: operators and words of the grammar."""
