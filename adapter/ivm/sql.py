"""Small builders over sqlglot expressions, shared by operators, apply and render.

Expressions are shared between statements and therefore copied when they are put into a tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

from ivm import names


def column(name: str, table: str | None = None) -> exp.Column:
    """
    >>> column("a b", "m").sql("spark")
    '`m`.`a b`'
    """
    return exp.column(name, table=table, quoted=True)


def alias(expression: exp.Expression, name: str) -> exp.Expression:
    if isinstance(expression, exp.Column) and not expression.table and expression.name == name:
        return expression.copy()
    return exp.alias_(expression.copy(), name, quoted=True)


def text(value: str) -> exp.Literal:
    return exp.Literal.string(value)


def number(value: int) -> exp.Expression:
    return exp.Literal.number(value)


def null_of(type_: str) -> exp.Expression:
    return cast(exp.null(), type_)


def cast(expression: exp.Expression, type_: str) -> exp.Cast:
    """
    >>> cast(column("a"), "decimal(12,2)").sql("spark")
    'CAST(`a` AS DECIMAL(12, 2))'
    """
    kind = exp.DataType.build(type_, dialect="spark")
    return exp.Cast(this=expression.copy(), to=kind)


def conjunction(conditions: Iterable[exp.Expression]) -> exp.Expression:
    parts = [condition.copy() for condition in conditions]
    return exp.and_(*parts) if parts else exp.true()


def conjuncts(condition: exp.Expression | None) -> tuple[exp.Expression, ...]:
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


def is_true(condition: exp.Expression) -> exp.Expression:
    """`p` is satisfied. Its negation is `not_true`, never `NOT p`, which NULL does not satisfy."""
    return exp.func("coalesce", exp.Paren(this=condition.copy()), exp.false())


def not_true(condition: exp.Expression) -> exp.Expression:
    """
    >>> not_true(column("p")).sql("spark")
    'NOT COALESCE((`p`), FALSE)'
    """
    return exp.not_(is_true(condition))


def null_safe_equal(left: exp.Expression, right: exp.Expression) -> exp.Expression:
    return exp.NullSafeEQ(this=left.copy(), expression=right.copy())


def is_null(expression: exp.Expression) -> exp.Expression:
    return exp.Is(this=expression.copy(), expression=exp.null())


def is_not_null(expression: exp.Expression) -> exp.Expression:
    return exp.not_(is_null(expression))


def case(condition: exp.Expression, then: exp.Expression, otherwise: exp.Expression) -> exp.Case:
    return exp.Case().when(condition.copy(), then.copy()).else_(otherwise.copy())


def raise_error(message: str) -> exp.Expression:
    return exp.Anonymous(this="raise_error", expressions=[text(message)])


def hash_of(columns: Sequence[exp.Expression]) -> exp.Expression:
    """One 64-bit hash of a key. One argument, so that any engine with a hash can stand in."""
    copies = [c.copy() for c in columns]
    argument = copies[0] if len(copies) == 1 else exp.Struct(expressions=copies)
    return exp.Anonymous(this="xxhash64", expressions=[argument])


def hole(state: str, name: str) -> exp.Table:
    """A table whose real name, version or change query is filled in when a plan is rendered."""
    return exp.table_(name, db=state, quoted=True)


def subquery(query: exp.Query, name: str) -> exp.Subquery:
    return exp.Subquery(
        this=query.copy(), alias=exp.TableAlias(this=exp.to_identifier(name, quoted=True))
    )


def select(
    expressions: Iterable[exp.Expression],
    source: exp.Expression,
    where: exp.Expression | None = None,
) -> exp.Select:
    query = exp.Select(expressions=[e.copy() for e in expressions]).from_(source.copy())
    return query.where(where.copy()) if where is not None else query


def union_all(queries: Sequence[exp.Query]) -> exp.Query:
    result = queries[0].copy()
    for query in queries[1:]:
        result = exp.Union(this=result, expression=query.copy(), distinct=False)
    return result


def columns_in(expression: exp.Expression) -> frozenset[str]:
    return frozenset(c.name for c in expression.find_all(exp.Column))


def substitute(
    expression: exp.Expression, mapping: dict[str, exp.Expression]
) -> exp.Expression:
    """Replace columns by expressions.

    >>> substitute(column("a") + 1, {"a": column("b") * 2}).sql("spark")
    '(`b` * 2) + 1'
    """

    def replace(node: exp.Expression) -> exp.Expression:
        if isinstance(node, exp.Column) and not node.table and node.name in mapping:
            new = mapping[node.name].copy()
            return exp.paren(new, copy=False) if isinstance(new, exp.Binary | exp.Unary) else new
        return node

    return expression.copy().transform(replace)


def expand_copies(query: exp.Query, columns: Sequence[str], times: exp.Expression) -> exp.Select:
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
