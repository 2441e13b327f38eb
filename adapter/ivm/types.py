"""Spark's types, as far as exact sums need them."""

from __future__ import annotations

import re

from sqlglot import exp

from ivm.sql import cast

_DECIMAL = re.compile(r"decimal\((\d+),\s*(-?\d+)\)")
_SMALL = frozenset({"tinyint", "smallint", "int"})
_ORDERED = frozenset({"tinyint", "smallint", "int", "bigint", "date", "string"})


def is_floating(type_: str) -> bool:
    return type_ in ("float", "double")


def is_orderable(type_: str) -> bool:
    """Types whose ranges can be written as literals that Delta skips files by."""
    return type_ in _ORDERED


def is_hashable(type_: str) -> bool:
    return "map<" not in type_ and "variant" not in type_ and "interval" not in type_


def is_groupable(type_: str) -> bool:
    return "variant" not in type_ and "map<" not in type_


def decimal(type_: str) -> tuple[int, int] | None:
    """
    >>> decimal("decimal(12,2)")
    (12, 2)
    """
    match = _DECIMAL.fullmatch(type_)
    return (int(match[1]), int(match[2])) if match else None


def total_type(function: str, argument: str) -> str | None:
    """The type in which a sum is kept; None if it cannot be.

    >>> total_type("sum", "int"), total_type("sum", "decimal(12,2)"), total_type("avg", "bigint")
    ('bigint', 'decimal(22,2)', 'decimal(38,0)')
    """
    if function == "count":
        return "bigint"
    if argument in _SMALL:
        return "bigint"
    if argument == "bigint":
        # The mean of BIGINTs does not overflow where their sum would.
        return "decimal(38,0)" if function == "avg" else "bigint"
    precision = decimal(argument)
    if precision:
        return f"decimal({min(38, precision[0] + 10)},{precision[1]})"
    return "double" if argument in ("float", "double", "string", "void") else None


def mean_type(argument: str) -> str:
    """
    >>> mean_type("int"), mean_type("decimal(12,2)"), mean_type("decimal(38,18)")
    ('double', 'decimal(16,6)', 'decimal(38,22)')
    """
    precision = decimal(argument)
    if not precision:
        return "double"
    return f"decimal({min(38, precision[0] + 4)},{min(38, precision[1] + 4)})"


def summable(value: exp.Expr, argument: str, total: str) -> exp.Expr:
    """The value in the type in which Spark itself would add it up."""
    if total == "double" and argument != "double":
        return cast(value, "double")
    if total == "decimal(38,0)" and argument == "bigint":
        return cast(value, "decimal(38,0)")
    return value.copy()


def signed_value(value: exp.Expr, argument: str, total: str) -> exp.Expr:
    """The value in a type in which it can be negated and netted without overflow."""
    if argument in _SMALL:
        return cast(value, "bigint")
    if argument == "bigint":
        return cast(value, "decimal(38,0)")
    return summable(value, argument, total)
