"""What functions of Spark do with NULL: which give NULL for NULL alone, and which never give it.

A function that is in neither list may give NULL for any arguments. The lists are `Expression.nullable` of Spark 4.1
with `spark.sql.ansi.enabled=true` (`tests/integration/spark/test_nullability.py`).
"""

from streamhouse.sql.words import words

_OF_TEXT = """
    concat upper ucase lower lcase trim ltrim rtrim btrim initcap reverse replace translate instr startswith endswith
    contains levenshtein soundex md5 sha sha1 crc32 base64 ascii length len char_length character_length bit_length
    octet_length find_in_set like ilike rlike regexp regexp_like regexp_replace
"""
_OF_TEXT_AND_NUMBERS = """
    left substring substr lpad rpad repeat split substring_index regexp_extract position locate overlay
"""
_OF_NUMBERS = """
    abs negative positive bit_count bin char chr space power pow atan2 hypot nanvl shiftleft shiftright
    shiftrightunsigned bit_get getbit bitmap_bit_position bitmap_bucket_number date_from_unix_date timestamp_millis
    timestamp_micros timestamp_seconds make_date
"""
_OF_TIMES = """
    year month day dayofmonth dayofweek weekday dayofyear weekofyear quarter hour minute second dayname monthname
    last_day unix_timestamp to_unix_timestamp unix_millis unix_micros unix_seconds unix_date datediff date_diff
"""

KINDS: dict[str, str] = {
    **dict.fromkeys(words(_OF_TEXT), "t"),
    **dict.fromkeys(words(_OF_TEXT_AND_NUMBERS), "T"),
    **dict.fromkeys(words(_OF_NUMBERS), "n"),
    **dict.fromkeys(words(_OF_TIMES), "d"),
    "hex": "n",
    "date_add": "dn",
    "date_sub": "dn",
    "add_months": "dn",
    "months_between": "dd",
    "dateadd": "vnd",
    "timestampadd": "vnd",
    "timestampdiff": "vdd",
    "date_part": "ld",
    "datepart": "ld",
    "date_format": "dl",
    "from_utc_timestamp": "dl",
    "to_utc_timestamp": "dl",
    "size": "c",
    "cardinality": "c",
    "array_size": "c",
    "array_join": "cl",
    "array_distinct": "c",
    "sort_array": "c",
    "map_keys": "c",
    "map_values": "c",
    "map_entries": "c",
}
"""Function → for each argument, the last for all further ones, which arguments Spark takes as they are; then the result
is NULL where, and only where, one of them is: `t` any, `T` any but text that is not written out after the first two,
`n` a number, `d` a day or time, `l` text that is written out, `v` a word, `c` an array or map."""

NEVER = words(
    """
    hash xxhash64 isnull isnotnull isnan equal_null typeof array map named_struct struct current_timestamp now
    current_date curdate current_timezone localtimestamp pi e count count_if approx_count_distinct collect_list
    collect_set array_agg regr_count zeroifnull
    row_number rank dense_rank ntile percent_rank cume_dist grouping grouping_id
    """
)
"""Functions whose result is never NULL, whatever their arguments are."""

ALL_NULL = words("coalesce greatest least ifnull nvl")
"""Functions whose result is NULL only where all arguments are."""

UNITS = {
    "date_trunc": words("year yyyy yy quarter month mon mm week day dd hour minute second millisecond microsecond"),
    "trunc": words("year yyyy yy quarter month mon mm week"),
}
"""Function → the units that it knows, as text; with another one it is NULL for every time."""

CASTS = words("bigint int smallint tinyint string double float boolean decimal date timestamp binary")
"""Functions that are casts."""
