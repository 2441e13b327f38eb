"""Spark's types, as far as exact sums need them."""

from __future__ import annotations

import re

from sqlglot import exp

from ivm.sql import cast, data_type

_DECIMAL = re.compile(r"decimal\((\d+),\s*(-?\d+)\)")
_SMALL = frozenset({"tinyint", "smallint", "int"})
VOID = "void"
_DOUBLE_DIGITS = 11
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


def is_coarse(type_: str) -> bool:
    """Types of which GROUP BY takes two values for one that are not the same.

    >>> is_coarse("array<double>"), is_coarse("map<string,int>"), is_coarse("decimal(10,2)")
    (True, True, False)
    """
    return is_map(type_) or "float" in type_ or "double" in type_


def is_map(type_: str) -> bool:
    """Is it a map, or is one in it?"""
    return "map<" in type_


def decimal(type_: str) -> tuple[int, int] | None:
    """
    >>> decimal("decimal(12,2)")
    (12, 2)
    """
    match = _DECIMAL.fullmatch(type_)
    return (int(match[1]), int(match[2])) if match else None


def differ(given: str, wanted: str) -> bool:
    """Whether a cast is between them. Columns of CHAR and VARCHAR are read as STRING.

    >>> differ("int", "bigint"), differ("string", "varchar(3)"), differ("int", "")
    (True, False, False)
    """
    text = ("string", "char", "varchar")
    both_text = given.startswith(text) and wanted.startswith(text)
    return bool(wanted) and given != wanted and not both_text and "more fields>" not in given


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
    return "double" if argument in ("float", "double", "string", VOID) else None


def may_overflow(argument: str) -> bool:
    """Can a sum of changes leave the type of the total, where the sum of the rows does not?

    >>> may_overflow("decimal(38,0)"), may_overflow("decimal(28,2)"), may_overflow("bigint")
    (True, False, False)
    """
    precision = decimal(argument)
    return precision is not None and precision[0] > 28


def mean_type(argument: str) -> str:
    """
    >>> mean_type("int"), mean_type("decimal(12,2)"), mean_type("decimal(38,18)")
    ('double', 'decimal(16,6)', 'decimal(38,22)')
    """
    precision = decimal(argument)
    if not precision:
        return "double"
    return f"decimal({min(38, precision[0] + 4)},{min(38, precision[1] + 4)})"


def mean(total: exp.Expr, present: exp.Expr, argument: str) -> exp.Expr:
    """Sum and count to what Spark's AVG gives, digit by digit.

    Up to 11 digits its optimizer divides doubles. Above, it rounds once, to four digits more than
    the argument has; a division of Spark SQL rounds to a scale that follows from the types, so
    they are chosen to make it that one.
    """
    precision = decimal(argument)
    if precision is None:
        return exp.Div(this=cast(total, "double"), expression=present.copy())
    digits, scale = precision
    if digits <= _DOUBLE_DIGITS:
        power = exp.Literal.number(10**scale)
        unscaled = cast(exp.Mul(this=total.copy(), expression=power), "double")
        mean_ = exp.Div(this=unscaled, expression=cast(present, "double"))
        return exp.Div(this=mean_, expression=cast(power, "double"))
    if scale > 30:
        return exp.Div(this=total.copy(), expression=cast(present, "decimal(20,0)"))
    more = max(0, 24 - digits)
    # A scale below 6 is never chosen by Spark: there the quotient is taken of a multiple.
    factor = 10 ** max(0, 2 - scale)
    multiple = exp.Mul(this=present.copy(), expression=exp.Literal.number(factor))
    divisor = cast(multiple if factor > 1 else present, f"decimal({20 + more},{more})")
    if digits > 24:
        narrow: exp.Expr = exp.TryCast(
            this=total.copy(), to=data_type(f"decimal(34,{scale})").copy()
        )
    else:
        narrow = total.copy()
    quotient: exp.Expr = exp.Div(this=narrow, expression=divisor)
    if factor > 1:
        quotient = exp.Mul(this=quotient, expression=exp.Literal.number(factor))
    if digits <= 24:
        return quotient
    # A sum of 35 digits or more leaves fewer for the fraction.
    rough = exp.Div(this=total.copy(), expression=cast(present, "decimal(20,0)"))
    return exp.func("coalesce", *(cast(q, mean_type(argument)) for q in (quotient, rough)))


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
