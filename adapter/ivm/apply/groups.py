"""Touched groups: the stored state and the summary delta, added up by SUM itself.

The sum of two sums is an aggregate, not `+`: decimal addition at 38 digits drops one.
"""

from __future__ import annotations

from sqlglot import exp

from ivm import names
from ivm.apply.measure import Measures, key_filter
from ivm.apply.merge import DELETE, WRITE, Move, change_rows, merge
from ivm.apply.stage import DELTA, RECOMPUTED
from ivm.sql import (
    alias,
    case,
    cast,
    column,
    conjunction,
    hole,
    is_null,
    null_of,
    null_safe_equal,
    number,
    raise_error,
    select,
    subquery,
    text,
    union_all,
)
from ivm.storage import Storage


def commit(storage: Storage, measures: Measures, move: Move, *, recompute: str = "") -> exp.Expr:
    """`recompute`: "" for none, "flagged" or "all": which groups come from the second stage."""
    parts = []
    if recompute != "all":
        parts.append(_added(storage, measures, skip_flagged=bool(recompute)))
    if recompute:
        parts.append(_recomputed(storage, flagged_only=recompute == "flagged"))
    return merge(storage, union_all(parts), move, restrict=key_filter(storage, measures, "m"))


def _added(storage: Storage, measures: Measures, skip_flagged: bool) -> exp.Select:
    keys = [column(c) for c in storage.unit]
    states = [c for c in storage.names if c not in storage.unit]
    restrict = key_filter(storage, measures, None)
    live = is_null(column(names.CONTROL))
    conditions = [live] + ([restrict] if restrict is not None else [])
    stored: exp.Select = select(
        [*(column(c) for c in storage.names), alias(number(0), names.IS_DELTA)],
        exp.table_(names.STORAGE, quoted=True),
        conjunction(conditions),
    )
    unflagged = exp.EQ(this=column(names.RECOMPUTE), expression=number(0)) if skip_flagged else None
    delta = select(
        [*(column(c) for c in storage.names), alias(number(1), names.IS_DELTA)],
        hole(names.STAGE, DELTA),
        unflagged,
    )
    if measures.bitmap is None and storage.unit:
        touched = select(keys, hole(names.STAGE, DELTA))
        on = exp.and_(*(null_safe_equal(column(c, "s"), column(c, "u")) for c in storage.unit))
        stored = select(
            [exp.column(exp.Star(), table="s", quoted=True)], subquery(stored, "s")
        ).join(subquery(touched, "u"), on=on, join_type="left semi")
    outputs: list[exp.Expr] = [*keys]
    totals = {s.total: s for s in storage.sums if s.total is not None}
    for name in states:
        value: exp.Expr = exp.Sum(this=column(name))
        if name in totals:
            s = totals[name]
            present = exp.Sum(this=column(s.present))
            some = exp.GT(this=present, expression=number(0))
            value = case(some, cast(value, s.total_type), null_of(s.total_type))
            if s.total_type.startswith("decimal"):
                # A sum that overflowed to NULL cannot be added to: its group is recomputed.
                lost = exp.and_(
                    is_null(column(name)),
                    exp.GT(this=column(s.present), expression=number(0)),
                )
                value = case(
                    exp.EQ(
                        this=exp.Max(this=case(lost, number(1), number(0))), expression=number(1)
                    ),
                    cast(raise_error(names.OVERFLOW), s.total_type),
                    value,
                )
        outputs.append(alias(value, name))
    added = select(outputs, subquery(union_all([stored, delta]), "states"))
    if keys:
        added = added.group_by(*keys)
    touched_only = exp.EQ(this=exp.Max(this=column(names.IS_DELTA)), expression=number(1))
    return change_rows(storage, _operation(storage), subquery(added.having(touched_only), "added"))


def _recomputed(storage: Storage, flagged_only: bool) -> exp.Select:
    if not storage.unit:
        return change_rows(storage, text(WRITE), hole(names.STAGE, RECOMPUTED))
    flagged = exp.EQ(this=column(names.RECOMPUTE), expression=number(1)) if flagged_only else None
    touched = select([column(c) for c in storage.unit], hole(names.STAGE, DELTA), flagged)
    on = exp.and_(*(null_safe_equal(column(c, "t"), column(c, "r")) for c in storage.unit))
    outputs: list[exp.Expr] = []
    for c in storage.names:
        if c in storage.unit:
            outputs.append(column(c, "t"))
        elif c == names.COUNT:
            outputs.append(alias(exp.func("coalesce", column(c, "r"), number(0)), c))
        else:
            outputs.append(column(c, "r"))
    rows = select(outputs, subquery(touched, "t")).join(
        exp.alias_(hole(names.STAGE, RECOMPUTED), "r", table=True, quoted=True),
        on=on,
        join_type="left",
    )
    return change_rows(storage, _operation(storage), subquery(rows, "recomputed"))


def _operation(storage: Storage) -> exp.Expr:
    """A group dies with its last row; the one row of an aggregate without GROUP BY never does."""
    if not storage.grouped:
        return text(WRITE)
    none_left = exp.EQ(this=column(names.COUNT), expression=number(0))
    return case(none_left, text(DELETE), text(WRITE))
