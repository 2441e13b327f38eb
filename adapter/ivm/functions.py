"""The names of Spark 4.1's built-in functions, and what kind of function each is.

Spark's own registry says so: `scripts/list_spark_functions.py` prints the sets below. A name that
is in none of them is a user's function, of which nothing is known.

VOLATILE holds what may differ between two runs over the same rows: it is nondeterministic, or
depends on the clock, the session, the user or the files. TABLE holds table-valued functions.
"""

from __future__ import annotations

from typing import Literal

from sqlglot import exp


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


AGGREGATE = _names("""
    any any_value approx_count_distinct approx_percentile approx_top_k approx_top_k_accumulate
    approx_top_k_combine array_agg avg bit_and bit_or bit_xor bitmap_and_agg bitmap_construct_agg
    bitmap_or_agg bool_and bool_or collect_list collect_set corr count count_if count_min_sketch
    covar_pop covar_samp every first first_value grouping grouping_id histogram_numeric
    hll_sketch_agg hll_union_agg kll_merge_agg_bigint kll_merge_agg_double kll_merge_agg_float
    kll_sketch_agg_bigint kll_sketch_agg_double kll_sketch_agg_float kurtosis last last_value
    listagg max max_by mean median min min_by mode percentile percentile_approx percentile_cont
    percentile_disc regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx
    regr_sxy regr_syy schema_of_variant_agg skewness some std stddev stddev_pop stddev_samp
    string_agg sum theta_intersection_agg theta_sketch_agg theta_union_agg try_avg try_sum var_pop
    var_samp variance
""")

WINDOW = _names("""
    cume_dist dense_rank lag lead nth_value ntile percent_rank rank row_number
""")

GENERATOR = _names("""
    explode explode_outer inline inline_outer json_tuple posexplode posexplode_outer stack
""")

VOLATILE = _names("""
    curdate current_catalog current_database current_date current_schema current_time
    current_timestamp current_timezone current_user input_file_block_length input_file_block_start
    input_file_name java_method localtimestamp monotonically_increasing_id now rand randn random
    randstr reflect session_user shuffle spark_partition_id try_reflect uniform unix_timestamp user
    uuid version
""")

SCALAR = _names("""
    ! % & * + - / < << <= <=> = == > >= >> >>> ^ abs acos acosh add_months aes_decrypt aes_encrypt
    aggregate and approx_top_k_estimate array array_append array_compact array_contains
    array_distinct array_except array_insert array_intersect array_join array_max array_min
    array_position array_prepend array_remove array_repeat array_size array_sort array_union
    arrays_overlap arrays_zip ascii asin asinh assert_true atan atan2 atanh base64 between bigint
    bin binary bit_count bit_get bit_length bitmap_bit_position bitmap_bucket_number bitmap_count
    boolean bround btrim cardinality cast cbrt ceil ceiling char char_length character_length chr
    coalesce collate collation concat concat_ws contains conv convert_timezone cos cosh cot crc32
    csc date date_add date_diff date_format date_from_unix_date date_part date_sub date_trunc
    dateadd datediff datepart day dayname dayofmonth dayofweek dayofyear decimal decode degrees div
    double e element_at elt encode endswith equal_null exists exp expm1 extract factorial filter
    find_in_set flatten float floor forall format_number format_string from_avro from_csv from_json
    from_protobuf from_unixtime from_utc_timestamp from_xml get get_json_object getbit greatest hash
    hex hll_sketch_estimate hll_union hour hypot if ifnull ilike in initcap instr int is_valid_utf8
    is_variant_null isnan isnotnull isnull json_array_length json_object_keys
    kll_sketch_get_n_bigint kll_sketch_get_n_double kll_sketch_get_n_float
    kll_sketch_get_quantile_bigint kll_sketch_get_quantile_double kll_sketch_get_quantile_float
    kll_sketch_get_rank_bigint kll_sketch_get_rank_double kll_sketch_get_rank_float
    kll_sketch_merge_bigint kll_sketch_merge_double kll_sketch_merge_float
    kll_sketch_to_string_bigint kll_sketch_to_string_double kll_sketch_to_string_float last_day
    lcase least left len length levenshtein like ln locate log log10 log1p log2 lower lpad ltrim
    luhn_check make_date make_dt_interval make_interval make_time make_timestamp make_timestamp_ltz
    make_timestamp_ntz make_valid_utf8 make_ym_interval map map_concat map_contains_key map_entries
    map_filter map_from_arrays map_from_entries map_keys map_values map_zip_with mask md5 minute mod
    month monthname months_between named_struct nanvl negative next_day not nullif nullifzero nvl
    nvl2 octet_length or overlay parse_json parse_url pi pmod position positive pow power printf
    quarter quote radians raise_error reduce regexp regexp_count regexp_extract regexp_extract_all
    regexp_instr regexp_like regexp_replace regexp_substr repeat replace reverse right rint rlike
    round rpad rtrim schema_of_avro schema_of_csv schema_of_json schema_of_variant schema_of_xml sec
    second sentences sequence session_window sha sha1 sha2 shiftleft shiftright shiftrightunsigned
    sign signum sin sinh size slice smallint sort_array soundex space split split_part sqrt
    st_asbinary st_geogfromwkb st_geomfromwkb st_setsrid st_srid startswith str_to_map string struct
    substr substring substring_index tan tanh theta_difference theta_intersection
    theta_sketch_estimate theta_union time time_diff time_trunc timestamp timestamp_micros
    timestamp_millis timestamp_seconds tinyint to_avro to_binary to_char to_csv to_date to_json
    to_number to_protobuf to_time to_timestamp to_timestamp_ltz to_timestamp_ntz to_unix_timestamp
    to_utc_timestamp to_varchar to_variant_object to_xml transform transform_keys transform_values
    translate trim trunc try_add try_aes_decrypt try_divide try_element_at try_make_interval
    try_make_timestamp try_make_timestamp_ltz try_make_timestamp_ntz try_mod try_multiply
    try_parse_json try_parse_url try_subtract try_to_binary try_to_date try_to_number try_to_time
    try_to_timestamp try_url_decode try_validate_utf8 try_variant_get typeof ucase unbase64 unhex
    unix_date unix_micros unix_millis unix_seconds upper url_decode url_encode validate_utf8
    variant_get weekday weekofyear when width_bucket window window_time xpath xpath_boolean
    xpath_double xpath_float xpath_int xpath_long xpath_number xpath_short xpath_string xxhash64
    year zeroifnull zip_with | ~
""")

TABLE = _names("""
    collations python_worker_logs range sql_keywords variant_explode variant_explode_outer
""")

# Calls that Spark's grammar knows by a unit in front, some of them only there.
DATED = _names("""
    dateadd date_add datediff date_diff timestampadd timestampdiff timediff
""")

BUILTIN = AGGREGATE | WINDOW | GENERATOR | VOLATILE | SCALAR | DATED | {"try_cast"}

# Calls that do not come back from a parse as they were: name -> why. `dialect.parse` refuses them.
UNPRINTABLE: dict[str, str] = {
    "when": "WHEN( only begins a branch of CASE for the parser",
    ">>>": "the parser knows two arrows at most; shiftrightunsigned() is the same",
}

Kind = Literal["aggregate", "window", "generator", "volatile", "scalar", "table", "unknown"]

# Nodes whose name in sqlglot is not the one they print as.
_NAMES: dict[type[exp.Expr], str] = {
    exp.Cast: "cast",
    exp.TryCast: "try_cast",
    exp.GenerateSeries: "sequence",
}
# Syntax rather than calls, though functions in sqlglot.
_SYNTAX = (exp.Binary, exp.Case, exp.Connector, exp.SubqueryPredicate)


def is_builtin(name: str) -> bool:
    """
    >>> is_builtin("Upper"), is_builtin("my_function")
    (True, False)
    """
    return name.lower() in BUILTIN


def is_aggregate(name: str) -> bool:
    """
    >>> is_aggregate("listagg"), is_aggregate("upper")
    (True, False)
    """
    return name.lower() in AGGREGATE


def is_volatile(name: str) -> bool:
    """
    >>> is_volatile("uuid"), is_volatile("CURRENT_DATE"), is_volatile("upper")
    (True, True, False)
    """
    return name.lower() in VOLATILE


def call_name(node: exp.Expr) -> str | None:
    """The name, in lower case, of the function this node calls in Spark; None for other nodes.

    >>> call_name(exp.Sum(this=exp.column("x"))), call_name(exp.column("x"))
    ('sum', None)
    """
    if isinstance(node, exp.Anonymous | exp.AnonymousAggFunc):
        name = str(node.name).lower()
        parent = node.parent
        # A function of a schema, which may well be called like a built-in one.
        if isinstance(parent, exp.Dot) and parent.expression is node:
            return f"{parent.this.sql()}.{name}".lower()
        return name
    if not isinstance(node, exp.Func) or isinstance(node, _SYNTAX):
        return None
    if isinstance(node, exp.If) and isinstance(node.parent, exp.Case):
        return None
    return _NAMES.get(type(node)) or node.sql_name().lower()


def _repeats(encrypted: list[exp.Expr]) -> bool:
    """Does AES_ENCRYPT give the same twice: in mode ECB, or with an initialisation vector?"""
    mode = encrypted[2] if len(encrypted) > 2 else None
    electronic_codebook = isinstance(mode, exp.Literal) and mode.name.upper() == "ECB"
    return electronic_codebook or len(encrypted) > 4


def changes_rows(expression: exp.Expr) -> bool:
    """A time window drops rows without a time, and may give several for one."""
    return any(call_name(node) == "window" for node in expression.walk())


def kind(node: exp.Expr) -> Kind | None:
    """What kind of function a node calls; None when it calls none.

    >>> kind(exp.Anonymous(this="unix_timestamp"))
    'volatile'
    >>> kind(exp.Anonymous(this="unix_timestamp", expressions=[exp.column("at")]))
    'scalar'
    """
    name = call_name(node)
    if name is None:
        return None
    if name == "unix_timestamp" and node.expressions:
        return "scalar"
    if name == "aes_encrypt" and not _repeats(node.expressions):
        return "volatile"
    kinds: dict[Kind, frozenset[str]] = {
        "aggregate": AGGREGATE,
        "window": WINDOW,
        "generator": GENERATOR,
        "volatile": VOLATILE,
        "scalar": BUILTIN,
        "table": TABLE,
    }
    return next((kind for kind, names in kinds.items() if name in names), "unknown")
