"""The delta of a view, staged once: it is measured, and then used by the commit."""

from __future__ import annotations

from sqlglot import exp

from ivm import names, types
from ivm.operators import Aggregate
from ivm.plan import Signed, States
from ivm.sql import (
    alias,
    case,
    column,
    expand_copies,
    hole,
    is_not_null,
    is_null,
    null_safe_equal,
    number,
    select,
    subquery,
)
from ivm.storage import Storage, Sum

DELTA = "delta"
RECOMPUTED = "recomputed"


def stage_delta(storage: Storage, states: States, *, float_sums: str) -> exp.Query | None:
    """The netted delta in the columns of storage; None if nothing that the view reads changed."""
    if isinstance(storage.core, Aggregate):
        rows = storage.core.aggregated(states)
        return _summary_delta(storage, rows, float_sums) if rows else None
    rows = storage.core.tuple_delta(states)
    return _netted(storage, rows) if rows else None


def _netted(storage: Storage, rows: Signed) -> exp.Query:
    """Net multiplicity per distinct stored row: a MERGE never sees one row twice."""
    outputs = [alias(column(c.source), c.name) for c in storage.columns]
    inner = select([*outputs, column(names.WEIGHT)], subquery(rows.query, "core"))
    keys = [column(c.name) for c in storage.columns]
    total = exp.Sum(this=column(names.WEIGHT))
    query = select([*keys, alias(total, names.WEIGHT)], subquery(inner, "signed"))
    return query.group_by(*keys, copy=False).having(
        exp.NEQ(this=total.copy(), expression=number(0)), copy=False
    )


def _summary_delta(storage: Storage, rows: Signed, float_sums: str) -> exp.Query:
    sources = [c.source for c in storage.columns if c.source]
    arguments = list(dict.fromkeys(s.argument for s in storage.sums))
    weight = column(names.WEIGHT)
    if any(s.total for s in storage.sums):
        # Every row on its own, so that a value is added or subtracted in its own type.
        times = exp.Abs(this=weight)
        rows = Signed(expand_copies(rows.query, [*sources, *arguments, names.WEIGHT], times), True)
        sign: exp.Expr = case(_positive(weight), number(1), number(-1))
    else:
        sign = weight
    inner = select(
        [*(column(c) for c in [*sources, *arguments]), alias(sign, names.WEIGHT)],
        subquery(rows.query, "core"),
    )
    outputs = [alias(column(c.source), c.name) for c in storage.columns if c.source]
    changes: list[tuple[str, exp.Expr]] = [(names.COUNT, exp.Sum(this=weight.copy()))]
    flags: list[exp.Expr] = []
    lost: list[exp.Expr] = []
    for s in storage.sums:
        value = column(s.argument)
        counted = case(is_not_null(s.counted()), weight, number(0))
        changes.append((s.present, exp.Sum(this=counted)))
        if s.total is None:
            continue
        exact = types.signed_value(value, s.argument_type, s.total_type)
        signed = case(_positive(weight), exact, exp.Neg(this=exact.copy()))
        total: exp.Expr = exp.Sum(this=signed)
        if types.may_overflow(s.argument_type):
            # Of changes that the query never adds up: then its group is computed again.
            total = exp.Anonymous(this="try_sum", expressions=[signed])
            some = exp.GT(this=exp.Count(this=value.copy()), expression=number(0))
            lost.append(exp.and_(is_null(total), some))
        changes.append((s.total, total))
        if s.floating and float_sums != "add":
            flags.append(exp.and_(_negative(weight), is_not_null(value)))
    flag = _flag(flags)
    if lost:
        flag = case(exp.or_(*lost), number(1), flag)
    query = select(
        [*outputs, *(alias(e, n) for n, e in changes), alias(flag, names.RECOMPUTE)],
        subquery(inner, "signed"),
    )
    # A group whose visible and hidden values all stay is not written.
    differs: list[exp.Expr] = [exp.NEQ(this=e.copy(), expression=number(0)) for _, e in changes]
    if flags or lost:
        differs.append(exp.EQ(this=flag.copy(), expression=number(1)))
    if storage.unit:
        query = query.group_by(*(column(c.source) for c in storage.columns if c.source), copy=False)
    return query.having(exp.or_(*differs), copy=False)


def _flag(conditions: list[exp.Expr]) -> exp.Expr:
    """1 for a group where a double was taken away: adding is not invertible there."""
    if not conditions:
        return exp.Max(this=number(0))
    return exp.Max(this=case(exp.or_(*(c.copy() for c in conditions)), number(1), number(0)))


def _positive(weight: exp.Expr) -> exp.Expr:
    return exp.GT(this=weight.copy(), expression=number(0))


def _negative(weight: exp.Expr) -> exp.Expr:
    return exp.LT(this=weight.copy(), expression=number(0))


def stage_recomputed(storage: Storage, states: States, *, every: bool) -> exp.Query:
    """The flagged groups (or every touched one) computed again from the post-state."""
    assert isinstance(storage.core, Aggregate)
    rows = storage.core.summed(states)
    keys = [c for c in storage.columns if c.name in storage.unit]
    if not keys:
        return storage.contents(rows)
    touched = select(
        [column(c.name) for c in keys],
        hole(names.STAGE, DELTA),
        None if every else exp.EQ(this=column(names.RECOMPUTE), expression=number(1)),
    )
    on = exp.and_(
        *(null_safe_equal(column(c.source, "core"), column(c.name, "touched")) for c in keys)
    )
    outputs = [exp.column(exp.Star(), table="core", quoted=True)]
    query = select(outputs, subquery(rows.query, "core")).join(
        subquery(touched, "touched"), on=on, join_type="inner"
    )
    query.set(
        "hint",
        exp.Hint(
            expressions=[
                exp.Anonymous(this="BROADCAST", expressions=[exp.to_identifier("touched")])
            ]
        ),
    )
    return storage.contents(Signed(query, False))


def totals(storage: Storage) -> list[Sum]:
    return [s for s in storage.sums if s.total is not None]
