"""Declared is not enforced: queries that find the duplicates of a declared key."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from ivm.sql import alias, case, cast, column, is_null, number, select, subquery

_INTEGERS = frozenset({"tinyint", "smallint", "int", "bigint"})
EXAMPLES = 3


def duplicates(table: exp.Table, key: Sequence[str]) -> exp.Select:
    """A few values that occur more than once, and how often."""
    keys = [column(c) for c in key]
    count = exp.Count(this=exp.Star())
    return (
        select([*keys, alias(count, "copies")], table)
        .group_by(*keys)
        .having(exp.GT(this=count.copy(), expression=number(1)))
        .limit(EXAMPLES)
    )


def suspicion(table: exp.Table, key: Sequence[str], types: Sequence[str]) -> exp.Select | None:
    """Whether the key may have duplicates: no row is a proof that it has none.

    Sixty-four neighbouring integers are one group with a bit for each, so that the keys of a large
    table, which are usually dense, are not shuffled one by one. None if the key has no integer.
    """
    dense = next((i for i in reversed(range(len(key))) if types[i] in _INTEGERS), None)
    if dense is None:
        return None
    value = cast(column(key[dense]), "bigint")
    bit = cast(exp.BitwiseAnd(this=value, expression=number(63)), "int")
    one = exp.Anonymous(this="shiftleft", expressions=[cast(number(1), "bigint"), bit])
    bits = exp.Anonymous(
        this="bit_count", expressions=[exp.Anonymous(this="bit_or", expressions=[one])]
    )
    groups: list[exp.Expr] = [column(c) for i, c in enumerate(key) if i != dense]
    groups.append(exp.Anonymous(this="shiftright", expressions=[value.copy(), number(6)]))
    # NULLs are no bits: one alone is no duplicate, but looks like one.
    nulls = exp.Sum(this=case(is_null(value), number(1), number(0)))
    seen = alias(exp.Count(this=exp.Star()), "seen")
    outputs = [seen, alias(exp.func("coalesce", bits, number(0)), "bits"), alias(nulls, "nulls")]
    counted = select(outputs, table).group_by(*groups)
    known = exp.Add(this=column("bits"), expression=column("nulls"))
    doubtful = exp.or_(
        exp.GT(this=column("seen"), expression=known),
        exp.GT(this=column("nulls"), expression=number(1)),
    )
    return select([number(1)], subquery(counted, "counted"), doubtful).limit(1)
