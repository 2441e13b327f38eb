"""A query that has the columns and types of a plan: for `DESCRIBE QUERY` only, it is never run."""

from __future__ import annotations

from sqlglot import exp

from ivm import names
from ivm.operators import Aggregate, Filter, Project
from ivm.plan import Operator
from ivm.propagate import Pinned
from ivm.sql import alias, column, select, subquery


def typing(plan: Operator) -> exp.Expr:
    return plain(_typing(plan))


def _typing(plan: Operator) -> exp.Query:
    if isinstance(plan, Aggregate):
        calls = [(c.output, _call(c.function, c.argument)) for c in plan.calls]
        query = select(
            [alias(e, n) for n, e in (*plan.keys, *calls)],
            subquery(_typing(plan.input), "input"),
        )
        return query.group_by(*(e.copy() for _, e in plan.keys)) if plan.keys else query
    if isinstance(plan, Project):
        return select(
            [alias(e, n) for n, e in plan.outputs], subquery(_typing(plan.input), "input")
        )
    if isinstance(plan, Filter):
        return select([column(c) for c in plan.columns], subquery(_typing(plan.input), "input"))
    return plan.state(Pinned(frozenset()), "post").query


def _call(function: str, argument: exp.Expr | None) -> exp.Expr:
    return exp.Anonymous(
        this=function.upper(), expressions=[argument.copy() if argument else exp.Star()]
    )


def plain(query: exp.Query) -> exp.Expr:
    """A query over the tables themselves: for typing only, where the version does not matter."""

    def replace_hole(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Table) and node.db == names.POST:
            database, _, table = node.name.rpartition(".")
            return exp.table_(table, db=database or None, quoted=True)
        return node

    return query.transform(replace_hole)
