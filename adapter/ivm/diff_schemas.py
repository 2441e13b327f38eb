"""Base-table i-diff schemas (idIVM section 5): which columns of a change matter, and how.

Per table one insert, one delete, one update schema for its conditional columns and one for the
others. Tuple deltas are what is propagated now; the schemas say which updates could go by ID.
"""

from __future__ import annotations

from dataclasses import dataclass

from ivm.operators import Project, Scan, UnionAll
from ivm.plan import Operator
from ivm.sql import columns_in


@dataclass(frozen=True)
class DiffSchema:
    """Columns of one tuple variable under the table's own names."""

    table: str
    occurrence: int
    key: tuple[str, ...]
    conditional: tuple[str, ...]
    non_conditional: tuple[str, ...]


def diff_schemas(plan: Operator) -> tuple[DiffSchema, ...]:
    conditional = _sources(plan)
    found = []
    for scan in (op for op in plan.walk() if isinstance(op, Scan)):
        key = scan.key
        rest = [(base, output) for base, output in scan.outputs if output not in key]
        found.append(
            DiffSchema(
                scan.table.name,
                scan.occurrence,
                tuple(base for base, output in scan.outputs if output in key),
                tuple(base for base, output in rest if output in conditional),
                tuple(base for base, output in rest if output not in conditional),
            )
        )
    return tuple(found)


def _sources(plan: Operator) -> frozenset[str]:
    """Scan columns behind every column that decides which rows exist."""
    wanted = set[str]()
    for op in plan.walk():
        wanted |= op.conditional()
    # Projections rename: walk top-down, replacing an output by the columns it is computed from.
    for op in plan.walk():
        if isinstance(op, Project):
            for name, expression in op.outputs:
                if name in wanted:
                    wanted |= columns_in(expression)
        elif isinstance(op, UnionAll):
            for columns in op.branch_columns:
                wanted |= {c for c, v in zip(columns, op.visible, strict=True) if v in wanted}
    return frozenset(wanted)
