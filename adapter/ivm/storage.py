"""The table behind a view: which columns it has, what identifies a row, what the facade shows.

Three kinds. `rows`: one stored row per view row, found by its IDs. `bag`: some table has no key, so
a row is found by all its columns, and equal rows are stored side by side. `groups`: one row of
aggregate state per group. One more row, the control row, carries the versions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from sqlglot import exp

from ivm import names, types
from ivm.errors import Reason, Unsupported
from ivm.infer_ids import has_keys, unit
from ivm.lower import Lowered
from ivm.operators import Aggregate, Filter, Project
from ivm.operators.aggregate import argument_name
from ivm.plan import Operator, Signed
from ivm.sql import (
    alias,
    case,
    cast,
    column,
    conjunction,
    is_not_null,
    is_null,
    null_of,
    number,
    select,
    subquery,
    substitute,
)

Describe = Callable[[exp.Query], tuple[tuple[str, str], ...]]


@dataclass(frozen=True)
class Column:
    """`source`: the column of the plan that it stores, or for a group its state expression."""

    name: str
    type: str
    source: str


@dataclass(frozen=True)
class Sum:
    """State of one aggregated expression: how many values, and their exact sum if asked for."""

    argument: str
    argument_type: str
    present: str
    total: str | None
    total_type: str

    @property
    def floating(self) -> bool:
        return types.is_floating(self.total_type)

    def counted(self) -> exp.Expr:
        """What must not be NULL for a value to count: text that is no number adds nothing."""
        value = column(self.argument)
        if self.total is None or self.argument_type != "string":
            return value
        return types.summable(value, self.argument_type, self.total_type)


@dataclass(frozen=True)
class Storage:
    kind: Literal["rows", "bag", "groups"]
    core: Operator
    columns: tuple[Column, ...]
    unit: tuple[str, ...]
    sums: tuple[Sum, ...]
    shown: tuple[tuple[str, exp.Expr, str], ...]
    condition: exp.Expr | None
    grouped: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(c.name for c in self.columns)

    def type_of(self, name: str) -> str:
        return next(c.type for c in self.columns if c.name == name)

    def facade(self) -> exp.Select:
        """Exactly the columns and rows of the user's SELECT."""
        outputs = [alias(self._typed(e, t), n) for n, e, t in self.shown]
        live = is_null(column(names.CONTROL))
        conditions = [live] + ([self.condition] if self.condition is not None else [])
        return select(outputs, exp.table_(names.STORAGE, quoted=True), conjunction(conditions))

    def _typed(self, expression: exp.Expr, type_: str) -> exp.Expr:
        if type_ == types.VOID:
            return exp.null()
        stored = isinstance(expression, exp.Column) and self.type_of(expression.name) == type_
        return expression if stored else cast(expression, type_)

    def contents(self, rows: Signed) -> exp.Select:
        """Rows of the core (for groups: keys and arguments) to stored rows, without control."""
        if self.kind != "groups":
            outputs = [alias(column(c.source), c.name) for c in self.columns]
            return select(outputs, subquery(rows.query, "core"))
        keys = [c for c in self.columns if c.name in self.unit]
        outputs = [alias(column(c.source), c.name) for c in keys]
        outputs.append(alias(exp.Count(this=exp.Star()), names.COUNT))
        for s in self.sums:
            value = column(s.argument)
            outputs.append(alias(exp.Count(this=s.counted()), s.present))
            if s.total is not None:
                total = exp.Sum(this=types.summable(value, s.argument_type, s.total_type))
                outputs.append(alias(cast(total, s.total_type), s.total))
        query = select(outputs, subquery(rows.query, "core"))
        # By position: a stored name may be that of another input column.
        return query.group_by(*(column(c.source) for c in keys)) if self.grouped else query

    def with_control(self, contents: exp.Query, control: exp.Expr) -> exp.Query:
        """Stored rows and the control row, in the order of the table's columns."""
        # CHAR(n) is read as STRING, but the table would remember it, and Delta cannot MERGE by it.
        values = [
            alias(cast(column(c.name), c.type), c.name) if c.type == "string" else column(c.name)
            for c in self.columns
        ]
        empty = select(
            [alias(null_of("string"), names.CONTROL), *values], subquery(contents, "contents")
        )
        row = exp.Select(
            expressions=[
                alias(control, names.CONTROL),
                *(alias(null_of(c.type), c.name) for c in self.columns),
            ]
        )
        return exp.Union(this=empty, expression=row, distinct=False)


def storage_of(lowered: Lowered, shown: Sequence[tuple[str, str]], describe: Describe) -> Storage:
    """`shown`: names and types of the user's SELECT, as Spark gives them."""
    outputs = tuple(c for _, c in lowered.outputs)
    above, core = _split(lowered.plan)
    if isinstance(core, Aggregate):
        storage = _groups(core, above, outputs, shown, describe)
    else:
        storage = _rows(core, outputs, shown, describe)
    # Spark groups by a MAP, but compares none: no stored row could be found by it.
    unfit = [u for u in storage.unit if "map<" in storage.type_of(u)]
    if unfit:
        raise Unsupported([Reason("rows that only a MAP column tells apart", u) for u in unfit])
    return storage


def _split(plan: Operator) -> tuple[list[Operator], Operator]:
    """What stands above an aggregate lives in the facade."""
    above: list[Operator] = []
    node = plan
    while isinstance(node, Project | Filter):
        above.append(node)
        node = node.input
    if isinstance(node, Aggregate):
        _refuse_aggregates(node.input)
        return above, node
    _refuse_aggregates(plan)
    return [], plan


def _refuse_aggregates(plan: Operator) -> None:
    found = [op for op in plan.walk() if isinstance(op, Aggregate)]
    if found:
        raise Unsupported(
            [
                Reason("aggregate below a join, a union or another aggregate", f.detail())
                for f in found
            ]
        )


def _rows(
    core: Operator, outputs: tuple[str, ...], shown: Sequence[tuple[str, str]], describe: Describe
) -> Storage:
    used = set[str]()
    stored: dict[str, str] = {}
    for (name, _), source in zip(shown, outputs, strict=True):
        if source not in stored:
            stored[source] = _stored_name(name, used, len(stored))
    key = unit(core)
    ids = _distinct_ids(core, stored)
    for i, source in enumerate(dict.fromkeys((*key, *ids))):
        if source not in stored:
            stored[source] = names.hidden("id", i)
    query = select(
        [alias(column(s), n) for s, n in stored.items()], subquery(_typing(core), "core")
    )
    kinds = dict(describe(query))
    # A NULL without a type is shown but not stored: it has no other value.
    columns = tuple(
        Column(n, kinds[n], s) for s, n in stored.items() if kinds[n] != types.VOID
    )
    kind: Literal["rows", "bag"] = "rows" if has_keys(core) else "bag"
    found_by = tuple(stored[s] for s in key) if kind == "rows" else tuple(c.name for c in columns)
    shown_as = tuple(
        (name, column(stored[source]), type_)
        for (name, type_), source in zip(shown, outputs, strict=True)
    )
    return Storage(kind, core, columns, found_by, (), shown_as, None)


def _distinct_ids(core: Operator, stored: dict[str, str]) -> list[str]:
    """IDs, but of columns that are equal in every row only one; a visible one if there is."""
    equal = {
        (min(left), min(right))
        for left, right in core.dependencies()
        if len(left) == len(right) == 1
    }
    kept: list[str] = []
    for i in core.ids:
        twins = {i} | {a for a, b in equal if b == i and (i, a) in equal}
        if not twins & set(stored) and not twins & set(kept):
            kept.append(i)
    return kept


def _groups(
    core: Aggregate,
    above: list[Operator],
    outputs: tuple[str, ...],
    shown: Sequence[tuple[str, str]],
    describe: Describe,
) -> Storage:
    expressions: dict[str, exp.Expr] = {o: column(o) for o in outputs}
    conditions: list[exp.Expr] = []
    for op in above:
        if isinstance(op, Project):
            mapping = dict(op.outputs)
            expressions = {o: substitute(e, mapping) for o, e in expressions.items()}
            conditions = [substitute(c, mapping) for c in conditions]
        elif isinstance(op, Filter):
            conditions.append(op.condition)
    argument_types = _argument_types(core, describe)
    keys = {name: type_ for name, type_ in describe(_typing_keys(core))} if core.keys else {}
    if types.VOID in keys.values():
        raise Unsupported([Reason("GROUP BY NULL without a type", core.detail())])
    visible = {
        e.name: n
        for (n, _), e in zip(shown, expressions.values(), strict=True)
        if isinstance(e, exp.Column)
    }
    used = set[str]()
    stored = {
        name: _stored_name(visible.get(name, ""), used, i) for i, (name, _) in enumerate(core.keys)
    }
    sums, values = _sums(core, argument_types)
    columns = [Column(stored[k], keys[k], k) for k, _ in core.keys]
    columns.append(Column(names.COUNT, "bigint", ""))
    for s in sums:
        columns.append(Column(s.present, "bigint", ""))
        if s.total is not None:
            columns.append(Column(s.total, s.total_type, ""))
    final: dict[str, exp.Expr] = {k: column(n) for k, n in stored.items()} | values
    shown_as = tuple(
        (name, substitute(expressions[o], final), type_)
        for (name, type_), o in zip(shown, outputs, strict=True)
    )
    condition = conjunction(substitute(c, final) for c in conditions) if conditions else None
    found_by = tuple(stored.values())
    return Storage(
        "groups", core, tuple(columns), found_by, sums, shown_as, condition, core.grouped
    )


def _sums(
    core: Aggregate, argument_types: dict[str, str]
) -> tuple[tuple[Sum, ...], dict[str, exp.Expr]]:
    """State columns, and what each call is in terms of them."""
    sums: list[Sum] = []
    values: dict[str, exp.Expr] = {}
    arguments = core.arguments
    for call in core.calls:
        if call.argument is None:
            values[call.output] = column(names.COUNT)
            continue
        argument = argument_name(arguments.index(call.argument))
        type_ = argument_types[argument]
        total_type = types.total_type(call.function, type_)
        if total_type is None:
            raise Unsupported(
                [Reason(f"{call.function}() of type {type_}", call.argument.sql("spark"))]
            )
        wants_total = call.function != "count"
        index = next(
            (
                i
                for i, s in enumerate(sums)
                if s.argument == argument
                and (not wants_total or s.total is None or s.total_type == total_type)
                # Text that is no number is counted, but not added.
                and (type_ != "string" or wants_total == (s.total is not None))
            ),
            None,
        )
        if index is None:
            n = len(sums)
            sums.append(Sum(argument, type_, names.hidden("present", n), None, total_type))
            index = n
        if wants_total and sums[index].total is None:
            sums[index] = replace(
                sums[index], total=names.hidden("sum", index), total_type=total_type
            )
        state = sums[index]
        values[call.output] = _value(call.function, state)
    return tuple(sums), values


def _value(function: str, state: Sum) -> exp.Expr:
    if function == "count":
        return column(state.present)
    assert state.total is not None
    if function == "sum":
        return column(state.total)
    mean = types.mean(column(state.total), column(state.present), state.argument_type)
    some = exp.GT(this=column(state.present), expression=number(0))
    return cast(case(some, mean, exp.null()), types.mean_type(state.argument_type))


def _argument_types(core: Aggregate, describe: Describe) -> dict[str, str]:
    if not core.arguments:
        return {}
    outputs = [alias(a, argument_name(i)) for i, a in enumerate(core.arguments)]
    return dict(describe(select(outputs, subquery(_typing(core.input), "input"))))


def _typing_keys(core: Aggregate) -> exp.Query:
    return select([alias(e, n) for n, e in core.keys], subquery(_typing(core.input), "input"))


def _typing(op: Operator) -> exp.Query:
    from ivm.propagate import Pinned

    return op.state(Pinned(frozenset()), "post").query


def _stored_name(name: str, used: set[str], number_: int) -> str:
    """The user's own name where Delta allows it and it is free."""
    plain = name and not set(name) & set(" ,;{}()\n\t=.`")
    wanted = name if plain and not name.lower().startswith(names.PREFIX) else ""
    if not wanted or wanted.lower() in used:
        wanted = names.hidden("column", number_)
    used.add(wanted.lower())
    return wanted


__all__ = ["Column", "Storage", "Sum", "is_not_null", "storage_of"]
