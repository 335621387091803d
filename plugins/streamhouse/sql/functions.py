"""What Streamhouse knows of Spark's functions: result type, and whether a call is one of many rows.

A function that is not here is refused: its type, and whether it gives the same answer when an epoch
is replayed, is unknown.
"""

from collections.abc import Callable, Sequence

from streamhouse.sql import spark_type as t
from streamhouse.sql.spark_type import SparkType
from streamhouse.sql.words import words

Rule = Callable[[Sequence[SparkType | None]], SparkType | None]
Types = Sequence[SparkType | None]

AGGREGATES = words(
    """
    array_agg any_value approx_count_distinct approx_percentile avg bit_and bit_or bit_xor bool_and bool_or
    collect_list collect_set corr count count_if covar_pop covar_samp every first first_value kurtosis last
    last_value listagg max max_by mean median min min_by mode percentile percentile_approx percentile_cont
    percentile_disc regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy
    regr_syy skewness any some std stddev stddev_pop stddev_samp string_agg sum try_avg try_sum var_pop var_samp
    variance grouping grouping_id
    """
)
GENERATORS = frozenset({"explode", "explode_outer", "posexplode", "posexplode_outer", "inline", "inline_outer"})
RANKS = frozenset({"row_number", "rank", "dense_rank", "ntile", "percent_rank", "cume_dist"})
TIME_WINDOWS = frozenset({"window", "session_window"})

NONDETERMINISTIC = words(
    """
    rand random randn randstr uniform uuid shuffle monotonically_increasing_id input_file_name
    input_file_block_start input_file_block_length spark_partition_id current_user session_user user
    current_catalog current_database current_schema version java_method reflect try_reflect
    """
)
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
        get_json_object to_json typeof dayname monthname current_timezone to_char to_varchar left right
        url_encode url_decode listagg string_agg
        """,
    ),
    **_named(
        t.INT,
        """
        year month day dayofmonth dayofweek weekday dayofyear weekofyear quarter hour minute length char_length
        character_length instr locate position ascii levenshtein octet_length bit_length find_in_set size
        cardinality array_size hash regexp_count regexp_instr unix_date row_number rank dense_rank ntile
        json_array_length bit_count second
        """,
    ),
    **_named(
        t.BIGINT,
        """
        count count_if approx_count_distinct unix_timestamp to_unix_timestamp unix_millis unix_micros unix_seconds
        crc32 xxhash64 array_position regr_count timestampdiff factorial grouping_id
        """,
    ),
    **_named(
        t.DOUBLE,
        """
        sqrt cbrt exp expm1 ln log log10 log2 log1p power pow sin cos tan cot asin acos atan atan2 sinh cosh tanh
        degrees radians pi e months_between hypot rint stddev stddev_pop stddev_samp std variance var_pop var_samp
        corr covar_pop covar_samp skewness kurtosis regr_avgx regr_avgy regr_intercept regr_r2 regr_slope regr_sxx
        regr_sxy regr_syy percent_rank cume_dist sign signum nanvl
        """,
    ),
    **_named(
        t.BOOLEAN,
        """
        isnull isnotnull isnan startswith endswith contains regexp_like regexp rlike like array_contains
        arrays_overlap map_contains_key bool_and bool_or every any some exists forall equal_null
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
        """,
    ),
    **_named(t.TIMESTAMP_NTZ, "to_timestamp_ntz make_timestamp_ntz localtimestamp"),
    **_named(t.BINARY, "unbase64 unhex encode to_binary"),
    "grouping": SparkType("tinyint"),
    "str_to_map": t.map_of(t.STRING, t.STRING),
    "split": t.array_of(t.STRING),
    "window": t.struct_of(("start", t.TIMESTAMP), ("end", t.TIMESTAMP)),
    "session_window": t.struct_of(("start", t.TIMESTAMP), ("end", t.TIMESTAMP)),
}


def _first(types: Types) -> SparkType | None:
    return types[0] if types else None


def _widest(types: Types) -> SparkType | None:
    return t.widest(*types)


def _sum(types: Types) -> SparkType | None:
    argument_type = _first(types)
    if argument_type is None:
        return None
    if argument_type.kind == "decimal":
        return t.decimal(argument_type.precision + 10, argument_type.scale)
    if argument_type.integral:
        return t.BIGINT
    return t.DOUBLE if argument_type.numeric else None


def _avg(types: Types) -> SparkType | None:
    argument_type = _first(types)
    if argument_type is None or not argument_type.numeric:
        return None
    return (
        t.decimal(argument_type.precision + 4, argument_type.scale + 4) if argument_type.kind == "decimal" else t.DOUBLE
    )


def _percentile(types: Types) -> SparkType | None:
    # An array of fractions gives an array of answers.
    several = len(types) > 1 and types[1] is not None and types[1].kind == "array"
    return t.array_of(t.DOUBLE) if several else t.DOUBLE


def _approx_percentile(types: Types) -> SparkType | None:
    argument_type = _first(types)
    several = len(types) > 1 and types[1] is not None and types[1].kind == "array"
    return t.array_of(argument_type) if argument_type and several else argument_type


def _list(types: Types) -> SparkType | None:
    argument_type = _first(types)
    return t.array_of(argument_type) if argument_type else None


def _element(types: Types) -> SparkType | None:
    argument_type = _first(types)
    return argument_type.element if argument_type else None


def _element_at(types: Types) -> SparkType | None:
    argument_type = _first(types)
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
    argument_type = _first(types)
    return t.array_of(argument_type.fields[0][1]) if argument_type and argument_type.kind == "map" else None


def _map_values(types: Types) -> SparkType | None:
    argument_type = _first(types)
    return t.array_of(argument_type.fields[1][1]) if argument_type and argument_type.kind == "map" else None


def _map_entries(types: Types) -> SparkType | None:
    argument_type = _first(types)
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


def _if(types: Types) -> SparkType | None:
    return t.widest(*types[1:])


def _rounded(digits: int) -> Rule:
    def rule(types: Types) -> SparkType | None:
        argument_type = _first(types)
        if argument_type is None or argument_type.kind != "decimal":
            return argument_type if argument_type and argument_type.numeric else None
        whole = argument_type.precision - argument_type.scale + 1
        if digits < 0:
            return t.decimal(max(whole, -digits + 1), 0)
        scale = min(argument_type.scale, digits)
        return t.decimal(whole + scale, scale)

    return rule


def _whole(types: Types) -> SparkType | None:
    argument_type = _first(types)
    if argument_type is None or not argument_type.numeric or len(types) != 1:
        return None
    return (
        t.decimal(argument_type.precision - argument_type.scale + 1, 0) if argument_type.kind == "decimal" else t.BIGINT
    )


def _operator(symbol: str) -> Rule:
    def rule(types: Types) -> SparkType | None:
        if len(types) != 2 or types[0] is None or types[1] is None:
            return None
        return t.arithmetic(symbol, types[0], types[1])

    return rule


def _text(types: Types) -> SparkType | None:
    argument_type = _first(types)
    return argument_type if argument_type in (t.STRING, t.BINARY) else None


def _number(types: Types) -> SparkType | None:
    argument_type = _first(types)
    return argument_type if argument_type and argument_type.numeric else None


def _decode(types: Types) -> SparkType | None:
    if len(types) == 2:
        return t.STRING
    results = [*types[2::2], *([types[-1]] if len(types) % 2 == 0 else [])]
    return t.widest(*results)


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
            nth_value nullif array_distinct sort_array array_sort slice array_compact array_remove
            array_except array_intersect map_concat map_filter reverse bit_and bit_or bit_xor filter
            """
        ),
        _first,
    ),
    **dict.fromkeys(("coalesce", "nvl", "ifnull", "greatest", "least", "array_union"), _widest),
    **dict.fromkeys(("array_agg", "collect_list", "collect_set", "array_repeat"), _list),
    **dict.fromkeys(("array_max", "array_min", "get"), _element),
    **dict.fromkeys(("array_append", "array_prepend"), _array_append),
    **dict.fromkeys(("element_at", "try_element_at"), _element_at),
    **dict.fromkeys(("percentile", "median"), _percentile),
    **dict.fromkeys(("percentile_approx", "approx_percentile"), _approx_percentile),
    **dict.fromkeys(("if", "nvl2"), _if),
    **dict.fromkeys(("round", "bround"), _rounded(0)),
    **dict.fromkeys(("ceil", "ceiling", "floor"), _whole),
    **dict.fromkeys(("lpad", "rpad", "substring", "substr"), _text),
    **dict.fromkeys(("abs", "negative", "positive"), _number),
    **dict.fromkeys(("pmod", "mod"), _operator("%")),
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
    percentile_cont percentile_disc date_add
    """
)
"""Known functions whose type needs more than the types of the arguments: `infer` has the rules."""

KNOWN = frozenset({*FIXED, *RULES, *AGGREGATES, *GENERATORS, *RANKS, *SHAPED, *CLOCKS, *NONDETERMINISTIC})


def round_rule(digits: int) -> Rule:
    """The rule of `round(x, digits)`."""
    return _rounded(digits)
