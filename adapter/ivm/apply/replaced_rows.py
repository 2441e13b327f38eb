"""Rows found by a key of one column: all of the touched ones go, and the new ones come.

One INSERT … REPLACE WHERE, which finds the rows by literals in one scan where a MERGE needs three.
Right under the same condition as `keyed_rows`, and guarded in the same way.
"""

from __future__ import annotations

from sqlglot import exp

from ivm import names
from ivm.apply.measure import Measures, touched
from ivm.apply.merge import Move
from ivm.apply.stage import DELTA
from ivm.sql import (
    alias,
    column,
    hole,
    is_not_null,
    is_null,
    null_of,
    number,
    raise_error,
    select,
    text,
    union_all,
)
from ivm.storage import Storage


def commit(storage: Storage, measures: Measures, move: Move) -> exp.Expr:
    """`OR __ivm_ctl IS NOT NULL`: the control row is replaced in the same commit."""
    target = exp.table_(names.STORAGE, quoted=True)
    control = column(names.CONTROL)
    units = touched(storage, measures)
    new = select(
        [alias(null_of("string"), names.CONTROL), *(column(c) for c in storage.names)],
        hole(names.STAGE, DELTA),
        exp.GT(this=column(names.WEIGHT), expression=number(0)),
    )
    rows = union_all([_control_row(storage, units, measures, move), new])
    return exp.Insert(
        this=target,
        where=exp.or_(exp.paren(units), is_not_null(control)),
        # A few rows: in one file.
        expression=_in_one_file(rows),
    )


def _control_row(
    storage: Storage, units: exp.Expr, measures: Measures, move: Move
) -> exp.Select:
    """Compare-and-set, and the guard. The checked value is written: nothing drops the checks."""
    stored = exp.table_(names.STORAGE, quoted=True)
    control = column(names.CONTROL)
    found = exp.Subquery(this=select([control], stored, is_not_null(control)))
    live = exp.and_(is_null(control), exp.paren(units.copy()))
    count = exp.Subquery(this=select([exp.Count(this=exp.Star())], stored, live))
    value = (
        exp.Case()
        .when(is_null(found), raise_error(names.NO_CONTROL_ROW))
        .when(exp.NEQ(this=found.copy(), expression=text(move.expected)), raise_error(names.STALE))
        .when(
            exp.NEQ(this=count, expression=number(measures.deleted)), raise_error(names.SURVIVORS)
        )
        .else_(text(move.new))
    )
    return exp.Select(
        expressions=[
            alias(value, names.CONTROL),
            *(alias(null_of(c.type), c.name) for c in storage.columns),
        ]
    )


def _in_one_file(rows: exp.Query) -> exp.Select:
    query = exp.select("*").from_(exp.Subquery(this=rows, alias=exp.TableAlias(this="d")))
    query.set(
        "hint", exp.Hint(expressions=[exp.Anonymous(this="COALESCE", expressions=[number(1)])])
    )
    return query
