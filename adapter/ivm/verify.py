"""Invariants of a plan, checked after every pass; the error names the pass."""

from __future__ import annotations

from ivm.operators import Project, Scan
from ivm.plan import Operator
from ivm.sql import columns_in


def verify(after: str, plan: Operator | None) -> None:
    if plan is None:
        return
    for op in plan.walk():
        problem = _problem(op)
        if problem:
            raise AssertionError(f"after pass {after}: {op.name}: {problem}")
        if after != "lower" and not set(op.ids) <= set(op.columns):
            lost = sorted(set(op.ids) - set(op.columns))
            raise AssertionError(f"after pass {after}: {op.name} lost its IDs {lost}")


def _problem(op: Operator) -> str:
    if len(set(op.columns)) != len(op.columns):
        return f"two columns of one name among {op.columns}"
    if isinstance(op, Scan):
        return ""
    below = {c for child in op.inputs for c in child.columns}
    used = op.conditional()
    if isinstance(op, Project):
        used = used.union(*(columns_in(e) for _, e in op.outputs))
    return "" if used <= below else f"columns {sorted(used - below)} do not exist below"
