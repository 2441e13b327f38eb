"""Print the name sets of `ivm/functions.py`, read from a running Spark's function registry.

    .venv/bin/python scripts/list_spark_functions.py

What a function may return different values for is asked of Spark: its expression class, the
classes of what it expands to (`RuntimeReplaceable`), and the `deterministic` flag of an analysed
call. Functions that Spark folds per query, and so calls deterministic, are in PER_SESSION.
"""

from __future__ import annotations

import textwrap
from typing import Any

from pyspark.sql import SparkSession

NONDETERMINISTIC = "org.apache.spark.sql.catalyst.expressions.Nondeterministic"
EXPRESSION = "org.apache.spark.sql.catalyst.expressions.Expression"
FOLDABLE_UNEVALUABLE = "org.apache.spark.sql.catalyst.expressions.FoldableUnevaluable"

# Deterministic for Spark (one value per query), but not from one run to the next.
PER_SESSION = {
    "curdate",
    "current_catalog",
    "current_database",
    "current_date",
    "current_schema",
    "current_time",
    "current_timestamp",
    "current_timezone",
    "current_user",
    "localtimestamp",
    "now",
    "session_user",
    "user",
    "version",
    # Without an argument these two read the clock.
    "to_unix_timestamp",
    "unix_timestamp",
    # They read files, metadata or run arbitrary code.
    "input_file_block_length",
    "input_file_block_start",
    "input_file_name",
    "java_method",
    "reflect",
    "try_reflect",
}
GROUPS = {"agg_funcs": "AGGREGATE", "window_funcs": "WINDOW", "generator_funcs": "GENERATOR"}


def registry(spark: SparkSession) -> dict[str, tuple[str, str]]:
    """Name -> (group, expression class)."""
    functions = spark._jsparkSession.sessionState().functionRegistry()  # type: ignore[attr-defined]
    names = functions.listFunction()
    found: dict[str, tuple[str, str]] = {}
    for index in range(names.size()):
        info = functions.lookupFunction(names.apply(index))
        if info.isDefined():
            name = names.apply(index).funcName().lower()
            found[name] = (info.get().getGroup(), info.get().getClassName())
    return found


def is_nondeterministic(jvm: Any, class_name: str) -> bool:
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    kind = jvm.java.lang.Class.forName(class_name, False, loader)
    trait = jvm.java.lang.Class.forName(NONDETERMINISTIC, False, loader)
    return bool(trait.isAssignableFrom(kind))


def sets(spark: SparkSession) -> dict[str, set[str]]:
    result: dict[str, set[str]] = {
        name: set() for name in ("AGGREGATE", "WINDOW", "GENERATOR", "VOLATILE", "SCALAR")
    }
    for name, (group, class_name) in registry(spark).items():
        if name in PER_SESSION or is_nondeterministic(spark._jvm, class_name):
            result["VOLATILE"].add(name)
        else:
            result[GROUPS.get(group, "SCALAR")].add(name)
    return result


def main() -> None:
    spark = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    for title, names in sets(spark).items():
        words = textwrap.fill(
            " ".join(sorted(names)), width=96, break_long_words=False, break_on_hyphens=False
        )
        print(
            f'{title} = frozenset(\n    """\n{textwrap.indent(words, "    ")}\n    """.split()\n)\n'
        )


if __name__ == "__main__":
    main()
