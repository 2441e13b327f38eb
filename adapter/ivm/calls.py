"""Aggregate calls in expressions: found, and brought to a function and one argument."""

from __future__ import annotations

from sqlglot import exp

from ivm import functions
from ivm.check import MAINTAINED_AGGREGATES
from ivm.dialect import to_sql
from ivm.errors import Reason, Unsupported


def is_call(node: exp.Expr) -> bool:
    return functions.call_name(node) in MAINTAINED_AGGREGATES


def calls_in(expression: exp.Expr) -> bool:
    return any(is_call(node) for node in expression.walk())


def as_call(node: exp.Expr) -> tuple[str, exp.Expr | None]:
    """Function and argument, with FILTER folded into the argument."""
    condition = None
    if isinstance(node, exp.Filter):
        condition = node.expression.this
        node = node.this
        if not is_call(node):
            raise Unsupported([Reason("FILTER on this expression", to_sql(node))])
    if calls_in_arguments(node):
        raise Unsupported([Reason("aggregate of an aggregate", to_sql(node))])
    function = functions.call_name(node) or ""
    function = "avg" if function == "mean" else function
    arguments = [node.this, *node.expressions] if node.this is not None else node.expressions
    arguments = [a for a in arguments if isinstance(a, exp.Expr)]
    argument: exp.Expr | None
    if function == "count" and (not arguments or isinstance(arguments[0], exp.Star)):
        argument = None
    elif function == "count" and len(arguments) > 1:
        argument = all_present(arguments)
    else:
        argument = arguments[0]
    if condition is None:
        return function, argument
    value = argument if argument is not None else exp.Literal.number(1)
    # No ELSE: not satisfied, and unknown, both leave the row out.
    return function, exp.Case().when(condition.copy(), value.copy())


def all_present(arguments: list[exp.Expr]) -> exp.Expr:
    """COUNT(a, b) counts the rows where neither is NULL."""
    present = [exp.not_(exp.Is(this=a.copy(), expression=exp.null())) for a in arguments]
    return exp.Case().when(exp.and_(*present), exp.Literal.number(1))


def calls_in_arguments(node: exp.Expr) -> bool:
    return any(is_call(inner) for inner in node.walk() if inner is not node)
