"""Small builders over sqlglot expressions, shared by operators, apply and render.

Expressions are shared between statements and therefore copied when they are put into a tree; a
query is copied only if it already stands in one, because copies at every level add up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TypeVar

from sqlglot import exp

from ivm import names

Node = TypeVar("Node", bound=exp.Expr)


def owned(node: Node) -> Node:
    """The node itself, or a copy if it already has a place."""
    return node if node.parent is None else node.copy()


def column(name: str, table: str | None = None) -> exp.Column:
    """
    >>> column("a b", "m").sql("spark")
    '`m`.`a b`'
    """
    return exp.column(name, table=table, quoted=True)


def alias(expression: exp.Expr, name: str) -> exp.Expr:
    if isinstance(expression, exp.Column) and not expression.table and expression.name == name:
        return expression.copy()
    return exp.alias_(expression.copy(), name, quoted=True)


def text(value: str) -> exp.Literal:
    return exp.Literal.string(value)


def number(value: int) -> exp.Expr:
    return exp.Literal.number(value)


def null_of(type_: str) -> exp.Expr:
    """A NULL for a UNION, whose other side has this type.

    A nested type is left to that side: Spark cuts long ones short and does not quote names of
    fields, so what it says of them cannot be written back.

    >>> null_of("bigint").sql("spark"), null_of("struct<end:int,... 5 more fields>").sql("spark")
    ('CAST(NULL AS BIGINT)', 'NULL')
    """
    return exp.null() if "<" in type_ else cast(exp.null(), type_)


def cast(expression: exp.Expr, type_: str) -> exp.Cast:
    """
    >>> cast(column("a"), "decimal(12,2)").sql("spark")
    'CAST(`a` AS DECIMAL(12, 2))'
    """
    return exp.Cast(this=expression.copy(), to=data_type(type_).copy())


@cache
def data_type(type_: str) -> exp.DataType:
    return exp.DataType.build(type_, dialect="spark")


def conjunction(conditions: Iterable[exp.Expr]) -> exp.Expr:
    parts = [condition.copy() for condition in conditions]
    return exp.and_(*parts) if parts else exp.true()


def conjuncts(condition: exp.Expr | None) -> tuple[exp.Expr, ...]:
    """
    >>> from sqlglot import parse_one
    >>> [c.sql() for c in conjuncts(parse_one("a = 1 AND (b > 2 AND c)"))]
    ['a = 1', 'b > 2', 'c']
    """
    if condition is None:
        return ()
    condition = condition.unnest()
    if isinstance(condition, exp.And):
        return conjuncts(condition.left) + conjuncts(condition.right)
    return (condition,)


def is_true(condition: exp.Expr) -> exp.Expr:
    """`p` is satisfied. Its negation is `not_true`, never `NOT p`, which NULL does not satisfy."""
    return exp.func("coalesce", exp.Paren(this=condition.copy()), exp.false())


def not_true(condition: exp.Expr) -> exp.Expr:
    """
    >>> not_true(column("p")).sql("spark")
    'NOT COALESCE((`p`), FALSE)'
    """
    return exp.not_(is_true(condition))


def null_safe_equal(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.NullSafeEQ(this=left.copy(), expression=right.copy())


def is_null(expression: exp.Expr) -> exp.Expr:
    return exp.Is(this=expression.copy(), expression=exp.null())


def is_not_null(expression: exp.Expr) -> exp.Expr:
    return exp.not_(is_null(expression))


def case(condition: exp.Expr, then: exp.Expr, otherwise: exp.Expr) -> exp.Case:
    return exp.Case().when(condition.copy(), then.copy()).else_(otherwise.copy())


def raise_error(message: str) -> exp.Expr:
    return exp.Anonymous(this="raise_error", expressions=[text(message)])


def hash_of(columns: Sequence[exp.Expr]) -> exp.Expr:
    """One 64-bit hash of a key. One argument, so that any engine with a hash can stand in."""
    copies = [c.copy() for c in columns]
    argument = copies[0] if len(copies) == 1 else exp.Struct(expressions=copies)
    return exp.Anonymous(this="xxhash64", expressions=[argument])


def hole(state: str, name: str) -> exp.Table:
    """A table whose real name, version or change query is filled in when a plan is rendered."""
    return exp.table_(name, db=state, quoted=True)


def subquery(query: exp.Query, name: str) -> exp.Subquery:
    return exp.Subquery(
        this=owned(query), alias=exp.TableAlias(this=exp.to_identifier(name, quoted=True))
    )


def select(
    expressions: Iterable[exp.Expr],
    source: exp.Expr,
    where: exp.Expr | None = None,
) -> exp.Select:
    query = exp.Select(expressions=[e.copy() for e in expressions])
    query.set("from_", exp.From(this=owned(source)))
    return query.where(where.copy(), copy=False) if where is not None else query


def union_all(queries: Sequence[exp.Query]) -> exp.Query:
    result = owned(queries[0])
    for query in queries[1:]:
        result = exp.Union(this=result, expression=owned(query), distinct=False)
    return result


def columns_in(expression: exp.Expr) -> frozenset[str]:
    return frozenset(c.name for c in expression.find_all(exp.Column))


def substitute(expression: exp.Expr, mapping: dict[str, exp.Expr]) -> exp.Expr:
    """Replace columns by expressions.

    >>> substitute(column("a") + 1, {"a": column("b") * 2}).sql("spark")
    '(`b` * 2) + 1'
    """

    def replace(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and not node.table and node.name in mapping:
            new = mapping[node.name].copy()
            return exp.paren(new, copy=False) if isinstance(new, exp.Binary | exp.Unary) else new
        return node

    return expression.copy().transform(replace)


def expand_copies(query: exp.Query, columns: Sequence[str], times: exp.Expr) -> exp.Select:
    """Each row `times` times: bags are stored as rows, not as rows with a counter."""
    series = exp.Explode(this=exp.func("sequence", number(1), times.copy(), dialect="spark"))
    lateral = exp.Lateral(
        this=series,
        view=True,
        alias=exp.TableAlias(
            this=exp.to_identifier("copies"), columns=[exp.to_identifier(names.COPY)]
        ),
    )
    result = select([column(c) for c in columns], subquery(query, "counted"))
    result.append("laterals", lateral)
    return result
