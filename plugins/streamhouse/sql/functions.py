"""What Streamhouse knows of Spark's functions: result type, and whether a call is one of many rows.

A function that is not here is refused: its type, and whether it gives the same answer when an epoch
is replayed, is unknown.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

from streamhouse.sql import spark_type as t
from streamhouse.sql.literals import operated
from streamhouse.sql.spark_type import SparkType
from streamhouse.sql.text_types import (
    Types,
    as_number,
    chosen_text,
    first_type,
    overlaid,
    padded,
    piece,
    reversed_value,
)
from streamhouse.sql.words import words

Rule = Callable[[Types], SparkType | None]
T = TypeVar("T")

AGGREGATES = words(
    """
    array_agg any_value approx_count_distinct approx_percentile avg bit_and bit_or bit_xor bool_and bool_or
    collect_list collect_set corr count count_if covar_pop covar_samp every first first_value kurtosis last
    last_value listagg max max_by mean median min min_by mode percentile percentile_approx percentile_cont
    percentile_disc regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy
    regr_syy skewness any some std stddev stddev_pop stddev_samp string_agg sum try_avg try_sum var_pop var_samp
    variance grouping grouping_id
    approx_top_k approx_top_k_accumulate approx_top_k_combine bitmap_and_agg bitmap_construct_agg bitmap_or_agg
    count_min_sketch histogram_numeric hll_sketch_agg hll_union_agg schema_of_variant_agg theta_intersection_agg
    theta_sketch_agg theta_union_agg
    """
)
GENERATORS = words(
    """
    explode explode_outer posexplode posexplode_outer inline inline_outer stack json_tuple variant_explode
    variant_explode_outer
    """
)
RANKS = frozenset({"row_number", "rank", "dense_rank", "ntile", "percent_rank", "cume_dist"})
TIME_WINDOWS = frozenset({"window", "session_window"})

CLOCKS = frozenset({"current_timestamp", "now", "current_date", "curdate", "localtimestamp", "unix_timestamp"})


def _named(result: SparkType, names: str) -> dict[str, SparkType]:
    return dict.fromkeys(words(names), result)


FIXED: dict[str, SparkType] = {
    **_named(
        t.STRING,
        """
        upper ucase lower lcase trim ltrim rtrim btrim initcap replace translate repeat space
        substring_index split_part regexp_extract regexp_replace regexp_substr soundex format_string printf
        format_number md5 sha sha1 sha2 base64 hex bin conv chr char concat_ws array_join date_format from_unixtime
        get_json_object to_json typeof dayname monthname current_timezone to_char to_varchar
        url_encode url_decode listagg string_agg parse_url try_parse_url mask quote to_csv collation schema_of_csv
        schema_of_json schema_of_variant schema_of_variant_agg try_url_decode make_valid_utf8 validate_utf8
        try_validate_utf8 kll_sketch_to_string_bigint kll_sketch_to_string_double kll_sketch_to_string_float
        """,
    ),
    **_named(
        t.INT,
        """
        year month day dayofmonth dayofweek weekday dayofyear weekofyear quarter hour minute length char_length
        character_length instr locate position ascii levenshtein octet_length bit_length find_in_set size
        cardinality array_size hash regexp_count regexp_instr unix_date row_number rank dense_rank ntile
        json_array_length bit_count second len
        """,
    ),
    **_named(
        t.BIGINT,
        """
        count count_if approx_count_distinct unix_timestamp to_unix_timestamp unix_millis unix_micros unix_seconds
        crc32 xxhash64 array_position regr_count timestampdiff factorial grouping_id bitmap_bit_position
        bitmap_bucket_number bitmap_count hll_sketch_estimate theta_sketch_estimate width_bucket
        kll_sketch_get_n_bigint kll_sketch_get_n_double kll_sketch_get_n_float
        """,
    ),
    **_named(
        t.DOUBLE,
        """
        sqrt cbrt exp expm1 ln log log10 log2 log1p power pow sin cos tan cot asin acos atan atan2 sinh cosh tanh
        degrees radians pi e months_between hypot rint stddev stddev_pop stddev_samp std variance var_pop var_samp
        corr covar_pop covar_samp skewness kurtosis regr_avgx regr_avgy regr_intercept regr_r2 regr_slope regr_sxx
        regr_sxy regr_syy percent_rank cume_dist sign signum nanvl acosh asinh atanh csc sec
        """,
    ),
    **_named(
        t.BOOLEAN,
        """
        isnull isnotnull isnan startswith endswith contains regexp_like regexp rlike like array_contains
        arrays_overlap map_contains_key bool_and bool_or every any some exists forall equal_null ilike luhn_check
        is_valid_utf8 is_variant_null
        """,
    ),
    **_named(
        t.DATE,
        """
        to_date try_to_date add_months last_day next_day make_date date_from_unix_date trunc date_sub
        current_date curdate
        """,
    ),
    **_named(
        t.TIMESTAMP,
        """
        to_timestamp try_to_timestamp to_timestamp_ltz timestamp_millis timestamp_micros timestamp_seconds date_trunc
        from_utc_timestamp to_utc_timestamp now current_timestamp make_timestamp make_timestamp_ltz
        try_make_timestamp try_make_timestamp_ltz
        """,
    ),
    **_named(
        t.TIMESTAMP_NTZ,
        "to_timestamp_ntz make_timestamp_ntz try_make_timestamp_ntz localtimestamp convert_timezone",
    ),
    **_named(
        t.BINARY,
        """
        unbase64 unhex encode to_binary try_to_binary aes_decrypt try_aes_decrypt bitmap_and_agg bitmap_construct_agg
        bitmap_or_agg count_min_sketch hll_sketch_agg hll_union hll_union_agg theta_difference theta_intersection
        theta_intersection_agg theta_sketch_agg theta_union theta_union_agg
        """,
    ),
    **_named(SparkType("variant"), "parse_json try_parse_json to_variant_object"),
    **_named(t.VOID, "assert_true raise_error"),
    **_named(t.array_of(t.STRING), "split regexp_extract_all json_object_keys"),
    **_named(SparkType("time_interval"), "make_dt_interval"),
    **_named(SparkType("month_interval"), "make_ym_interval"),
    **_named(SparkType("calendar_interval"), "make_interval try_make_interval"),
    **_named(SparkType("tinyint"), "grouping bit_get getbit"),
    "sentences": t.array_of(t.array_of(t.STRING)),
    "str_to_map": t.map_of(t.STRING, t.STRING),
}


def _widest(types: Types) -> SparkType | None:
    return t.widest(*types)


INTERVALS = frozenset({"day_interval", "month_interval", "time_interval"})
"""Intervals that Spark can add up and compare."""


def _spread(interval: SparkType) -> SparkType:
    """Of a sum or a share of intervals, which has all the units of their kind."""
    return SparkType("time_interval") if interval.kind == "day_interval" else interval


def _sum(types: Types) -> SparkType | None:
    argument_type = first_type(types)
    if argument_type is None:
        return None
    if argument_type.kind == "decimal":
        return t.decimal(argument_type.precision + 10, argument_type.scale)
    if argument_type.integral:
        return t.BIGINT
    if argument_type.kind in INTERVALS:
        return _spread(argument_type)
    return t.DOUBLE if argument_type.numeric or argument_type == t.VOID else None


def _avg(types: Types) -> SparkType | None:
    argument_type = first_type(types)
    if argument_type is None:
        return None
    if argument_type.kind in INTERVALS:
        return _spread(argument_type)
    if not argument_type.numeric:
        return t.DOUBLE if argument_type == t.VOID else None
    return (
        t.decimal(argument_type.precision + 4, argument_type.scale + 4) if argument_type.kind == "decimal" else t.DOUBLE
    )


def _percentile(types: Types) -> SparkType | None:
    # An array of fractions gives an array of answers.
    several = len(types) > 1 and types[1] is not None and types[1].kind == "array"
    kind = first_type(types)
    answer = _spread(kind) if kind is not None and kind.kind in INTERVALS else t.DOUBLE
    return t.array_of(answer) if several else answer


def _approx_percentile(types: Types) -> SparkType | None:
    argument_type = first_type(types)
    several = len(types) > 1 and types[1] is not None and types[1].kind == "array"
    return t.array_of(argument_type) if argument_type and several else argument_type


def _list(types: Types) -> SparkType | None:
    argument_type = first_type(types)
    return t.array_of(argument_type) if argument_type else None


def _element(types: Types) -> SparkType | None:
    argument_type = first_type(types)
    return argument_type.element if argument_type else None


def _element_at(types: Types) -> SparkType | None:
    argument_type = first_type(types)
    if argument_type and argument_type.kind == "map":
        return argument_type.fields[1][1]
    return argument_type.element if argument_type else None


def _concat(types: Types) -> SparkType | None:
    if any(argument_type is None for argument_type in types):
        return None
    known = [argument_type for argument_type in types if argument_type is not None]
    if any(argument_type.kind == "array" for argument_type in known):
        return t.widest(*known)
    if known and all(argument_type == t.BINARY for argument_type in known):
        return t.BINARY
    return None if any(argument_type.fields for argument_type in known) else t.STRING


def _array(types: Types) -> SparkType | None:
    element = t.widest(*types)
    return t.array_of(element) if element else None


def _map(types: Types) -> SparkType | None:
    keys, values = t.widest(*types[::2]), t.widest(*types[1::2])
    return t.map_of(keys, values) if keys and values and len(types) % 2 == 0 else None


def _map_keys(types: Types) -> SparkType | None:
    argument_type = first_type(types)
    return t.array_of(argument_type.fields[0][1]) if argument_type and argument_type.kind == "map" else None


def _map_values(types: Types) -> SparkType | None:
    argument_type = first_type(types)
    return t.array_of(argument_type.fields[1][1]) if argument_type and argument_type.kind == "map" else None


def _map_entries(types: Types) -> SparkType | None:
    argument_type = first_type(types)
    return t.array_of(t.struct_of(*argument_type.fields)) if argument_type and argument_type.kind == "map" else None


def _map_from_arrays(types: Types) -> SparkType | None:
    if len(types) != 2 or types[0] is None or types[1] is None:
        return None
    keys, values = types[0].element, types[1].element
    return t.map_of(keys, values) if keys and values else None


def _flatten(types: Types) -> SparkType | None:
    inner = _element(types)
    return inner if inner and inner.kind == "array" else None


def _array_append(types: Types) -> SparkType | None:
    element = t.widest(_element(types), *types[1:2])
    return t.array_of(element) if element else None


def _together(types: Types) -> SparkType | None:
    """Of two arrays as sets: Spark finds no type for a decimal beside another type."""
    different = len({kind for kind in types if kind != t.array_of(t.VOID)}) > 1
    decimal = any(kind is not None and kind.element is not None and kind.element.kind == "decimal" for kind in types)
    return None if (different and decimal) or t.VOID in types else t.widest(*types)


def _if(types: Types) -> SparkType | None:
    return t.widest(*types[1:])


def _rounded(digits: int) -> Rule:
    def rule(types: Types) -> SparkType | None:
        argument_type = as_number(first_type(types))
        if argument_type is None or argument_type.kind != "decimal":
            return argument_type
        whole = argument_type.precision - argument_type.scale + 1
        if digits < 0:
            return t.decimal(max(whole, -digits + 1), 0)
        scale = min(argument_type.scale, digits)
        return t.decimal(whole + scale, scale)

    return rule


def _whole(types: Types) -> SparkType | None:
    argument_type = as_number(first_type(types))
    if argument_type is None or len(types) != 1:
        return None
    return (
        t.decimal(argument_type.precision - argument_type.scale + 1, 0) if argument_type.kind == "decimal" else t.BIGINT
    )


def _operator(symbol: str) -> Rule:
    def rule(types: Types) -> SparkType | None:
        if len(types) != 2 or types[0] is None or types[1] is None:
            return None
        return operated(symbol, types[0], types[1])

    return rule


def _window(types: Types) -> SparkType | None:
    """Start and end of a time window: instants, but of a time without a zone such times."""
    moment = t.TIMESTAMP_NTZ if first_type(types) == t.TIMESTAMP_NTZ else t.TIMESTAMP
    return t.struct_of(("start", moment), ("end", moment))


def _number(types: Types) -> SparkType | None:
    argument_type = first_type(types)
    return argument_type if argument_type and argument_type.kind in INTERVALS else as_number(argument_type)


def cut_to(digits: int) -> Rule:
    """The rule of `ceil(x, digits)` and `floor(x, digits)`: a decimal, also of a whole number."""

    def rule(types: Types) -> SparkType | None:
        kind = t.as_decimal(types[0]) if types and types[0] is not None and types[0].numeric else None
        if kind is None:
            return None
        scale = min(kind.scale, max(digits, 0))
        whole = kind.precision - kind.scale + 1
        return t.decimal(max(whole, -digits + 1) + scale if digits < 0 else whole + scale, scale)

    return rule


def _bits(types: Types) -> SparkType | None:
    argument_type = first_type(types)
    if argument_type is None or not argument_type.integral:
        return None
    return argument_type if argument_type == t.BIGINT else t.INT


def _zero_if_null(types: Types) -> SparkType | None:
    return t.INT if first_type(types) == t.VOID else t.widest(*types[:1], t.INT)


def _histogram(types: Types) -> SparkType | None:
    argument_type = first_type(types)
    return t.array_of(t.struct_of(("x", argument_type), ("y", t.DOUBLE))) if argument_type else None


def _top_k(types: Types) -> SparkType | None:
    argument_type = first_type(types)
    return t.array_of(t.struct_of(("item", argument_type), ("count", t.BIGINT))) if argument_type else None


def _top_k_sketch(types: Types) -> SparkType | None:
    item = first_type(types)
    fields = ("sketch", t.BINARY), ("maxItemsTracked", t.INT), ("itemDataType", item), ("itemDataTypeDDL", t.STRING)
    return t.struct_of(*((name, kind) for name, kind in fields if kind is not None)) if item else None


def _top_k_of_sketch(types: Types) -> SparkType | None:
    sketch = first_type(types)
    return _top_k([sketch.fields[2][1]]) if sketch and sketch.kind == "struct" and len(sketch.fields) == 4 else None


def _quantile(of: SparkType) -> Rule:
    def rule(types: Types) -> SparkType | None:
        several = len(types) > 1 and types[1] is not None and types[1].kind == "array"
        return t.array_of(of) if several else of

    return rule


def _map_from_entries(types: Types) -> SparkType | None:
    row = _element(types)
    return (
        t.map_of(row.fields[0][1], row.fields[1][1]) if row and row.kind == "struct" and len(row.fields) == 2 else None
    )


def _array_insert(types: Types) -> SparkType | None:
    return _array_append([types[0], types[2]]) if len(types) == 3 else None


def decode_results(given: Sequence[T]) -> list[T]:
    """Of the arguments of `decode`: each result, and the default; none of two arguments, which decode a text.

    Example:
        >>> decode_results(["value", "search", "result", "other", "second", "default"])
        ['result', 'second', 'default']
    """
    return [*given[2::2], *(given[-1:] if len(given) % 2 == 0 and len(given) > 2 else [])]


def _decode(types: Types) -> SparkType | None:
    if len(types) == 2:
        return t.STRING
    return t.widest(*decode_results(types))


def _sequence(types: Types) -> SparkType | None:
    bounds = t.widest(*types[:2])
    return t.array_of(bounds) if bounds and (bounds.integral or bounds.kind in {"date", "timestamp"}) else None


RULES: dict[str, Rule] = {
    **dict.fromkeys(("sum", "try_sum"), _sum),
    **dict.fromkeys(("avg", "mean", "try_avg"), _avg),
    **dict.fromkeys(
        words(
            """
            min max any_value first last first_value last_value max_by min_by mode lag lead
            nth_value nullif array_distinct sort_array array_sort slice array_compact
            map_filter bit_and bit_or bit_xor filter nullifzero approx_top_k_combine
            """
        ),
        first_type,
    ),
    **dict.fromkeys(("coalesce", "nvl", "ifnull", "greatest", "least", "map_concat"), _widest),
    **dict.fromkeys(("array_union", "array_except", "array_intersect"), _together),
    **dict.fromkeys(TIME_WINDOWS, _window),
    **dict.fromkeys(("array_agg", "collect_list", "collect_set", "array_repeat"), _list),
    **dict.fromkeys(("array_max", "array_min", "get"), _element),
    **dict.fromkeys(("array_append", "array_prepend", "array_remove"), _array_append),
    **dict.fromkeys(("element_at", "try_element_at"), _element_at),
    **dict.fromkeys(("percentile", "median"), _percentile),
    **dict.fromkeys(("percentile_approx", "approx_percentile"), _approx_percentile),
    **dict.fromkeys(("if", "nvl2"), _if),
    **dict.fromkeys(("round", "bround"), _rounded(0)),
    **dict.fromkeys(("ceil", "ceiling", "floor"), _whole),
    **dict.fromkeys(("lpad", "rpad"), padded),
    **dict.fromkeys(("substring", "substr", "left", "right"), piece),
    **dict.fromkeys(("abs", "negative", "positive"), _number),
    **dict.fromkeys(("pmod", "mod", "try_mod"), _operator("%")),
    **dict.fromkeys(("shiftleft", "shiftright", "shiftrightunsigned"), _bits),
    **dict.fromkeys(("kll_sketch_get_rank_bigint", "kll_sketch_get_rank_double"), _quantile(t.DOUBLE)),
    **dict.fromkeys(("kll_sketch_get_rank_float", "kll_sketch_get_quantile_double"), _quantile(t.DOUBLE)),
    "kll_sketch_get_quantile_bigint": _quantile(t.BIGINT),
    "kll_sketch_get_quantile_float": _quantile(t.FLOAT),
    "elt": chosen_text,
    "reverse": reversed_value,
    "overlay": overlaid,
    "zeroifnull": _zero_if_null,
    "histogram_numeric": _histogram,
    "approx_top_k": _top_k,
    "approx_top_k_accumulate": _top_k_sketch,
    "approx_top_k_estimate": _top_k_of_sketch,
    "map_from_entries": _map_from_entries,
    "array_insert": _array_insert,
    "try_add": _operator("+"),
    "try_subtract": _operator("-"),
    "try_multiply": _operator("*"),
    "try_divide": _operator("/"),
    "concat": _concat,
    "array": _array,
    "map": _map,
    "map_keys": _map_keys,
    "map_values": _map_values,
    "map_entries": _map_entries,
    "map_from_arrays": _map_from_arrays,
    "flatten": _flatten,
    "decode": _decode,
    "sequence": _sequence,
}
SHAPED = words(
    """
    bigint binary boolean date decimal double float int smallint string timestamp tinyint struct
    named_struct from_json transform aggregate reduce datediff date_diff timestampadd dateadd date_part
    percentile_cont percentile_disc date_add datepart from_csv to_number try_to_number variant_get try_variant_get
    arrays_zip zip_with transform_keys transform_values map_zip_with
    """
)
"""Known functions whose type needs more than the types of the arguments: `infer` has the rules."""

KNOWN = frozenset({*FIXED, *RULES, *AGGREGATES, *GENERATORS, *RANKS, *SHAPED, *CLOCKS})


def round_rule(digits: int) -> Rule:
    """The rule of `round(x, digits)`."""
    return _rounded(digits)
