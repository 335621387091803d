"""How many arguments Spark's functions take, as Spark 4.1's own registry says."""

from collections.abc import Iterator, Sequence

from sqlglot.tokenizer_core import Token, TokenType

from streamhouse.sql.words import words

_OPENS = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE}
_CLOSES = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE}
_NO_CALL_AFTER = {TokenType.ALIAS, TokenType.DOT, TokenType.DCOLON, TokenType.COLON}
_LISTS_AFTER = {TokenType.LIKE, TokenType.ILIKE}  # `LIKE ANY ('a%', 'b%')`
_OTHER_GRAMMAR = frozenset({"from", "for", "in", "select", "with", "where", "values", "table"})
_TYPES = frozenset({"decimal", "char"})  # they take other arguments in a CAST


def _taking(fewest: int, most: int | None, names: str) -> dict[str, tuple[int, int | None]]:
    return dict.fromkeys(words(names), (fewest, most))


# fmt: off
ARITY: dict[str, tuple[int, int | None]] = {
    **_taking(0, 1, """
        ntile rand randn random uuid
    """),
    **_taking(0, 2, """
        mode
        make_ym_interval
        unix_timestamp
    """),
    **_taking(0, 0, """
        cume_dist curdate current_catalog current_database current_date current_schema current_timestamp
        current_timezone current_user e input_file_block_length input_file_block_start input_file_name
        localtimestamp monotonically_increasing_id now pi row_number session_user spark_partition_id
        user version
    """),
    **_taking(1, 1, """
        acosh asinh atanh bitmap_and_agg bitmap_bit_position bitmap_bucket_number bitmap_construct_agg
        bitmap_count bitmap_or_agg collation csc hll_sketch_estimate is_valid_utf8 is_variant_null
        json_object_keys kll_sketch_get_n_bigint kll_sketch_get_n_double kll_sketch_get_n_float
        kll_sketch_to_string_bigint kll_sketch_to_string_double kll_sketch_to_string_float len luhn_check
        make_valid_utf8 map_from_entries nullifzero parse_json quote raise_error schema_of_variant
        schema_of_variant_agg sec theta_intersection_agg theta_sketch_estimate to_variant_object
        try_parse_json try_url_decode try_validate_utf8 validate_utf8 zeroifnull variant_explode
        variant_explode_outer
        abs acos array_agg array_compact array_distinct array_max array_min array_size ascii asin atan
        avg base64 bigint bin binary bit_and bit_count bit_length bit_or bit_xor bool_and bool_or
        boolean cardinality cbrt char char_length character_length chr collect_list collect_set cos cosh
        cot count_if crc32 date date_from_unix_date day dayname dayofmonth dayofweek dayofyear decimal
        degrees double every exp explode explode_outer expm1 factorial flatten float grouping hex hour
        initcap inline inline_outer int isnan isnotnull isnull json_array_length kurtosis last_day lcase
        length ln log10 log1p log2 lower map_entries map_keys map_values max md5 mean median min minute
        month monthname negative octet_length percentile_cont percentile_disc posexplode
        posexplode_outer positive quarter radians reverse rint second sha sha1 sign signum sin sinh size
        skewness smallint some any soundex space sqrt std stddev stddev_pop stddev_samp string sum tan tanh
        timestamp timestamp_micros timestamp_millis timestamp_seconds tinyint try_avg try_sum typeof
        ucase unbase64 unhex unix_date unix_micros unix_millis unix_seconds upper url_decode url_encode
        var_pop var_samp variance weekday weekofyear year
    """),
    **_taking(1, 2, """
        approx_top_k_accumulate approx_top_k_combine approx_top_k_estimate assert_true hll_sketch_agg
        hll_union_agg schema_of_csv schema_of_json theta_sketch_agg theta_union_agg to_csv try_to_binary
        any_value approx_count_distinct array_sort bround btrim ceil ceiling first first_value floor
        from_unixtime last last_value listagg log ltrim randstr round rtrim shuffle sort_array
        string_agg to_binary to_date to_json to_timestamp to_timestamp_ltz to_timestamp_ntz
        to_unix_timestamp trim try_to_date try_to_timestamp
    """),
    **_taking(1, 3, """
        approx_top_k sentences
        lag lead str_to_map
    """),
    **_taking(2, 2, """
        bit_get datepart getbit histogram_numeric kll_sketch_get_quantile_bigint
        kll_sketch_get_quantile_double kll_sketch_get_quantile_float kll_sketch_get_rank_bigint
        kll_sketch_get_rank_double kll_sketch_get_rank_float shiftleft shiftright shiftrightunsigned
        theta_difference theta_intersection to_number transform_keys transform_values try_mod try_to_number
        add_months array_append array_contains array_except array_intersect array_position array_prepend
        array_remove array_repeat array_union arrays_overlap atan2 contains corr covar_pop covar_samp
        date_format date_part date_sub date_trunc element_at encode endswith equal_null exists filter
        find_in_set forall format_number from_utc_timestamp get get_json_object hypot ifnull instr left
        map_contains_key map_filter map_from_arrays max_by min_by mod nanvl next_day nullif nvl pmod pow
        power regexp regexp_count regexp_like regexp_substr regr_avgx regr_avgy regr_count
        regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy repeat right rlike session_window
        sha2 startswith to_char to_utc_timestamp to_varchar transform trunc try_add try_divide
        try_element_at try_multiply try_subtract
    """),
    **_taking(2, 3, """
        convert_timezone from_csv hll_union ilike nth_value parse_url regexp_extract_all theta_union
        try_parse_url try_variant_get variant_get
        approx_percentile array_join date_add date_diff dateadd datediff from_json levenshtein like
        locate lpad months_between percentile percentile_approx position regexp_extract regexp_instr
        replace rpad sequence split substr substring uniform
    """),
    **_taking(2, 4, """
        window
    """),
    **_taking(2, 6, """
        try_make_timestamp_ntz
        make_timestamp_ntz
    """),
    **_taking(2, 7, """
        try_make_timestamp_ltz
        make_timestamp_ltz
    """),
    **_taking(2, None, """
        elt json_tuple stack
        decode greatest least
    """),
    **_taking(3, 3, """
        array_insert map_zip_with zip_with
        conv if make_date nvl2 slice split_part substring_index timestampadd timestampdiff translate
    """),
    **_taking(3, 4, """
        overlay
        aggregate reduce regexp_replace
    """),
    **_taking(1, None, """
        coalesce count concat_ws format_string hash printf xxhash64
    """),
    **_taking(1, 7, """
        make_timestamp try_make_interval try_make_timestamp
    """),
    **_taking(1, 5, """
        mask
    """),
    **_taking(0, 4, """
        make_dt_interval
    """),
    **_taking(0, 7, """
        make_interval
    """),
    **_taking(2, 5, """
        aes_decrypt try_aes_decrypt
    """),
    **_taking(4, 4, """
        width_bucket count_min_sketch
    """),
}
# fmt: on


def misfit(name: str, count: int) -> str | None:
    """What is wrong with a call of a function with so many arguments; None: nothing, or it is not known.

    >>> misfit("max_by", 1)
    'max_by() takes 2 arguments, and 1 stands here'
    """
    fewest, most = ARITY.get(name, (0, None))
    if fewest <= count and (most is None or count <= most):
        return None
    wanted = f"{fewest}" if fewest == most else f"{fewest} or more" if most is None else f"{fewest} to {most}"
    noun = "argument" if wanted == "1" else "arguments"
    return f"{name}() takes {wanted} {noun}, and {count or 'none'} {'stands' if count < 2 else 'stand'} here"


def miscounts(tokens: Sequence[Token]) -> Iterator[tuple[Token, str]]:
    """Calls with more or fewer arguments than Spark takes: the token of the name, and what is wrong.

    The parser drops arguments that it does not know, so that they are counted in the text. Calls whose arguments a
    keyword separates, and those with a star among them, are left to the parser.
    """
    calls: list[_OpenCall | None] = []
    before: TokenType | None = None
    name: Token | None = None
    for token in tokens:
        kind = token.token_type
        if calls and calls[-1] is not None:
            calls[-1].take(token)
        if kind in _OPENS:
            is_call = kind is TokenType.L_PAREN and name is not None and before not in _NO_CALL_AFTER | _LISTS_AFTER
            text = name.text.lower() if name is not None else ""
            calls.append(
                _OpenCall(name) if is_call and name is not None and text in ARITY and text not in _TYPES else None
            )
        elif kind in _CLOSES and calls:
            call = calls.pop()
            if call is not None and (problem := call.problem()) is not None:
                yield call.name, problem
        before, name = (name.token_type if name is not None else None), token


class _OpenCall:
    """The arguments of one call, as its tokens come; of calls in it only the brackets do."""

    def __init__(self, name: Token) -> None:
        self.name = name
        self._commas, self._is_plain = 0, True
        self._last: TokenType | None = None

    def take(self, token: Token) -> None:
        """Look at a token of the outermost level."""
        kind = token.token_type
        if kind is TokenType.COMMA:
            self._commas += 1
        star = kind is TokenType.STAR and self._last in (None, TokenType.COMMA, TokenType.DOT)
        if star or (token.text.lower() in _OTHER_GRAMMAR and kind is not TokenType.STRING):
            self._is_plain = False
        if kind not in _CLOSES:
            self._last = kind

    def problem(self) -> str | None:
        """What is wrong once its bracket closes."""
        if not self._is_plain:
            return None
        return misfit(self.name.text.lower(), self._commas + 1 if self._last is not None else 0)
