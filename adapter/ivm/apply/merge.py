"""The commit: one MERGE that changes the touched units and moves the control row with them."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from ivm import names
from ivm.sql import (
    alias,
    case,
    column,
    is_not_null,
    is_null,
    null_of,
    null_safe_equal,
    raise_error,
    select,
    subquery,
    text,
    union_all,
)
from ivm.storage import Storage

TARGET, SOURCE = "m", "d"
WRITE, DELETE, APPEND, CONTROL = "write", "delete", "append", "control"


@dataclass(frozen=True)
class Move:
    """The control row from what it must be to what it becomes."""

    expected: str
    new: str


def merge(
    storage: Storage,
    changes: exp.Query,
    move: Move,
    *,
    restrict: exp.Expr | None,
    guard: exp.Expr | None = None,
) -> exp.Expr:
    """`changes` has an operation and the columns of storage, one row per unit (any for appends).

    `restrict` are literal conditions on the target; the control row must pass beside them.
    `guard` is a condition that the commit must find true, else it raises SURVIVORS.
    """
    source = union_all([changes, _control_row(storage, move, guard)])
    target = exp.alias_(exp.table_(names.STORAGE, quoted=True), TARGET, table=True, quoted=True)
    control, new_control = column(names.CONTROL, TARGET), column(names.CONTROL, SOURCE)
    operation = column(names.OPERATION, SOURCE)
    on = [null_safe_equal(column(c, TARGET), column(c, SOURCE)) for c in storage.unit]
    on.append(exp.EQ(this=exp.paren(is_null(control)), expression=exp.paren(is_null(new_control))))
    on.append(exp.NEQ(this=operation, expression=text(APPEND)))
    if restrict is not None:
        on.append(exp.paren(exp.or_(restrict, is_not_null(control))))
    # The value is written, not only computed: an unused raise_error is optimised away.
    checked = case(
        exp.EQ(this=control, expression=text(move.expected)), new_control, raise_error(names.STALE)
    )
    whens = [
        _when(
            True,
            is_not_null(new_control),
            exp.Update(
                expressions=[
                    exp.EQ(this=exp.column(names.CONTROL, quoted=True), expression=checked)
                ]
            ),
        ),
        _when(True, exp.EQ(this=operation.copy(), expression=text(DELETE)), exp.Var(this="DELETE")),
    ]
    rest = [c for c in storage.names if c not in storage.unit]
    if rest:
        sets = [exp.EQ(this=column(c), expression=column(c, SOURCE)) for c in rest]
        whens.append(_when(True, None, exp.Update(expressions=sets)))
    whens.append(
        _when(
            False,
            is_not_null(new_control),
            _insert([names.CONTROL], [raise_error(names.NO_CONTROL_ROW)]),
        )
    )
    writes = exp.In(this=operation.copy(), expressions=[text(WRITE), text(APPEND)])
    values: list[exp.Expr] = [column(c, SOURCE) for c in storage.names]
    whens.append(_when(False, writes, _insert(list(storage.names), values)))
    return exp.Merge(
        this=target,
        using=subquery(source, SOURCE),
        on=exp.and_(*on),
        whens=exp.Whens(expressions=whens),
    )


def change_rows(
    storage: Storage, operation: exp.Expr, rows: exp.Expr, *, only_unit: bool = False
) -> exp.Select:
    """Rows of a merge source; without values where only the unit counts."""
    outputs = [alias(operation, names.OPERATION), alias(null_of("string"), names.CONTROL)]
    for c in storage.columns:
        value = null_of(c.type) if only_unit and c.name not in storage.unit else column(c.name)
        outputs.append(alias(value, c.name))
    return select(outputs, rows)


def _control_row(storage: Storage, move: Move, guard: exp.Expr | None) -> exp.Select:
    value: exp.Expr = text(move.new)
    if guard is not None:
        value = case(guard, value, raise_error(names.SURVIVORS))
    return exp.Select(
        expressions=[
            alias(text(CONTROL), names.OPERATION),
            alias(value, names.CONTROL),
            *(alias(null_of(c.type), c.name) for c in storage.columns),
        ]
    )


def move_only(move: Move) -> exp.Update:
    """Nothing changed in the data: the versions move alone."""
    control = column(names.CONTROL)
    checked = case(
        exp.EQ(this=control, expression=text(move.expected)),
        text(move.new),
        raise_error(names.STALE),
    )
    return exp.Update(
        this=exp.table_(names.STORAGE, quoted=True),
        expressions=[exp.EQ(this=control.copy(), expression=checked)],
        where=exp.Where(this=is_not_null(control)),
    )


def _when(matched: bool, condition: exp.Expr | None, then: exp.Expr) -> exp.When:
    return exp.When(matched=matched, condition=condition, then=then)


def _insert(columns: list[str], values: list[exp.Expr]) -> exp.Insert:
    return exp.Insert(
        this=exp.Tuple(expressions=[exp.column(c, quoted=True) for c in columns]),
        expression=exp.Tuple(expressions=[v.copy() for v in values]),
    )
