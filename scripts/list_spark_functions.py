"""Print the name sets of `ivm/functions.py`, read from a running Spark's function registries.

    .venv/bin/python scripts/list_spark_functions.py

Aggregates, window functions and generators are told by their group or class. Volatile are those
whose class is Nondeterministic, those with an example that Spark analyses into a plan that is not
deterministic (`uniform` expands to `rand`), and PER_QUERY: Spark computes these once per query and
therefore calls them deterministic, but they differ from one query to the next.
"""

from __future__ import annotations

import re
import textwrap
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

EXPRESSIONS = "org.apache.spark.sql.catalyst.expressions."
GROUPS = {"agg_funcs": "AGGREGATE", "window_funcs": "WINDOW", "generator_funcs": "GENERATOR"}
CLASSES = {
    "aggregate.AggregateFunction": "AGGREGATE",
    "Generator": "GENERATOR",
    "Nondeterministic": "VOLATILE",
}
PER_QUERY = frozenset(
    {
        *("curdate", "current_date", "current_time", "current_timestamp", "localtimestamp", "now"),
        *("current_catalog", "current_database", "current_schema", "current_timezone"),
        *("current_user", "session_user", "user", "version"),
        "unix_timestamp",  # without an argument
    }
)


def examples(info: Any) -> list[str]:
    """The statements among the examples of an ExpressionInfo."""
    lines = re.findall(r"^\s*>\s(.*)$", info.getExamples(), re.MULTILINE)
    statements = [line.strip().rstrip(";") for line in lines]
    return [statement for statement in statements if not statement.upper().startswith("SET ")]


def registered(functions: Any) -> dict[str, Any]:
    """Name -> ExpressionInfo of one of Spark's registries."""
    names = functions.listFunction()
    found = {}
    for index in range(names.size()):
        info = functions.lookupFunction(names.apply(index))
        if info.isDefined():
            found[names.apply(index).funcName().lower()] = info.get()
    return found


def scalar_registry(spark: SparkSession) -> dict[str, Any]:
    return registered(spark._jsparkSession.sessionState().functionRegistry())


def is_deterministic(spark: SparkSession, statement: str) -> bool:
    try:
        return bool(spark.sql(statement)._jdf.queryExecution().analyzed().deterministic())
    except PySparkException:
        return True  # an optional module is missing; the class has been asked


def kind(spark: SparkSession, name: str, info: Any) -> str:
    if name in PER_QUERY:
        return "VOLATILE"
    if info.getGroup() in GROUPS:
        return GROUPS[info.getGroup()]
    java = spark._jvm.java.lang
    loader = java.Thread.currentThread().getContextClassLoader()
    own = java.Class.forName(info.getClassName(), False, loader)
    for parent, title in CLASSES.items():
        if java.Class.forName(EXPRESSIONS + parent, False, loader).isAssignableFrom(own):
            return title
    if not all(is_deterministic(spark, statement) for statement in examples(info)):
        return "VOLATILE"
    return "SCALAR"


def name_sets(spark: SparkSession) -> dict[str, set[str]]:
    titles = ("AGGREGATE", "WINDOW", "GENERATOR", "VOLATILE", "SCALAR", "TABLE")
    result: dict[str, set[str]] = {title: set() for title in titles}
    for name, info in scalar_registry(spark).items():
        result[kind(spark, name, info)].add(name)
    tables = spark._jsparkSession.sessionState().tableFunctionRegistry()
    result["TABLE"] = set(registered(tables)) - result["GENERATOR"]
    return result


def main() -> None:
    spark = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.log.level", "OFF")
        .getOrCreate()
    )
    for title, names in name_sets(spark).items():
        words = textwrap.fill(
            " ".join(sorted(names)), width=96, break_long_words=False, break_on_hyphens=False
        )
        print(f'{title} = _names("""\n{textwrap.indent(words, "    ")}\n""")\n')


if __name__ == "__main__":
    main()
