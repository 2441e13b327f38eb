"""Rows found by their unit: updated in place, deleted, or inserted.

Right when each touched unit holds just the rows that the delta takes away. That is what a key
promises, so the commit counts them: every row taken away is there, so equal numbers leave no other.
"""

from __future__ import annotations

from sqlglot import exp

from ivm import names
from ivm.apply.measure import Measures, key_filter
from ivm.apply.merge import DELETE, WRITE, Move, change_rows, merge
from ivm.apply.stage import DELTA
from ivm.sql import (
    column,
    conjunction,
    hole,
    is_null,
    null_safe_equal,
    number,
    select,
    subquery,
    text,
    union_all,
)
from ivm.storage import Storage


def commit(storage: Storage, measures: Measures, move: Move) -> exp.Expr:
    delta = hole(names.STAGE, DELTA)
    weight = column(names.WEIGHT)
    new = select(
        [column(c) for c in storage.names], delta, exp.GT(this=weight, expression=number(0))
    )
    keys = [column(c) for c in storage.unit]
    gone = (
        select(keys, delta)
        .group_by(*keys)
        .having(exp.LT(this=exp.Max(this=weight.copy()), expression=number(0)))
    )
    changes = union_all(
        [
            change_rows(storage, text(WRITE), subquery(new, "new")),
            change_rows(storage, text(DELETE), subquery(gone, "gone"), only_unit=True),
        ]
    )
    return merge(
        storage,
        changes,
        move,
        restrict=key_filter(storage, measures, "m"),
        guard=exp.EQ(
            this=exp.Subquery(this=touched_rows(storage, measures)),
            expression=number(measures.deleted),
        ),
    )


def touched_rows(storage: Storage, measures: Measures) -> exp.Select:
    """How many stored rows lie in touched units; joined, because some others pass the filter."""
    count = [exp.Count(this=exp.Star())]
    live = is_null(column(names.CONTROL, "s"))
    restrict = key_filter(storage, measures, "s")
    conditions = [live] + ([restrict] if restrict is not None else [])
    stored = exp.alias_(exp.table_(names.STORAGE, quoted=True), "s", table=True, quoted=True)
    keys = [column(c) for c in storage.unit]
    units = select(keys, hole(names.STAGE, DELTA)).distinct()
    on = exp.and_(*(null_safe_equal(column(c, "s"), column(c, "u")) for c in storage.unit))
    return select(count, stored, conjunction(conditions)).join(
        subquery(units, "u"), on=on, join_type="left semi"
    )
