"""Rows of a bag: every touched unit is taken out and put back with the right number of copies.

For tables without keys, and for units that hold more rows than a declared key allows.
"""

from __future__ import annotations

from sqlglot import exp

from ivm import names
from ivm.apply.measure import Measures, key_filter
from ivm.apply.merge import APPEND, DELETE, Move, change_rows, merge
from ivm.apply.stage import DELTA
from ivm.sql import (
    alias,
    column,
    conjunction,
    expand_copies,
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
    keys = [column(c) for c in storage.unit]
    columns = [column(c) for c in storage.names]
    # Units that lose a row; in the others the new rows are only added.
    losing = (
        select(keys, delta)
        .group_by(*keys)
        .having(exp.LT(this=exp.Min(this=weight), expression=number(0)))
    )
    restrict = key_filter(storage, measures, None)
    live = is_null(column(names.CONTROL))
    conditions = [live] + ([restrict] if restrict is not None else [])
    stored = select(
        [*columns, alias(number(1), names.WEIGHT)],
        exp.table_(names.STORAGE, quoted=True),
        conjunction(conditions),
    )
    on = exp.and_(*(null_safe_equal(column(c, "r"), column(c, "u")) for c in storage.unit))
    kept = select(
        [*(column(c, "r") for c in storage.names), column(names.WEIGHT, "r")],
        subquery(stored, "r"),
    ).join(subquery(losing, "u"), on=on, join_type="left semi")
    total = exp.Sum(this=weight.copy())
    counted = (
        select(
            [*columns, alias(total, names.WEIGHT)],
            subquery(union_all([kept, select([*columns, weight], delta)]), "all_rows"),
        )
        .group_by(*columns)
        .having(exp.GT(this=total.copy(), expression=number(0)))
    )
    copies = expand_copies(counted, storage.names, weight)
    changes = union_all(
        [
            change_rows(storage, text(DELETE), subquery(losing, "losing"), only_unit=True),
            change_rows(storage, text(APPEND), subquery(copies, "copies")),
        ]
    )
    return merge(storage, changes, move, restrict=key_filter(storage, measures, "m"))
